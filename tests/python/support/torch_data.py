"""Data of ranks of torch.distributed: whole numbers that are a function of the rank, so small that every sum is exact.

For: the cases of test_torch_backend.py. Not for: the calls (torch_cases.py, torch_cases_of_groups.py).
"""

from __future__ import annotations

import functools
from collections.abc import Callable

import torch

FLOATS = [torch.float32, torch.float64, torch.float16, torch.bfloat16]
INTEGERS = [torch.uint8, torch.int8, torch.int16, torch.int32, torch.int64, torch.uint16, torch.uint32, torch.uint64]
FLOAT8 = [torch.float8_e4m3fn, torch.float8_e5m2]
COMPLEX = [torch.complex64, torch.complex128]
ALL = [*FLOATS, *INTEGERS, *FLOAT8, *COMPLEX, torch.bool]


def numbers(rank: int, count: int, dtype: torch.dtype = torch.float32, most: int = 5) -> torch.Tensor:
    """`count` whole numbers from 0 to `most` - 1 that differ from rank to rank."""
    found = (torch.arange(count, dtype=torch.int64) * (rank + 3) + rank) % most
    return found.to(dtype)


def equal(got: torch.Tensor, expected: torch.Tensor) -> None:
    assert got.dtype == expected.dtype, (got.dtype, expected.dtype)
    assert got.shape == expected.shape, (got.shape, expected.shape)
    same = got.contiguous().view(torch.uint8) if got.dtype in FLOAT8 else got
    other = expected.contiguous().view(torch.uint8) if expected.dtype in FLOAT8 else expected
    assert torch.equal(same.cpu(), other), (got.flatten()[:8], expected.flatten()[:8])


def fold(function: Callable[[object, object], object], size: int, count: int, dtype: torch.dtype) -> torch.Tensor:
    """The inputs of all ranks, folded as whole numbers (complex: as they are)."""
    wide = torch.complex128 if dtype.is_complex else torch.int64
    return functools.reduce(function, [numbers(r, count, wide) for r in range(size)]).to(dtype)  # type: ignore[arg-type]
