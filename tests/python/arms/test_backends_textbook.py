"""The arms that a ladder is made of: the textbook's groups, engine arms with options, schedules cut into single steps.

For: ringtree.arms.textbook, engine_name and unfused. Not for: how the textbook moves bytes (tests/core/textbook).
"""

from __future__ import annotations

import secrets
import signal
import threading
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from cli_support import invoke_quickly
from engine_ranks import Ranks

import ringtree
from ringtree import _core
from ringtree.arms import Setting, check_arm, has_arm, make_arm
from ringtree.arms.engine import shared_vectors
from ringtree.arms.engine_name import parse_engine_name
from ringtree.arms.textbook import KIND
from ringtree.arms.unfused import unfused
from ringtree.errors import UsageError
from ringtree.results import read_run


def on_ranks(num_ranks: int, body: Any) -> list[Any]:
    """Runs body(rank) on threads; results by rank. Raises what a rank raised."""
    results: list[Any] = [None] * num_ranks
    errors: list[BaseException] = []

    def run(rank: int) -> None:
        try:
            results[rank] = body(rank)
        except BaseException as error:
            errors.append(error)

    threads = [threading.Thread(target=run, args=(rank,)) for rank in range(num_ranks)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    if errors:
        raise errors[0]
    return results


def test_names_of_engine_arms() -> None:
    name = parse_engine_name("two_shot/ll128/32K/streaming/2ch/shared", "all_reduce")
    assert (name.algorithm, name.protocol, name.slice_bytes, name.channels) == ("two_shot", "ll128", 32768, 2)
    assert name.streaming is True
    assert "shared" in name.words
    assert parse_engine_name("auto/ordinary", "all_reduce").streaming is False
    assert parse_engine_name("ring", "all_reduce").streaming is None
    assert parse_engine_name("auto/1234B", "all_reduce").slice_bytes == 1234


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("ring/fast", "there are for example: simple, ll, ll128"),
        ("ring/", "unknown option ''"),
        ("ring/streaming/ordinary", "asks for both streaming and ordinary"),
        ("auto/shared/for-shared", "asks for both shared and for-shared"),
        ("rings/simple", "unknown arm"),
        ("ring:foo", "write shares as numbers from 1 to 16"),
        ("ring:foo/ll", "write shares as numbers from 1 to 16"),
        ("ring+", "has a part without a name"),
        ("textbook-shm:nonsense", "textbook-fused:<algorithm>"),
        ("textbook-udp:ring", "unknown arm"),
    ],
)
def test_names_that_are_no_arm(name: str, said: str) -> None:
    with pytest.raises(UsageError, match=said):
        check_arm(name, "all_reduce")


@pytest.mark.parametrize("name", ["ring:foo", "ring:0", "ring+", "ring:9+tree:8"])
def test_a_mix_that_cannot_be_is_no_arm(name: str) -> None:
    assert has_arm("ring:2", "all_reduce")
    assert not has_arm(name, "all_reduce")


@pytest.mark.parametrize("num_ranks", [1, 2, 3, 5, 8])
def test_schedules_in_single_steps_are_proved_right(num_ranks: int) -> None:
    for collective in ("all_reduce", "reduce_scatter", "all_gather", "reduce", "broadcast"):
        for algorithm in ringtree.algorithms.names(collective):
            schedule = ringtree.schedule(collective, algorithm, num_ranks)
            cut = unfused(schedule)
            ringtree.verify(cut)  # also that all ranks fold in one order
            for rank in range(num_ranks):
                before, after = schedule.program(rank), cut.program(rank)
                sends = [(step.send_to, step.send_tag, step.chunks) for step in before if step.send_to]
                assert [(step.send_to, step.send_tag, step.chunks) for step in after if step.send_to] == sends
                assert sum(len(step.recv) for step in after) == sum(len(step.recv) for step in before)
                for step in after:
                    assert not (step.recv and (step.send_to or step.src or len(step.recv) > 1))


