"""The communicator from Python: arrays in, right sums out, and mistakes named. Ranks are threads; what needs processes
is tested in C++ (tests/core/engine) and through the lab."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from absent_rank import told_beside_an_absent_rank

import ringtree
from ringtree import Communicator

RANKS = 3
NUMPY_DTYPES = ["int8", "uint8", "int16", "uint16", "int32", "uint32", "int64", "uint64"]
NUMPY_DTYPES += ["float16", "float32", "float64", "complex64", "complex128"]


def contribution(rank: int, count: int, dtype: str) -> np.ndarray[Any, Any]:
    return ((np.arange(count) * (rank + 2) + rank) % 5 + 1).astype(dtype)


def expected(op: str, count: int, dtype: str) -> np.ndarray[Any, Any]:
    parts = np.stack([contribution(rank, count, dtype) for rank in range(RANKS)])
    if op in ("min", "max"):
        return parts.min(0) if op == "min" else parts.max(0)
    return parts.sum(0, dtype=dtype) if op == "sum" else parts.prod(0, dtype=dtype)


@pytest.mark.parametrize("dtype", NUMPY_DTYPES)
@pytest.mark.parametrize("op", ["sum", "prod", "min", "max"])
def test_all_reduce_of_every_numpy_dtype(dtype: str, op: str) -> None:
    def work(comm: Communicator) -> np.ndarray[Any, Any]:
        return comm.all_reduce(contribution(comm.rank, 1003, dtype), op=op)

    if dtype.startswith("complex") and op in ("min", "max"):
        with pytest.raises(ringtree.UsageError, match=f"{op} is not defined for {dtype}"):
            ringtree.run(work, RANKS)
        return
    for result in ringtree.run(work, RANKS):
        assert (result == expected(op, 1003, dtype)).all()


def test_a_mix_and_its_json_run_together() -> None:
    """Both cut slices alike, which the mix's shares decide: what is wrong with that shows from some slices on."""
    made = ringtree.schedule("all_reduce", "tree:4", ranks=4)
    read = ringtree.from_json(ringtree.to_json(made))

    def work(comm: Communicator) -> np.ndarray[Any, Any]:
        given = np.full(16_384, comm.rank + 1, np.float32)
        return comm.all_reduce(given, algorithm=made if comm.rank == 0 else read)

    for result in ringtree.run(work, 4, timeout=60):
        assert (result == 10).all()


@pytest.mark.parametrize("channels", [1, 2])
def test_a_mix_of_algorithms(channels: int) -> None:
    def work(comm: Communicator) -> tuple[np.ndarray[Any, Any], str]:
        for count in (1, 5, 70_000):  # less than the shares, and several slices
            result = comm.all_reduce(contribution(comm.rank, count, "int64"), algorithm="ring:3+double_tree")
        return result, comm.last_call()["algorithm"]

    for result, algorithm in ringtree.run(work, RANKS, channels=channels):
        assert (result == expected("sum", 70_000, "int64")).all()
        assert algorithm == "ring:3+double_tree"


def test_every_collective() -> None:
    count = 17

    def work(comm: Communicator) -> None:
        own = contribution(comm.rank, count, "int64")
        blocks = np.concatenate([contribution(comm.rank, count, "int64") + block for block in range(RANKS)])
        total = expected("sum", count, "int64")

        out = comm.reduce_scatter(blocks, np.empty(count, "int64"))
        assert (out == total + RANKS * comm.rank).all()
        gathered = comm.all_gather(own, np.empty(RANKS * count, "int64"))
        assert (gathered == np.concatenate([contribution(rank, count, "int64") for rank in range(RANKS)])).all()
        for root in range(RANKS):
            assert (comm.broadcast(own.copy(), root=root) == contribution(root, count, "int64")).all()
            reduced = comm.reduce(own.copy(), root=root)
            assert (reduced == (total if comm.rank == root else own)).all()
        comm.barrier()

    ringtree.run(work, RANKS)


def test_a_broadcast_out_of_place_leaves_every_source_alone() -> None:
    def body(comm: Communicator) -> tuple[Any, Any]:
        source = np.full(1000, comm.rank + 1, dtype=np.int32)
        result = np.zeros_like(source)
        assert comm.broadcast(source, root=1, out=result) is result
        return source, result

    for rank, (source, result) in enumerate(ringtree.run(body, RANKS, profile="")):
        assert np.all(source == rank + 1)
        assert np.all(result == 2)


