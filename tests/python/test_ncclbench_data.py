"""What ranks give and must get: right results pass, a single wrong element is counted.

For: ringtree.ncclbench.rank_data. Not for: the values (test_lab_exact_data.py), or arms.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from ncclbench_support import options_of

import ringtree
from ringtree.lab.exact_data import factor_of
from ringtree.ncclbench.names import COLLECTIVES, DTYPES, OPS, REDUCING, item_bytes
from ringtree.ncclbench.rank_data import RankData
from ringtree.ncclbench.rows import Combination, elements_of

RANKS, CALL = 3, 7
REFERENCE = {"prod": np.multiply.reduce, "max": np.max, "min": np.min}
BLOCKS_MOVED = ("all_gather", "reduce_scatter", "gather", "scatter", "alltoall")


def results_of(collective: str, dtype: str, op: str, root: int) -> tuple[list[Any], list[Any]]:
    """(what each rank's data says of it, what each rank must get by NumPy), from sources that the data wrote."""
    options = options_of(collective=collective, datatype=dtype, op=op, root=str(root), ngpus=RANKS)
    combination = Combination(dtype, options.ops[0], root)
    elements = elements_of(collective, 4800, item_bytes(dtype), RANKS)
    data = [RankData(options, combination, rank) for rank in range(RANKS)]
    sources = [np.full(elements.source, 77, dtype=DTYPES[dtype]) for _ in range(RANKS)]
    for of, source in zip(data, sources, strict=True):
        of.write(source, CALL)
    return data, [result.astype(DTYPES[dtype]) for result in moved_or_reduced(collective, op, root, sources)]


def moved_or_reduced(collective: str, op: str, root: int, sources: list[Any]) -> list[Any]:
    if collective in ("all_gather", "gather"):
        return [np.concatenate(sources)] * RANKS
    if collective == "alltoall":
        return [np.concatenate([np.split(source, RANKS)[rank] for source in sources]) for rank in range(RANKS)]
    if collective == "sendrecv":
        return [sources[-1], *sources[:-1]]
    if collective == "broadcast":
        return [sources[root]] * RANKS
    if collective == "scatter":
        return np.split(sources[root], RANKS)
    factors = [factor_of("premul_sum", rank) if op == "mulsum" else 1 for rank in range(RANKS)]
    scaled = [source * factor for source, factor in zip(sources, factors, strict=True)]
    whole = REFERENCE.get(op, np.add.reduce)(np.stack(scaled), axis=0).astype(sources[0].dtype)
    whole = whole // RANKS if op == "avg" else whole
    return np.split(whole, RANKS) if collective == "reduce_scatter" else [whole] * RANKS


@pytest.mark.parametrize("collective", COLLECTIVES)
@pytest.mark.parametrize("dtype", ["int8", "uint64", "half", "float"])
@pytest.mark.parametrize("op", OPS)
def test_what_numpy_gives_is_right_and_what_is_off_by_one_is_counted(collective: str, dtype: str, op: str) -> None:
    if collective not in REDUCING and op != "sum":
        return  # nothing is reduced
    data, results = results_of(collective, dtype, op, root=1)
    for rank in range(RANKS):
        assert data[rank].count_wrong(results[rank], CALL) == 0
        due = collective not in ("reduce", "gather") or rank == 1
        for index in (0, len(results[rank]) - 1):
            wrong = results[rank].copy()
            wrong[index] += 1
            assert data[rank].count_wrong(wrong, CALL) == int(due)
        if due:
            assert data[rank].count_wrong(results[rank], CALL + 1) > 0, "what an earlier call left is wrong"


@pytest.mark.parametrize("collective", BLOCKS_MOVED)
def test_blocks_in_wrong_places_are_found(collective: str) -> None:
    data, results = results_of(collective, "float", "sum", root=0)
    if collective in ("reduce_scatter", "scatter"):
        assert data[0].count_wrong(results[1], CALL) > 0
    else:
        assert data[0].count_wrong(np.roll(results[0], len(results[0]) // RANKS), CALL) > 0


def test_what_comes_from_another_rank_is_found() -> None:
    for collective in ("alltoall", "sendrecv"):
        data, results = results_of(collective, "float", "sum", root=0)
        assert all(data[rank].count_wrong(results[rank - 1], CALL) > 0 for rank in range(RANKS))


@pytest.mark.parametrize("collective", ["broadcast", "scatter"])
def test_only_the_root_writes_where_only_the_root_gives(collective: str) -> None:
    options = options_of(collective=collective, root="1")
    buffer = np.full(100, 77, dtype=np.float32)
    RankData(options, Combination("float", "none", 1), 0).write(buffer, CALL)
    assert np.all(buffer == 77)
    RankData(options, Combination("float", "none", 1), 1).write(buffer, CALL)
    assert not np.all(buffer == 77)


def test_a_broadcast_out_of_place_leaves_every_source_alone() -> None:
    def body(comm: ringtree.Communicator) -> tuple[Any, Any]:
        source = np.full(1000, comm.rank + 1, dtype=np.int32)
        result = np.zeros_like(source)
        assert comm.broadcast(source, root=1, out=result) is result
        return source, result

    for rank, (source, result) in enumerate(ringtree.run(body, RANKS, profile="")):
        assert np.all(source == rank + 1)
        assert np.all(result == 2)