def test_an_unfused_mix_keeps_its_shares() -> None:
    cut = unfused(ringtree.schedule("all_reduce", "ring:3+double_tree", 4))
    ringtree.verify(cut)
    assert cut.shares == 4


def test_an_unfused_schedule_gives_the_same_sums() -> None:
    ranks = Ranks(4)
    try:
        for algorithm in ringtree.algorithms.names("all_reduce"):
            cut = unfused(ringtree.schedule("all_reduce", algorithm, 4))

            def task(comm: ringtree.Communicator, cut: ringtree.Schedule = cut) -> Any:
                mine = np.arange(50_001, dtype="float64") * (comm.rank + 1)
                other = np.zeros_like(mine)
                comm.all_reduce(mine, out=other, algorithm=cut)
                comm.all_reduce(mine, algorithm=cut)
                return mine, other

            for mine, other in ranks.run(task):
                assert (mine == np.arange(50_001) * 10).all()
                assert (other == mine).all()
    finally:
        ranks.close()


@pytest.mark.parametrize("style", _core.textbook_styles())
def test_a_group_sums_arrays_in_place_and_out_of_place(style: str) -> None:
    store, schedule = ringtree.ThreadStore(), ringtree.schedule("all_reduce", "ring", 3)

    def body(rank: int) -> None:
        group = _core.TextbookGroup(store, rank, 3, style, 60.0)
        call = group.prepare(schedule.core, 1000, "float32", "sum")
        mine = np.full((10, 100), rank + 1.0, dtype="float32")
        other = np.zeros(1000, dtype="float32")
        group.run(call, mine, other)
        assert (other == 6).all()
        assert (mine == rank + 1).all()
        group.run(call, mine, mine)
        assert (mine == 6).all()
        with pytest.raises(UsageError, match="of 1000 float32, not of 999"):
            group.run(call, mine, other[:-1])
        with pytest.raises(UsageError, match="float64"):
            group.run(call, mine, np.zeros(1000))
        group.close()

    on_ranks(3, body)


def test_a_group_refuses_what_it_can_not_run() -> None:
    with pytest.raises(UsageError, match="tcp, shm, spin, fused"):
        _core.TextbookGroup(ringtree.ThreadStore(), 0, 1, "udp", 1.0)
    group = _core.TextbookGroup(ringtree.ThreadStore(), 0, 1, "shm", 1.0)
    schedule = ringtree.schedule("all_reduce", "ring", 1)
    with pytest.raises(UsageError, match="unknown dtype"):
        group.prepare(schedule.core, 1, "float31")
    with pytest.raises(UsageError, match="sum, prod"):
        group.prepare(schedule.core, 1, "float32", "median")

    def nothing(p: ringtree.ProgramBuilder) -> None:
        del p

    with pytest.raises(ringtree.VerificationError):
        group.prepare(ringtree.build("all_reduce", nothing, ranks=1).core, 1, "float32")


@pytest.mark.parametrize("style", _core.textbook_styles())
def test_ctrl_c_ends_a_wait_here_and_is_told_to_the_peer(style: str) -> None:
    store, schedule = ringtree.ThreadStore(), ringtree.schedule("all_reduce", "ring", 2)
    array = np.zeros(1000, dtype="float32")
    interrupted, said = threading.Event(), []

    def peer() -> None:
        group = _core.TextbookGroup(store, 1, 2, style, 60.0)
        call = group.prepare(schedule.core, 1000, "float32")
        interrupted.wait(60)
        try:
            group.run(call, array.copy(), array.copy())
        except ringtree.RingtreeError as error:
            said.append(str(error))

    thread = threading.Thread(target=peer)
    thread.start()
    group = _core.TextbookGroup(store, 0, 2, style, 60.0)
    call = group.prepare(schedule.core, 1000, "float32")

    def handler(number: int, frame: object) -> None:
        raise KeyboardInterrupt

    before = signal.signal(signal.SIGALRM, handler)
    signal.setitimer(signal.ITIMER_REAL, 0.05)
    try:
        with pytest.raises(KeyboardInterrupt):
            group.run(call, array, array)
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
        interrupted.set()
        thread.join()
    assert "was interrupted during all_reduce by ring" in said[0]


