"""The data of every collective against a slow and obvious one: what is right passes, and whatever went wrong is found.

For: ringtree.measure.collective_data. Not for: the values (test_lab_exact_data.py), arms, or real ranks.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from ringtree.errors import UsageError
from ringtree.measure.collective_data import (
    SHAPES,
    CollectiveData,
    Elements,
    elements_of,
    sides_in,
    whole_size,
)
from ringtree.measure.exact_data import OPS, factor_of
from ringtree.nccl.nccl_tests import NO_OP
from ringtree.schedules import algorithms
from ringtree.stats import bus_factor

Array = np.ndarray[Any, Any]
RANKS, CALL, ROOT, SIZE = 3, 7, 1, 4800
FOLDS: dict[str, Callable[..., Any]] = {
    "prod": np.multiply,
    "max": np.maximum,
    "min": np.minimum,
    "band": np.bitwise_and,
    "bor": np.bitwise_or,
    "bxor": np.bitwise_xor,
    "land": np.logical_and,
    "lor": np.logical_or,
    "lxor": np.logical_xor,
}
REDUCING = ("all_reduce", "reduce", "reduce_scatter")
OF_ROOT_ONLY = ("reduce", "gather")
OF_BLOCKS = ("all_gather", "reduce_scatter", "gather", "scatter", "all_to_all")


def data_of(collective: str, dtype: str = "float32", op: str = "sum", root: int = ROOT) -> list[CollectiveData]:
    return [CollectiveData(collective, dtype, RANKS, rank, 5, op, root) for rank in range(RANKS)]


def sources_of(data: list[CollectiveData], dtype: str = "float32") -> list[Array]:
    """What every rank gives; 77 is what a rank that gives nothing leaves."""
    sources = [np.full(of.elements(SIZE).source, 77, dtype=dtype) for of in data]
    for of, source in zip(data, sources, strict=True):
        of.write(source, CALL)
    return sources


def results_of(collective: str, sources: list[Array], op: str = "sum", root: int = ROOT) -> list[Array]:
    """What every rank must get by NumPy: the slow and obvious reference."""
    if collective in ("all_gather", "gather"):
        return [np.concatenate(sources)] * RANKS
    if collective == "all_to_all":
        return [np.concatenate([np.split(source, RANKS)[rank] for source in sources]) for rank in range(RANKS)]
    if collective == "send_recv":
        return [sources[-1], *sources[:-1]]
    if collective == "broadcast":
        return [sources[root]] * RANKS
    if collective == "scatter":
        return np.split(sources[root], RANKS)
    scaled = [source * factor_of(op, rank) for rank, source in enumerate(sources)]
    whole = FOLDS.get(op, np.add).reduce(np.stack(scaled), axis=0).astype(sources[0].dtype)  # type: ignore[attr-defined]
    whole = whole // RANKS if op == "avg" else whole
    return np.split(whole, RANKS) if collective == "reduce_scatter" else [whole] * RANKS


def all_right(data: list[CollectiveData], results: list[Array], call: int = CALL) -> bool:
    """Both ways to look must say the same."""
    found = [of.check(result, call) is None for of, result in zip(data, results, strict=True)]
    counted = [of.count_wrong(result, call) == 0 for of, result in zip(data, results, strict=True)]
    assert found == counted
    return all(found)


@pytest.mark.parametrize("collective", SHAPES)
@pytest.mark.parametrize("dtype", ["int8", "uint64", "float16", "float32"])
@pytest.mark.parametrize("op", OPS)
def test_what_numpy_gives_is_right_and_one_element_off_is_found_and_counted(
    collective: str, dtype: str, op: str
) -> None:
    if (collective not in REDUCING and op != "sum") or (op.startswith("b") and dtype.startswith("f")):
        return  # nothing is reduced, or the dtype has no such op
    data = data_of(collective, dtype, op if collective in REDUCING else NO_OP)
    results = results_of(collective, sources_of(data, dtype), op)
    assert all_right(data, results)
    for rank, of in enumerate(data):
        due = collective not in OF_ROOT_ONLY or rank == ROOT
        for index in (0, len(results[rank]) // 2, len(results[rank]) - 1):
            wrong = results[rank].copy()
            wrong[index] += 1
            assert of.count_wrong(wrong, CALL) == int(due)
            first = of.check(wrong, CALL)
            assert (first is not None) == due
            assert first is None or (first.index, first.expected) == (index, float(results[rank][index]))
        if due:
            assert of.count_wrong(results[rank], CALL + 1) > 0, "what an earlier call left is wrong"


@pytest.mark.parametrize("collective", OF_BLOCKS)
def test_two_blocks_that_changed_places_are_found(collective: str) -> None:
    data = data_of(collective)
    results = results_of(collective, sources_of(data))
    if collective in ("reduce_scatter", "scatter"):
        results = [results[1], results[0], results[2]]
    else:
        blocks = np.split(results[ROOT], RANKS)
        results[ROOT] = np.concatenate([blocks[1], blocks[0], blocks[2]])
    assert not all_right(data, results)


@pytest.mark.parametrize("collective", REDUCING)
@pytest.mark.parametrize("rank", range(RANKS))
@pytest.mark.parametrize("times", [0, 2])
def test_a_contribution_that_was_lost_or_counted_twice_is_found(collective: str, rank: int, times: int) -> None:
    data = data_of(collective)
    sources = sources_of(data)
    sources[rank] *= times
    assert not all_right(data, results_of(collective, sources))


@pytest.mark.parametrize("collective", ["broadcast", "scatter"])
def test_what_came_from_another_root_is_found(collective: str) -> None:
    sources = [source for root in range(RANKS) for source in [sources_of(data_of(collective, root=root))[root]]]
    data = data_of(collective)
    assert all_right(data, results_of(collective, sources))
    assert not all_right(data, results_of(collective, sources, root=ROOT + 1))


@pytest.mark.parametrize("collective", ["reduce", "gather"])
def test_a_result_that_went_to_another_root_is_found(collective: str) -> None:
    data = data_of(collective)
    results = results_of(collective, sources_of(data))
    results[ROOT] = np.zeros_like(results[ROOT])
    assert not all_right(data, results)


@pytest.mark.parametrize("collective", ["all_to_all", "send_recv"])
def test_what_another_rank_should_have_is_found(collective: str) -> None:
    data = data_of(collective)
    results = results_of(collective, sources_of(data))
    assert all(data[rank].check(results[rank - 1], CALL) is not None for rank in range(RANKS))


@pytest.mark.parametrize("collective", ["broadcast", "scatter"])
def test_only_the_root_writes_where_only_the_root_gives(collective: str) -> None:
    written = [not np.all(source == 77) for source in sources_of(data_of(collective))]
    assert written == [rank == ROOT for rank in range(RANKS)]


@pytest.mark.parametrize("collective", [name for name, shape in SHAPES.items() if shape.can_be_in_place])
def test_in_place_both_sides_lie_where_the_collective_has_them(collective: str) -> None:
    data = data_of(collective)
    elements = data[0].elements(SIZE)
    wholes = [np.zeros(elements.whole, dtype=np.float32) for _ in range(RANKS)]
    sides = [sides_in(collective, whole, rank, RANKS) for rank, whole in enumerate(wholes)]
    for call in range(3):
        for of, (source, result) in zip(data, sides, strict=True):
            assert (len(source), len(result)) == (elements.source, elements.result)
            assert np.shares_memory(source, result)
            of.write(source, call)
        assert not all_right(data, [result for _, result in sides], call), "without the call the result was right"
        results = results_of(collective, [source.copy() for source, _ in sides])
        for rank, (_, result) in enumerate(sides):
            if collective not in OF_ROOT_ONLY or rank == ROOT:
                result[:] = results[rank]
        assert all_right(data, [result for _, result in sides], call)


@pytest.mark.parametrize("collective", ["all_to_all", "send_recv"])
def test_what_cannot_be_in_place_is_refused(collective: str) -> None:
    with pytest.raises(UsageError, match="cannot be in place"):
        sides_in(collective, np.zeros(6), 0, RANKS)


@pytest.mark.parametrize(
    ("collective", "size", "item", "num_ranks", "align", "expected"),
    [
        ("all_reduce", 1024, 4, 3, 16, Elements(256, 256, 256)),
        ("broadcast", 10, 4, 3, 16, Elements(2, 2, 2)),
        ("reduce", 0, 4, 3, 16, Elements(0, 0, 0)),
        ("all_gather", 1024, 4, 4, 16, Elements(64, 256, 64)),
        ("all_gather", 8, 4, 2, 1, Elements(1, 2, 1)),
        ("all_gather", 8, 4, 2, 16, Elements(0, 0, 0)),
        ("all_gather", 1000, 4, 3, 16, Elements(80, 240, 80)),
        ("all_gather", 1000, 4, 3, 1, Elements(83, 249, 83)),
        ("reduce_scatter", 1024, 8, 3, 16, Elements(126, 42, 42)),
        ("reduce_scatter", 64, 1, 3, 16, Elements(48, 16, 16)),
        ("gather", 1000, 4, 3, 16, Elements(80, 240, 80)),
        ("scatter", 1000, 4, 3, 16, Elements(240, 80, 80)),
        ("all_to_all", 1000, 4, 3, 16, Elements(240, 240, 80)),
        ("all_to_all", 16, 4, 2, 16, Elements(0, 0, 0)),
        ("send_recv", 1000, 4, 3, 16, Elements(250, 250, 250)),
    ],
)
def test_a_size_means_elements(
    collective: str, size: int, item: int, num_ranks: int, align: int, expected: Elements
) -> None:
    assert elements_of(collective, size, item, num_ranks, align) == expected


def test_a_size_is_made_whole() -> None:
    assert whole_size("all_reduce", 1024, 4, 3) == 1024
    assert whole_size("all_gather", 1024, 4, 3) == 1032
    assert whole_size("all_to_all", 1, 4, 3) == 12
    assert elements_of("all_gather", 1032, 4, 3).whole * 4 == 1032


def test_the_table_has_every_collective_of_the_engine_and_no_other_is_known() -> None:
    assert set(SHAPES) == {*algorithms.COLLECTIVES, "send_recv"}
    assert all(bus_factor(collective, 4) > 0 for collective in SHAPES)
    with pytest.raises(UsageError, match="unknown collective 'scan'; choose from: all_reduce"):
        CollectiveData("scan", "float32", 2, 0, 5)


def test_only_premul_sum_has_factors() -> None:
    assert [of.factor for of in data_of("all_reduce", op="premul_sum")] == [1, 2, 3]
    assert [of.factor for of in data_of("all_reduce")] == [1, 1, 1]
    assert [of.factor for of in data_of("send_recv", op="premul_sum")] == [1, 1, 1]


@pytest.mark.parametrize(("collective", "side"), [("all_gather", 0), ("reduce_scatter", 1)])
def test_in_place_the_block_of_a_rank_is_at_its_place(collective: str, side: int) -> None:
    """As NCCL has it: sendbuff = recvbuff + rank · count of all_gather, and the other way round of reduce_scatter."""
    whole = np.arange(2 * RANKS)
    for rank in range(RANKS):
        sides = sides_in(collective, whole, rank, RANKS)
        assert sides[side].tolist() == [2 * rank, 2 * rank + 1]
        assert sides[1 - side] is whole
