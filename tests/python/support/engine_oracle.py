"""What each rank gives in a call and what NumPy says that each must get.

For: values whose results are exact, so that == decides. Not for: arrays in memory, or the call (engine_support.py).

Exact are: whole numbers whose sums the dtype holds in any order, powers of two where numbers are multiplied, multiples
of the number of ranks where they are averaged, and anything at all for min and max, bits and truth values. Integers may
be anything: they wrap, here as there.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from engine_case import BITWISE, COMPLEX, INTEGERS, LOGICAL, UNSIGNED, Case
from numpy.typing import NDArray

Array = NDArray[np.generic]

_LOGICAL: dict[str, Callable[..., Array]] = {
    "land": np.logical_and.reduce,
    "lor": np.logical_or.reduce,
    "lxor": np.logical_xor.reduce,
}
_BITWISE: dict[str, Callable[..., Array]] = {
    "band": np.bitwise_and.reduce,
    "bor": np.bitwise_or.reduce,
    "bxor": np.bitwise_xor.reduce,
}
# How many of the values are true, so that with several ranks some results are and some are not.
_TRUE = {"land": 0.9, "lor": 0.1, "lxor": 0.5, "bxor": 0.5, "prod": 0.8, "min": 0.8, "band": 0.9}


def factor_of(case: Case, rank: int) -> float:
    """What `rank` multiplies its array by in a premul_sum; 1 for every other op."""
    if case.op != "premul_sum":
        return 1.0
    random = np.random.default_rng((case.seed, rank, 1))
    if case.dtype in INTEGERS:
        return float(random.choice([1, 2, 3] if case.dtype in UNSIGNED else [1, 2, 3, -1]))
    return float(random.choice([1, 2, 3, -1, 0.5]))


def contribution(case: Case, rank: int) -> Array:
    """What `rank` gives: input_count elements, the same for the same case."""
    random = np.random.default_rng((case.seed, rank))
    size = case.input_count(rank)
    if case.dtype == "bool":
        return random.random(size) < _TRUE.get(case.op, 0.2)
    if case.dtype in INTEGERS:
        return _integers(random, size, case)
    if case.dtype in COMPLEX:
        pairs: Array = np.stack([_floats(random, size, case) for _ in range(2)], axis=1).view("complex128")[:, 0]
        return pairs.astype(case.dtype)
    return _floats(random, size, case).astype(case.dtype)


def _integers(random: np.random.Generator, size: int, case: Case) -> Array:
    limits = np.iinfo(case.dtype)

    def anything() -> NDArray[np.integer]:
        return random.integers(limits.min, limits.max, size, dtype=case.dtype, endpoint=True)

    if case.op == "band":  # of many ranks' free choice hardly a bit would be left
        return anything() | anything() | anything()
    if case.op == "bor":
        return anything() & anything() & anything()
    return anything() * (random.random(size) < _TRUE[case.op]).astype(case.dtype) if case.op in LOGICAL else anything()


def _floats(random: np.random.Generator, size: int, case: Case) -> NDArray[np.float64]:
    if case.op == "prod":
        # Parts of a product of 8 complex factors of -1, 0 and 1 are whole numbers up to 16.
        return random.choice([-1.0, 1.0, 0.0] if case.dtype in COMPLEX else [-2.0, -1.0, -0.5, 0.5, 1.0, 2.0], size)
    if case.op == "avg":
        return case.ranks * random.integers(-31, 31, size, endpoint=True).astype("float64")
    if case.op == "premul_sum":  # of 8 ranks, times up to 3, in steps of a sixteenth: below 2048 of them
        return 0.125 * random.integers(-31, 31, size, endpoint=True).astype("float64")
    whole = random.integers(-255, 255, size, endpoint=True).astype("float64")  # 8 ranks: below float16's 2048
    if case.op in ("min", "max", *LOGICAL):
        whole[random.random(size) < 0.02] = np.nan
        whole[random.random(size) < 0.02] = np.inf
        whole[random.random(size) < 0.02] = -np.inf
    if case.op in LOGICAL:
        whole[random.random(size) >= _TRUE[case.op]] = 0.0
    if case.op in ("min", "max", *LOGICAL):
        whole[random.random(size) < 0.02] = -0.0
    return whole * 0.125


def reduced(case: Case) -> Array:
    """The inputs of all ranks combined, by NumPy."""
    parts = np.stack([contribution(case, rank) for rank in range(case.ranks)])
    if case.op in ("min", "max"):
        extreme: Array = parts.min(0) if case.op == "min" else parts.max(0)
        return extreme
    if case.op in BITWISE:
        return _BITWISE[case.op](parts, axis=0)
    if case.op in LOGICAL:  # a lone rank has nothing to fold: its values stay as they are
        return parts[0] if case.ranks == 1 else _LOGICAL[case.op](parts, axis=0).astype(case.dtype)
    if case.op == "prod":
        product: Array = parts.prod(0, dtype=case.dtype)
        return product
    if case.op == "premul_sum":
        parts = np.stack([parts[rank] * np.asarray(factor_of(case, rank), case.dtype) for rank in range(case.ranks)])
    total: Array = parts.sum(0, dtype=case.dtype)
    return _averaged(case, total) if case.op == "avg" else total


def _averaged(case: Case, total: Array) -> Array:
    if case.dtype not in INTEGERS:
        # Complex numbers part by part: NumPy multiplies them by 1 / ranks, which is rounded.
        parts_of_total = total.view(total.real.dtype)
        mean: Array = (parts_of_total / case.ranks).astype(parts_of_total.dtype).view(case.dtype)
        return mean
    quotient, rest = np.divmod(total, np.asarray(case.ranks, case.dtype))
    rounded_down = (rest != 0) & (total < 0)  # by NumPy; the engine rounds towards zero
    truncated: Array = (quotient + rounded_down).astype(case.dtype)
    return truncated


def expected(case: Case, rank: int) -> Array | None:
    """What `rank` must have in its output; None where it gets none."""
    if not case.gets(rank):
        return None
    if case.collective in ("all_gather", "gather"):
        return np.concatenate([contribution(case, other) for other in range(case.ranks)])
    if case.collective == "broadcast":
        return contribution(case, case.root)
    if case.collective == "scatter":
        return contribution(case, case.root)[case.own_block(rank)]
    if case.collective == "all_to_all":
        return np.concatenate([_block_for(case, other, rank) for other in range(case.ranks)])
    total = reduced(case)
    return total[case.own_block(rank)] if case.collective == "reduce_scatter" else total


def _block_for(case: Case, source: int, target: int) -> Array:
    lengths = case.sent(source)
    start = sum(lengths[:target])
    return contribution(case, source)[start : start + lengths[target]]
