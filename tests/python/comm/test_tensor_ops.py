"""Every op on the floats that NumPy lacks, through tensors: bfloat16, the float8 types and complex32 against PyTorch.

For: dtypes that test_engine_properties.py cannot draw. Not for: other dtypes, or how tensors are taken apart
(test_tensors.py). Values are so small that every partial result is exact in the narrowest of them (float8_e5m2: whole
numbers up to 8), so that the sums may be made in any order, here in float64. Ranks are threads.
"""

from __future__ import annotations

from typing import Any

import pytest
from engine_case import COLLECTIVES, REDUCING

import ringtree
from ringtree import Communicator

torch = pytest.importorskip("torch")
pytestmark = [pytest.mark.torch, pytest.mark.filterwarnings("ignore:ComplexHalf")]

RANKS, COUNT = 4, 1000
NARROW = ("bfloat16", "float8_e4m3fn", "float8_e5m2", "float8_e4m3fnuz", "float8_e5m2fnuz")
OPS = ("sum", "prod", "min", "max", "avg", "premul_sum", "land", "lor", "lxor")
# What a rank's values are, by op: four ranks' sums, products and averages of them are exact.
VALUES = {"prod": [1.0, -1.0, 2.0], "avg": [0.0, 4.0], "premul_sum": [0.0, 1.0, -1.0], "land": [1.0, 2.0, 2.0, 0.0]}
FACTORS = (1.0, 2.0, -1.0, 2.0)


def given(rank: int, op: str, count: int, is_complex: bool = False) -> Any:
    """float64 or complex128; of a product at most three factors are 2."""
    generator = torch.Generator().manual_seed(100 * rank + OPS.index(op))
    values = torch.tensor(VALUES.get(op, [-2.0, -1.0, 0.0, 1.0, 2.0]), dtype=torch.float64)
    if op == "prod" and (rank == 0 or is_complex):
        values = values[:2]
    drawn = values[torch.randint(len(values), (count, 1 + is_complex), generator=generator)]
    if op in ("min", "max"):
        drawn[rank :: 2 * RANKS] = float("nan")
    return torch.view_as_complex(drawn) if is_complex else drawn[:, 0]


def combined(op: str, inputs: list[Any]) -> Any:
    stacked = torch.stack(inputs)
    if op in ("land", "lor", "lxor"):
        true = (stacked != 0).sum(0)
        return {"land": true == RANKS, "lor": true > 0, "lxor": true % 2 == 1}[op].to(stacked.dtype)
    if op == "premul_sum":
        stacked = torch.stack([factor * part for factor, part in zip(FACTORS, inputs, strict=True)])
    if op in ("min", "max"):
        return stacked.amin(0) if op == "min" else stacked.amax(0)
    return stacked.prod(0) if op == "prod" else stacked.sum(0) / (RANKS if op == "avg" else 1)


def check(dtype: str, op: str, collective: str, comm: Communicator) -> None:
    is_complex, kind = dtype.startswith("complex"), getattr(torch, dtype)
    blocks = RANKS if collective == "reduce_scatter" else 1
    inputs = [given(rank, op, COUNT * blocks, is_complex) for rank in range(RANKS)]
    mine = inputs[comm.rank].to(kind)
    torch.testing.assert_close(mine.to(inputs[0].dtype), inputs[comm.rank], rtol=0, atol=0, equal_nan=True)
    how: dict[str, Any] = {"op": op, "out": torch.empty(COUNT, dtype=kind)}
    if op == "premul_sum":
        how["factor"] = FACTORS[comm.rank]
    result = getattr(comm, collective)(mine, **how)
    if collective == "reduce" and comm.rank != 0:
        return
    wanted = combined(op, inputs)
    wanted = wanted[comm.rank * COUNT : (comm.rank + 1) * COUNT] if collective == "reduce_scatter" else wanted
    torch.testing.assert_close(result.to(wanted.dtype), wanted, rtol=0, atol=0, equal_nan=True)


@pytest.mark.parametrize("dtype", NARROW)
@pytest.mark.parametrize("op", OPS)
def test_narrow_floats(dtype: str, op: str) -> None:
    def work(comm: Communicator) -> None:
        for collective in REDUCING:
            check(dtype, op, collective, comm)

    ringtree.run(work, RANKS, profile="")


@pytest.mark.parametrize("op", [op for op in OPS if op not in ("min", "max")])
def test_complex_halves(op: str) -> None:
    def work(comm: Communicator) -> None:
        for collective in REDUCING:
            check("complex32", op, collective, comm)

    ringtree.run(work, RANKS, profile="")


@pytest.mark.parametrize("dtype", NARROW)
def test_a_sum_of_two_is_rounded_as_torch_rounds_it(dtype: str) -> None:
    # Two ranks: one addition in float32, rounded once to the dtype, whatever the algorithm. Nothing overflows.
    kind = getattr(torch, dtype)
    inputs = [torch.randn(5000, generator=torch.Generator().manual_seed(rank)) * 20 for rank in range(2)]
    narrow = [values.to(kind) for values in inputs]
    wanted = (narrow[0].float() + narrow[1].float()).to(kind)

    def work(comm: Communicator) -> Any:
        return comm.all_reduce(narrow[comm.rank].clone())

    for result in ringtree.run(work, 2, profile=""):
        torch.testing.assert_close(result.float(), wanted.float(), rtol=0, atol=0, equal_nan=True)


@pytest.mark.parametrize("dtype", [*NARROW, "float8_e8m0fnu", "complex32"])
def test_every_collective_that_only_moves_moves_all_bits(dtype: str) -> None:
    kind = getattr(torch, dtype)
    item = torch.empty(0, dtype=kind).element_size()

    def bits(owner: int, count: int) -> Any:
        generator = torch.Generator().manual_seed(owner)
        return torch.randint(256, (count * item,), generator=generator, dtype=torch.uint8).view(kind)

    def work(comm: Communicator) -> None:
        own, whole = bits(comm.rank, 100), bits(comm.rank, 100 * RANKS)
        every = torch.cat([bits(rank, 100).view(torch.uint8) for rank in range(RANKS)])
        got = {
            "all_gather": (comm.all_gather(own, torch.empty(100 * RANKS, dtype=kind)), every),
            "gather": (comm.gather(own, torch.empty(100 * RANKS, dtype=kind), root=2), every),
            "broadcast": (comm.broadcast(own.clone(), root=1), bits(1, 100).view(torch.uint8)),
            "scatter": (comm.scatter(whole, torch.empty(100, dtype=kind), root=3), None),
            "all_to_all": (comm.all_to_all(whole, torch.empty(100 * RANKS, dtype=kind)), None),
        }
        parts = [bits(rank, 100 * RANKS).view(torch.uint8).chunk(RANKS)[comm.rank] for rank in range(RANKS)]
        got["scatter"] = (got["scatter"][0], parts[3])
        got["all_to_all"] = (got["all_to_all"][0], torch.cat(parts))
        assert set(got) | set(REDUCING) == set(COLLECTIVES)
        for collective, (found, wanted) in got.items():
            if collective != "gather" or comm.rank == 2:
                assert torch.equal(found.view(torch.uint8), wanted), collective

    ringtree.run(work, RANKS, profile="")
