"""The collectives of blocks from Python: gather, scatter, all_to_all, and uneven blocks of all that have any.

For: what each rank gives and gets, what it may leave out, in place, and one clear error for each wrong size. Not for:
algorithms, dtypes and sizes at random (test_engine_properties.py). Ranks are threads.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from transfer_support import assert_both_say

import ringtree
from ringtree import Communicator

RANKS = 3
COUNTS = [2, 0, 5]  # of uneven blocks


def block(owner: int, length: int, other: int = 0) -> np.ndarray[Any, Any]:
    """A block that tells whose it is: no two differ in nothing."""
    return 100 * owner + 10 * other + np.arange(length, dtype="int64")


def all_blocks(lengths: list[int]) -> np.ndarray[Any, Any]:
    return np.concatenate([block(owner, length) for owner, length in enumerate(lengths)])


def check_equal(found: np.ndarray[Any, Any], wanted: np.ndarray[Any, Any]) -> None:
    np.testing.assert_array_equal(found, wanted, strict=True)


@pytest.mark.parametrize("counts", [None, COUNTS])
@pytest.mark.parametrize("root", range(RANKS))
def test_gather_and_scatter_are_each_others_inverse(root: int, counts: list[int] | None) -> None:
    lengths = counts or [4] * RANKS

    def work(comm: Communicator) -> None:
        own = block(comm.rank, lengths[comm.rank])
        whole = np.zeros(sum(lengths), "int64") if comm.rank == root else None
        assert comm.gather(own, whole, root=root, counts=counts) is whole
        if whole is not None:
            check_equal(whole, all_blocks(lengths))
        back = np.zeros_like(own)
        assert comm.scatter(whole, back, root=root, counts=counts) is back
        check_equal(back, own)

    ringtree.run(work, RANKS)


@pytest.mark.parametrize("counts", [None, COUNTS])
def test_in_place_a_block_lies_where_it_belongs(counts: list[int] | None) -> None:
    lengths = counts or [4] * RANKS

    def work(comm: Communicator) -> None:
        start = sum(lengths[: comm.rank])
        own = slice(start, start + lengths[comm.rank])
        whole = np.full(sum(lengths), -1, "int64")
        whole[own] = block(comm.rank, lengths[comm.rank])
        comm.gather(whole[own], whole, root=1, counts=counts)
        if comm.rank == 1:
            check_equal(whole, all_blocks(lengths))
            whole *= 2
        comm.scatter(whole, whole[own], root=1, counts=counts)
        check_equal(whole[own], 2 * block(comm.rank, lengths[comm.rank]))
        if comm.rank != 1:
            assert (np.delete(whole, own) == -1).all(), "what belongs to others is not touched"

        comm.all_gather(whole[own], whole, counts=counts)
        check_equal(whole, 2 * all_blocks(lengths))
        comm.reduce_scatter(whole, whole[own], counts=counts)
        check_equal(whole[own], 2 * RANKS * block(comm.rank, lengths[comm.rank]))

    ringtree.run(work, RANKS)


@pytest.mark.parametrize("uneven", [False, True])
def test_all_to_all_transposes_blocks(uneven: bool) -> None:
    def length(source: int, target: int) -> int:
        return (2 * source + 3 * target) % 5 if uneven else 4

    def work(comm: Communicator) -> None:
        me, everybody = comm.rank, range(RANKS)
        given = np.concatenate([block(me, length(me, target), target) for target in everybody])
        wanted = np.concatenate([block(source, length(source, me), me) for source in everybody])
        taken = np.zeros_like(wanted)
        counts: dict[str, Any] = {}
        if uneven:
            counts["send_counts"] = [length(me, target) for target in everybody]
            counts["recv_counts"] = [length(source, me) for source in everybody]
        assert comm.all_to_all(given, taken, **counts) is taken
        check_equal(taken, wanted)

    ringtree.run(work, RANKS)


@pytest.mark.parametrize("op", ["sum", "max"])
def test_uneven_blocks_of_a_reduce_scatter(op: str) -> None:
    def work(comm: Communicator) -> None:
        whole = all_blocks(COUNTS) * (comm.rank + 1)
        own = comm.reduce_scatter(whole, np.zeros(COUNTS[comm.rank], "int64"), op=op, counts=COUNTS)
        factor = sum(range(RANKS + 1)) if op == "sum" else RANKS
        check_equal(own, factor * block(comm.rank, COUNTS[comm.rank]))

    ringtree.run(work, RANKS)


def test_equal_counts_and_none_are_the_same_blocks() -> None:
    def work(comm: Communicator) -> None:
        own = block(comm.rank, 4)
        plain = comm.all_gather(own, np.zeros(4 * RANKS, "int64"))
        check_equal(comm.all_gather(own, np.zeros(4 * RANKS, "int64"), counts=[4] * RANKS), plain)

    ringtree.run(work, RANKS)


def test_no_elements_at_all_is_a_call_like_any_other() -> None:
    def work(comm: Communicator) -> int:
        nothing = np.zeros(0, "float32")
        comm.gather(nothing, nothing)
        comm.scatter(nothing, nothing)
        comm.all_to_all(nothing, np.zeros(0, "float32"))
        comm.all_gather(nothing, nothing, counts=[0] * RANKS)
        return int(comm.last_call()["sequence"])

    assert ringtree.run(work, RANKS) == [4] * RANKS


def test_arrays_of_several_dimensions_count_by_their_elements() -> None:
    def work(comm: Communicator) -> None:
        given = np.full((RANKS, 2, 5), comm.rank, "float32")
        taken = comm.all_to_all(given, np.zeros((RANKS, 10), "float32"))
        check_equal(taken, np.repeat(np.arange(RANKS, dtype="float32"), 10).reshape(RANKS, 10))

    ringtree.run(work, RANKS)


def ints(count: int) -> np.ndarray[Any, Any]:
    return np.zeros(count, "int64")


# Each is what a rank of two does wrong; what is said to it.
MISTAKES: list[tuple[str, Callable[[Communicator], Any], str]] = [
    ("gather without room", lambda comm: comm.gather(ints(3), None, root=comm.rank), "needs an output on this rank"),
    (
        "gather into too little",
        lambda comm: comm.gather(ints(3), ints(5), root=comm.rank),
        "output has 5 elements, not 6",
    ),
    ("scatter of nothing", lambda comm: comm.scatter(None, ints(3), root=comm.rank), "needs an input on this rank"),
    (
        "scatter of unequal parts",
        lambda comm: comm.scatter(ints(5), ints(2), root=comm.rank),
        "5 elements cannot be cut",
    ),
    (
        "scatter into too much",
        lambda comm: comm.scatter(ints(6), ints(4), root=comm.rank),
        "output has 4 elements, not 3",
    ),
    ("all_to_all of a part", lambda comm: comm.all_to_all(ints(5), ints(5)), "5 elements cannot be cut into 2"),
    ("all_to_all to less", lambda comm: comm.all_to_all(ints(6), ints(4)), "output has 4 elements, not 6"),
    ("no such root", lambda comm: comm.gather(ints(1), ints(2), root=2), "root 2 is not a rank of a world of 2"),
    ("a negative root", lambda comm: comm.scatter(ints(2), ints(1), root=-1), "root -1 is not a rank of a world of 2"),
    (
        "too few counts",
        lambda comm: comm.all_gather(ints(1), ints(1), counts=[1]),
        "all_gather of 2 ranks takes 2 counts, not 1",
    ),
    (
        "too many counts",
        lambda comm: comm.reduce_scatter(ints(3), ints(1), counts=[1, 1, 1]),
        "reduce_scatter of 2 ranks takes 2 counts, not 3",
    ),
    (
        "another own block than the counts say",
        lambda comm: comm.all_gather(ints(2), ints(4), counts=[3, 3]),
        "the input has 2 elements, not 3",
    ),
    (
        "a whole that is not the sum of the counts",
        lambda comm: comm.all_gather(ints(3), ints(7), counts=[3, 3]),
        "the output has 7 elements, not 6",
    ),
    (
        "a negative count",
        lambda comm: comm.all_gather(ints(1), ints(0), counts=[1, -1]),
        "counts must be non-negative integers",
    ),
    (
        "a count that is not a number",
        lambda comm: comm.all_gather(ints(1), ints(2), counts=[1, 0.5]),  # type: ignore[list-item]
        "counts must be non-negative integers",
    ),
    (
        "counts of the receiving side only",
        lambda comm: comm.all_to_all(ints(2), ints(2), recv_counts=[1, 1]),
        "send_counts and recv_counts",
    ),
    (
        "counts of the sending side only",
        lambda comm: comm.all_to_all(ints(2), ints(2), send_counts=[1, 1]),
        "send_counts and recv_counts",
    ),
    (
        "another block for itself than from itself",
        lambda comm: comm.all_to_all(
            ints(2), ints(2), send_counts=[1, 1], recv_counts=[0, 2] if comm.rank == 0 else [2, 0]
        ),
        "this rank sends 1 elements to itself but wants 0",
    ),
    (
        "two dtypes",
        lambda comm: comm.gather(ints(1), np.zeros(2), root=comm.rank),
        "the input is int64 but the output is",
    ),
]


@pytest.mark.parametrize(("mistake", "said"), [each[1:] for each in MISTAKES], ids=[each[0] for each in MISTAKES])
def test_a_wrong_size_is_one_clear_error_and_harms_nobody(mistake: Callable[[Communicator], Any], said: str) -> None:
    def work(comm: Communicator) -> str:
        with pytest.raises(ringtree.UsageError) as caught:
            mistake(comm)
        assert comm.all_reduce(np.ones(3))[0] == 2
        return str(caught.value)

    assert_both_say(said, work)


def test_all_to_all_in_place_is_refused() -> None:
    def work(comm: Communicator) -> None:
        data = ints(12)
        for given, taken in [(data, data), (data[:6], data[3:9])]:
            with pytest.raises(ringtree.UsageError, match="all_to_all cannot be in place"):
                comm.all_to_all(given, taken)

    ringtree.run(work, RANKS)


def test_a_block_at_another_ones_place_is_refused() -> None:
    def work(comm: Communicator) -> None:
        whole = ints(4)
        wrong = slice(2, 4) if comm.rank == 0 else slice(0, 2)
        with pytest.raises(ringtree.UsageError, match="overlap but are not in place"):
            comm.all_gather(whole[wrong], whole)

    ringtree.run(work, 2)


def test_counts_that_differ_between_ranks_are_a_mismatch_that_shows_both() -> None:
    def work(comm: Communicator) -> str:
        counts = [3, 1] if comm.rank == 0 else [2, 2]

        def in_this_call_or_the_next() -> None:
            comm.all_gather(np.zeros(counts[comm.rank]), np.zeros(4), counts=counts, timeout=20)
            comm.barrier(timeout=20)

        with pytest.raises(ringtree.MismatchError) as caught:
            in_this_call_or_the_next()
        return str(caught.value)

    for text in ringtree.run(work, 2):
        assert text.count("all_gather(count=4 in uneven blocks #") == 2
        assert "rank 0 (pid" in text
        assert "rank 1 (pid" in text
