"""Whole numbers as the bits of floats that NumPy lacks: against tables by hand and, where it is there, PyTorch.

For: ringtree.lab.narrow_floats, and exact data of these dtypes. Not for: the engine's sums of them
(test_tensor_ops.py).
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from ringtree.lab.narrow_floats import NARROW_FLOATS

from ringtree.errors import UsageError
from ringtree.lab.exact_data import ExactData, check_exact, storage_of

BY_HAND = {
    "bfloat16": {0: 0, 1: 0x3F80, -1: 0xBF80, 2: 0x4000, 3: 0x4040, 255: 0x437F, 256: 0x4380, -256: 0xC380},
    "float8_e4m3fn": {0: 0, 1: 0x38, -1: 0xB8, 2: 0x40, 3: 0x44, 7: 0x4E, 15: 0x57, 16: 0x58, -16: 0xD8},
    "float8_e5m2": {0: 0, 1: 0x3C, -1: 0xBC, 2: 0x40, 3: 0x42, 7: 0x47, 8: 0x48, -8: 0xC8},
}


@pytest.mark.parametrize("dtype", NARROW_FLOATS)
def test_bits_by_hand(dtype: str) -> None:
    values = np.array(list(BY_HAND[dtype]))
    bits = NARROW_FLOATS[dtype].encode(values)
    assert bits.tolist() == list(BY_HAND[dtype].values())
    assert bits.dtype == storage_of(dtype) == ("uint16" if dtype == "bfloat16" else "uint8")


@pytest.mark.torch
@pytest.mark.parametrize("dtype", NARROW_FLOATS)
def test_every_number_up_to_the_limit_is_what_torch_makes_of_it(dtype: str) -> None:
    torch = pytest.importorskip("torch")
    limit = NARROW_FLOATS[dtype].exact_limit
    values = np.arange(-limit, limit + 1)
    tensor = torch.from_numpy(NARROW_FLOATS[dtype].encode(values)).view(getattr(torch, dtype))
    assert tensor.to(torch.float64).tolist() == values.tolist()
    beyond = torch.tensor(float(limit + 1), dtype=torch.float64).to(getattr(torch, dtype))
    assert beyond.to(torch.float64) != limit + 1, "or the limit is too low"


@pytest.mark.parametrize("op", ["sum", "prod", "min", "max", "premul_sum", "lor"])
@pytest.mark.parametrize("dtype", NARROW_FLOATS)
def test_what_is_written_and_what_is_due_are_bits_of_the_dtype(dtype: str, op: str) -> None:
    ranks = 2
    data = [ExactData(dtype, ranks, rank, seed=3, op=op) for rank in range(ranks)]
    written = [np.zeros(5000, storage_of(dtype)) for _ in range(ranks)]
    for of_rank, buffer in zip(data, written, strict=True):
        of_rank.write(buffer, 1)
    numbers = {int(bits): value for value, bits in _all_numbers(dtype)}
    values = [np.array([numbers[int(bits)] for bits in buffer]) for buffer in written]
    scaled = [of_rank.factor * value for of_rank, value in zip(data, values, strict=True)]
    combine: dict[str, Any] = {"prod": np.multiply, "min": np.minimum, "max": np.maximum, "lor": np.logical_or}
    result = NARROW_FLOATS[dtype].encode(combine.get(op, np.add)(*scaled).astype(np.int64))
    assert data[0].count_wrong(result, 1) == 0
    result[17] ^= 1
    assert data[1].count_wrong(result, 1) == 1


def _all_numbers(dtype: str) -> list[tuple[int, int]]:
    values = np.arange(-NARROW_FLOATS[dtype].exact_limit, NARROW_FLOATS[dtype].exact_limit + 1)
    return list(zip(values.tolist(), NARROW_FLOATS[dtype].encode(values).tolist(), strict=True))


def test_more_ranks_than_fit_and_ops_that_are_none_are_refused() -> None:
    check_exact("float8_e5m2", 8)
    with pytest.raises(UsageError, match="9 ranks are too many for exact sums in float8_e5m2"):
        check_exact("float8_e5m2", 9)
    with pytest.raises(UsageError, match="too many for exact averages"):
        check_exact("float8_e5m2", 3, "avg")
    with pytest.raises(UsageError, match="bxor is not defined for bfloat16"):
        check_exact("bfloat16", 2, "bxor")