def test_in_place_blocks() -> None:
    def work(comm: Communicator) -> None:
        blocks = np.arange(4 * RANKS, dtype="int64") + comm.rank
        own = blocks[4 * comm.rank : 4 * (comm.rank + 1)]
        comm.reduce_scatter(blocks, own)
        assert (own == RANKS * (np.arange(4) + 4 * comm.rank) + sum(range(RANKS))).all()
        everything = np.zeros(4 * RANKS, dtype="int64")
        mine = everything[4 * comm.rank : 4 * (comm.rank + 1)]
        mine[:] = comm.rank
        comm.all_gather(mine, everything)
        assert (everything == np.repeat(np.arange(RANKS), 4)).all()

    ringtree.run(work, RANKS)


def refusal(argument: Any, ranks: int = 1, **options: Any) -> str:
    with pytest.raises(ringtree.UsageError) as caught:
        ringtree.run(lambda comm: comm.all_reduce(argument, **options), ranks)
    return str(caught.value)


def test_what_would_go_wrong_silently_is_refused() -> None:
    read_only = np.ones(4)
    read_only.flags.writeable = False
    assert "read-only" in refusal(read_only)
    assert "not contiguous" in refusal(np.ones((4, 4))[:, 0])
    assert "not list" in refusal([1.0, 2.0])
    assert "the output is float64" in refusal(np.ones(4, "float32"), out=np.ones(4))
    assert "not 4" in refusal(np.ones(4), out=np.ones(5))
    shared = np.ones(5)
    assert "overlap" in refusal(shared[:4], out=shared[1:])
    assert "unknown op median; there are sum, prod, min, max, avg" in refusal(np.ones(4), op="median")
    assert "star" in refusal(np.ones(4), algorithm="star")


def test_a_refused_call_leaves_the_communicator_usable() -> None:
    def work(comm: Communicator) -> float:
        with pytest.raises(ringtree.UsageError):
            comm.all_reduce(np.ones(3), algorithm="star")
        return float(comm.all_reduce(np.ones(3))[0])

    assert ringtree.run(work, RANKS) == [RANKS] * RANKS


