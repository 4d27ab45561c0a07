"""init(deterministic=True) from Python: the same bits however a call is run, on floats whose sums show their order.

For: bits. Not for: right results (test_engine_properties.py makes a part of its communicators deterministic), or other
sizes and sanitizers (tests/core/engine/test_deterministic.cpp). Ranks are threads.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import ringtree
from ringtree import Communicator
from ringtree.comm.rank_threads import on_threads

RANKS, COUNT = 4, 12_000  # a multiple of the ranks: blocks of the vector are those of its pieces


def wild(rank: int, count: int = COUNT, dtype: str = "float32") -> np.ndarray[Any, Any]:
    """Floats of all magnitudes, so that sums in another order have other bits."""
    random = np.random.default_rng(rank)
    return np.ldexp(random.standard_normal(count), random.integers(-12, 12, count)).astype(dtype)


def results_of(algorithms: list[str], **options: Any) -> set[bytes]:
    """What rank 0 has after an all_reduce by each algorithm with each protocol, some slices, and in two halves."""

    def work(comm: Communicator) -> list[bytes]:
        results = []
        for algorithm in algorithms:
            for protocol in ringtree.protocols():
                for slice_bytes in (0, 1000):
                    how: dict[str, Any] = {"algorithm": algorithm, "protocol": protocol, "slice_bytes": slice_bytes}
                    results.append(comm.all_reduce(wild(comm.rank), **how).tobytes())
        halves = [comm.all_reduce(half.copy(), algorithm=algorithms[0]) for half in np.split(wild(comm.rank), 2)]
        return [*results, np.concatenate(halves).tobytes()]

    by_rank = ringtree.run(work, RANKS, profile="", **options)
    assert all(results == by_rank[0] for results in by_rank), "all ranks have the same bits, come what may"
    return set(by_rank[0])


def test_the_bits_depend_on_the_inputs_alone() -> None:
    ways = ["auto", "one_shot", "two_shot"]
    bits = [results_of(ways, deterministic=True, channels=channels) for channels in (1, 3)]
    assert len(bits[0] | bits[1]) == 1
    assert len(results_of(["ring", "tree"])) > 1, "or this test compares nothing"


def test_reduce_scatter_and_reduce_give_the_same_bits_as_all_reduce() -> None:
    def work(comm: Communicator) -> None:
        given = wild(comm.rank)
        total = comm.all_reduce(given, out=np.empty_like(given))
        own = comm.reduce_scatter(given, np.empty(COUNT // RANKS, "float32"))
        assert own.tobytes() == np.split(total, RANKS)[comm.rank].tobytes()
        for root in range(RANKS):
            at_root = comm.reduce(given, root=root, out=np.empty_like(given))
            assert comm.rank != root or at_root.tobytes() == total.tobytes()

    ringtree.run(work, RANKS, profile="", deterministic=True)


@pytest.mark.parametrize("dtype", ["float16", "float32", "float64", "complex64"])
@pytest.mark.parametrize("algorithm", ["ring", "tree", "recursive_doubling"])
def test_what_folds_in_another_order_is_refused_by_name(algorithm: str, dtype: str) -> None:
    def work(comm: Communicator) -> None:
        with pytest.raises(ringtree.UsageError, match=f"{algorithm} does not fold all ranks in one go in rank order"):
            comm.all_reduce(wild(comm.rank, 100, dtype), algorithm=algorithm)
        comm.all_reduce(wild(comm.rank, 100, dtype))

    ringtree.run(work, RANKS, profile="", deterministic=True)


def test_where_no_order_shows_any_algorithm_runs() -> None:
    def work(comm: Communicator) -> None:
        assert (comm.all_reduce(np.ones(100, "int32"), algorithm="ring") == RANKS).all()
        assert (comm.all_reduce(np.ones(100), op="lxor", algorithm="ring") == RANKS % 2).all()
        comm.broadcast(wild(0), algorithm="tree")
        comm.all_gather(wild(comm.rank, 10), np.empty(10 * RANKS, "float32"), algorithm="ring")

    ringtree.run(work, RANKS, profile="", deterministic=True)


def test_ranks_must_agree_on_it() -> None:
    store = ringtree.ThreadStore()

    def one(rank: int) -> None:
        ringtree.init(rank, 2, store, deterministic=rank == 0, timeout=20).close()

    with pytest.raises(ringtree.MismatchError, match="deterministic"):
        on_threads(one, 2)