def test_textbook_arms_are_bound_to_the_callers_arrays() -> None:
    session = secrets.token_hex(16)

    def body(rank: int) -> None:
        arm = make_arm("textbook-fused:two_shot")
        arm.setup(
            Setting(
                rank=rank,
                num_ranks=2,
                collective="all_reduce",
                op="max",
                dtype="int32",
                communicator=lambda **options: None,
                torch_store="",
                rendezvous=f"{session}-arm",
                boundary="numpy",
                timeout=60.0,
            )
        )
        source, result = np.full(77, rank, dtype="int32"), np.zeros(77, dtype="int32")
        run = arm.bind(source, result)
        run()
        assert (result == 1).all()
        assert (source == rank).all()
        untouched, vector = arm.make_buffers(5, 2)
        vector[:] = rank + 3
        in_place = arm.bind(vector, vector)
        in_place()
        assert (vector == 4).all()
        assert (untouched == 0).all()
        assert arm.executed(in_place) == {"backend": "textbook (fused)", "through": "numpy", "algorithm": "two_shot"}
        arm.teardown()

    on_ranks(2, body)


def test_all_of_them_run_in_a_comparison(tmp_path: Path) -> None:
    arms = [*(f"{head}:ring" for head in sorted(KIND.heads)), "textbook-fused:double_tree", "ring/ll128", "ring/2ch"]
    arms += ["auto/shared", "auto/for-shared", "auto/shared/unfused", "tree/shared/as-auto", "auto/shared/16K/simple"]
    result = invoke_quickly(
        *("compare", "--ranks", "3", "--arms", ",".join(arms), "--sizes", "8,4K,300000"),
        *("--launches", "1", "--no-preflight", "--runs", tmp_path),
    )
    assert result.exit_code == 0, result.stderr
    (path,) = tmp_path.iterdir()
    (launch,) = read_run(path).launches
    told: dict[str, Any] = {cell.arm: cell.executed for cell in launch.cells if cell.size_bytes == 300000}
    assert all(cell.verified for cell in launch.cells)
    assert told["textbook-shm:ring"]["backend"] == "textbook (shm)"
    assert told["ring/ll128"]["protocol"] == "ll128"
    assert told["ring/2ch"]["num_channels"] == 2
    assert (told["auto/shared"]["buffers"], told["auto/for-shared"]["buffers"]) == ("shared", "private")
    assert told["auto/shared/unfused"]["algorithm"] == told["auto/shared"]["algorithm"] + "-unfused"
    assert told["tree/shared/as-auto"]["algorithm"] == "tree"
    assert told["tree/shared/as-auto"]["protocol"] == told["auto/shared"]["protocol"]
    assert 8192 < told["auto/shared/16K/simple"]["slice_bytes"] <= 16384, "slices are even"
    assert "auto/shared executed" in result.stdout
    assert "ring/ll128 executed" not in result.stdout


@pytest.mark.parametrize("count", [1, 16, 1000])
def test_shared_vectors_lie_apart_in_one_buffer(count: int) -> None:
    vectors = shared_vectors(count, 10, "float32")
    assert all(vector.shape == (count,) and vector.flags.c_contiguous for vector in vectors)
    places = [vector.ctypes.data for vector in vectors]
    assert all(place % 64 == 0 for place in places)
    assert {after - before for before, after in pairwise(places)} == {-(-count * 4 // 64) * 64}
    for i, vector in enumerate(vectors):
        vector[:] = i
    assert [float(vector.max()) for vector in vectors] == list(range(10))