def test_ranks_that_disagree_all_raise_and_say_who_said_what() -> None:
    errors: dict[int, str] = {}

    def in_this_call_or_the_next(comm: Communicator) -> None:
        comm.all_reduce(np.ones(100 + comm.rank // 2), timeout=20)
        comm.barrier(timeout=20)

    def work(comm: Communicator) -> None:
        comm.barrier()  # all have the communicator: who is still making it would be told there
        with pytest.raises(ringtree.MismatchError) as caught:
            in_this_call_or_the_next(comm)
        errors[comm.rank] = str(caught.value)

    ringtree.run(work, RANKS)
    assert set(errors) == {0, 1, 2}
    for text in errors.values():
        for part in ("rank 2 (pid", "count=101", "count=100", "call #2"):
            assert part in text


def test_a_rank_that_does_not_come_is_named_at_the_deadline() -> None:
    text = told_beside_an_absent_rank(ringtree.DeadlineError, lambda comm: comm.all_reduce(np.ones(4), timeout=0.2))
    assert "rank 1 (pid" in text


@pytest.mark.parametrize("timeout", [-1.0, float("nan")])
def test_an_impossible_timeout_is_refused(timeout: float) -> None:
    assert "timeout" in refusal(np.ones(2), timeout=timeout)


def test_last_call_says_what_was_executed() -> None:
    def work(comm: Communicator) -> dict[str, Any]:
        comm.all_reduce(np.ones(1 << 20, "float32"), algorithm="ring")
        return comm.last_call()

    last = ringtree.run(work, 2)[0]
    assert (last["collective"], last["algorithm"], last["sequence"]) == ("all_reduce", "ring", 1)
    assert (last["num_chunks"], last["num_passes"]) == (2, (1 << 22) // 2 // (4 * last["slice_bytes"]))


def test_auto_says_why() -> None:
    def work(comm: Communicator) -> ringtree.Choice:
        return comm.choice("all_reduce", 1000)

    choice, *others = ringtree.run(work, RANKS)
    assert all(other == choice for other in others), "every rank must choose alike"
    assert choice.algorithm in ringtree.algorithms.names()
    assert choice.algorithm in choice.reason


@pytest.mark.parametrize("bad", ["nowhere", "unix:", "file:", "tcp:"])
def test_an_unknown_store_says_what_exists(bad: str) -> None:
    with pytest.raises(ringtree.UsageError, match="unix:<id>"):
        ringtree.init(0, 1, bad)


@pytest.mark.parametrize("bad", ["tcp://x", "tcp://", "tcp://x:", "tcp://:80", "tcp://x:70000", "tcp://x:eighty"])
def test_an_address_that_is_none_says_how_to_write_one(bad: str) -> None:
    with pytest.raises(ringtree.UsageError, match="write <host>:<port>"):
        ringtree.init(0, 1, bad)


def test_without_rank_and_world_size_init_says_what_to_do(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("RANK", raising=False)
    with pytest.raises(ringtree.UsageError, match="torchrun"):
        ringtree.init(store="unix:x")
    monkeypatch.setenv("RANK", "one")
    with pytest.raises(ringtree.UsageError, match="RANK is there, but WORLD_SIZE is not set"):
        ringtree.init(store="unix:x")
    monkeypatch.setenv("WORLD_SIZE", "2")
    with pytest.raises(ringtree.UsageError, match="not a number"):
        ringtree.init(store="unix:x")


def test_memory_cap_is_an_error_with_figures() -> None:
    def work(comm: Communicator) -> None:
        comm.all_reduce(np.ones(10), algorithm="two_shot")

    with pytest.raises(ringtree.RingtreeError, match="cap of 1024 KB"):
        ringtree.run(work, 4, memory_cap=1 << 20)


def test_a_bug_of_one_rank_is_not_hidden_by_its_consequences() -> None:
    def work(comm: Communicator) -> None:
        if comm.rank == 1:
            raise RuntimeError("my bug")
        comm.barrier()

    with pytest.raises(RuntimeError, match="my bug"):
        ringtree.run(work, 2)


def test_ranks_that_cannot_be_are_refused_at_once() -> None:
    with pytest.raises(ringtree.UsageError, match="at least one rank"):
        ringtree.run(lambda comm: None, 0)
    with pytest.raises(ringtree.UsageError, match="rank 2 is not within a world of 2"):
        ringtree.init(2, 2, "unix:never-opened")


MANY_GROUPS = """
import sys
import numpy as np
import ringtree

rank, store = int(sys.argv[1]), sys.argv[2]
for round in range(20):
    one = ringtree.init(rank, 3, store, timeout=30)
    two = ringtree.init(rank, 3, store, timeout=30, name="two")
    assert (two.all_reduce(np.ones(3)) == 3).all()
    one.close()
    two.close()
"""


@pytest.mark.parametrize("kind", ["unix", "file"])
def test_groups_made_one_after_the_other_do_not_meet_each_other(kind: str, tmp_path: Path) -> None:
    place = f"file:{tmp_path}/store" if kind == "file" else f"unix:test-{os.getpid()}"
    ranks = [subprocess.Popen([sys.executable, "-c", MANY_GROUPS, str(rank), place]) for rank in range(3)]
    assert [rank.wait(timeout=120) for rank in ranks] == [0, 0, 0]


def test_premul_sum_multiplies_each_rank_s_array_by_its_own_factor() -> None:
    def work(comm: Communicator) -> None:
        given = np.array([1.0, -2.0])
        total = comm.all_reduce(given, op="premul_sum", factor=0.5 + comm.rank, out=np.empty(2))
        assert (total == (0.5 + 1.5 + 2.5) * given).all()
        assert (given == [1, -2]).all()

    ringtree.run(work, RANKS)


@pytest.mark.parametrize(
    ("dtype", "factor", "said"),
    [
        ("int32", 1.5, "the factor 1.5"),
        ("uint8", -1.0, "the factor -1"),
        ("int8", 128.0, "the factor 128"),
        ("float32", 1e300, "the factor 1"),
        ("bool", 1.0, "premul_sum is not defined for bool"),
    ],
)
def test_a_factor_that_the_dtype_has_not_is_refused(dtype: str, factor: float, said: str) -> None:
    assert said in refusal(np.ones(3, dtype), op="premul_sum", factor=factor)


def test_a_factor_that_would_be_left_out_is_refused() -> None:
    assert "a factor is for premul_sum only; sum ignores it" in refusal(np.ones(3), factor=2.0)
