"""What ranks give and must get: right results pass, a single wrong element is counted.

For: ringtree.ncclbench.rank_data. Not for: the values (test_lab_exact_data.py), or arms.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from ncclbench_support import options_of

import ringtree
from ringtree.ncclbench.names import COLLECTIVES, DTYPES
from ringtree.ncclbench.rank_data import RankData
from ringtree.ncclbench.rows import Combination, elements_of

RANKS, CALL = 3, 7
REFERENCE = {"sum": np.add.reduce, "prod": np.multiply.reduce, "max": np.max, "min": np.min, "avg": np.add.reduce}


def results_of(collective: str, dtype: str, op: str, root: int) -> tuple[list[Any], list[Any]]:
    """(what each rank's data says of it, what each rank must get by NumPy), from sources that the data wrote."""
    options = options_of(collective=collective, datatype=dtype, op=op, root=str(root), ngpus=RANKS)
    combination = Combination(dtype, options.ops[0], root)
    elements = elements_of(collective, 4800, np.dtype(DTYPES[dtype]).itemsize, RANKS)
    data = [RankData(options, combination, rank) for rank in range(RANKS)]
    sources = [np.full(elements.source, 77, dtype=DTYPES[dtype]) for _ in range(RANKS)]
    for of, source in zip(data, sources, strict=True):
        of.write(source, CALL)
    if collective == "all_gather":
        whole: Any = np.concatenate(sources)
    elif collective == "broadcast":
        whole = sources[root].copy()
    else:
        whole = REFERENCE[op](np.stack(sources), axis=0).astype(DTYPES[dtype])
        whole = whole // RANKS if op == "avg" else whole
    results = np.split(whole, RANKS) if collective == "reduce_scatter" else [whole.copy() for _ in range(RANKS)]
    return data, [result.astype(DTYPES[dtype]) for result in results]


@pytest.mark.parametrize("collective", COLLECTIVES)
@pytest.mark.parametrize("dtype", ["int8", "half", "float", "double"])
@pytest.mark.parametrize("op", ["sum", "prod", "max", "min", "avg"])
def test_what_numpy_gives_is_right_and_what_is_off_by_one_is_counted(collective: str, dtype: str, op: str) -> None:
    data, results = results_of(collective, dtype, op, root=1)
    for rank in range(RANKS):
        assert data[rank].count_wrong(results[rank], CALL) == 0
        due = collective != "reduce" or rank == 1
        for index in (0, len(results[rank]) - 1):
            wrong = results[rank].copy()
            wrong[index] += 1
            assert data[rank].count_wrong(wrong, CALL) == int(due)
        if due:
            assert data[rank].count_wrong(results[rank], CALL + 1) > 0, "what an earlier call left is wrong"


@pytest.mark.parametrize("collective", ["all_gather", "reduce_scatter"])
def test_blocks_in_wrong_places_are_found(collective: str) -> None:
    data, results = results_of(collective, "float", "sum", root=0)
    moved = np.roll(results[0], len(results[0]) // RANKS) if collective == "all_gather" else results[1]
    assert data[0].count_wrong(moved, CALL) > 0


def test_only_the_root_of_a_broadcast_writes() -> None:
    options = options_of(collective="broadcast", root="1")
    buffer = np.full(100, 77, dtype=np.float32)
    RankData(options, Combination("float", "none", 1), 0).write(buffer, CALL)
    assert np.all(buffer == 77)


def test_a_broadcast_out_of_place_leaves_every_source_alone() -> None:
    def body(comm: ringtree.Communicator) -> tuple[Any, Any]:
        source = np.full(1000, comm.rank + 1, dtype=np.int32)
        result = np.zeros_like(source)
        assert comm.broadcast(source, root=1, out=result) is result
        return source, result

    for rank, (source, result) in enumerate(ringtree.run(body, RANKS, profile="")):
        assert np.all(source == rank + 1)
        assert np.all(result == 2)
