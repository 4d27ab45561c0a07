"""Native workers as a process set, against a worker of no library: what is timed, refused, wrong, hung, started anew.

For: ringtree.measure.worker_set, alone and in the visit loop beside other sets. Not for: the line protocol
(test_worker_ranks.py) or real libraries (test_workers_mpi.py).
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Mapping
from pathlib import Path

import pytest
from bench_support import FakeArm
from lab_support import make_plan

from ringtree.measure.plan import planned_launches
from ringtree.measure.process_set import CellKey, SetFailed
from ringtree.measure.rank_group import LaunchFailed
from ringtree.measure.visit_loop import VisitLoop
from ringtree.measure.worker_set import TOO_SLOW, WRONG, Deadlines, Moved, NativeCalls, WorkerSet
from ringtree.results import Cell, Plan

SHORT = Deadlines(first=1.0, visit=1.0)
ORDINARY = {"fake": NativeCalls(), "fake/unaligned": NativeCalls(offset=4)}
MOVED = Moved("all_reduce", "float32", "sum", 7)
SMALL, LARGE = CellKey(512, "fake", 1), CellKey(4096, "fake", 1)


@contextlib.contextmanager
def started(
    behaviour: str = "good",
    arms: Mapping[str, NativeCalls] = ORDINARY,
    deadlines: Deadlines = SHORT,
    wanted: Mapping[str, str] | None = None,
) -> Iterator[WorkerSet]:
    one = WorkerSet(FakeArm("fake", 1.0, behaviour), arms, MOVED, 2, [0, 1], deadlines, wanted=wanted)
    try:
        one.start()
        assert one.ready() == {}
        yield one
    finally:
        one.kill()


def is_running(pid: int) -> bool:
    with contextlib.suppress(OSError):
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] not in "ZX"
    return False


def test_a_warm_up_chooses_how_many_calls_are_timed_together() -> None:
    with started() as one:
        short, long = one.warm_up(SMALL, 1.0), one.warm_up(CellKey(1 << 20, "fake", 1), 1.0)
        # The worker says that a call takes 1 µs and 1 ns a byte: 1.5 µs, of which 200 µs hold about 130.
        assert short.batch is not None
        assert 110 < short.batch < 140
        assert long.batch == 1
        assert short.warm_up is not None
        assert short.warm_up.num_iterations >= 2
        assert short.seconds > 0
        assert short.times == [[], []]
        visited = one.visit(SMALL, 1, 4)
        assert [len(of_rank) for of_rank in visited.times] == [4, 4]
        assert visited.times[0][0] == pytest.approx(short.batch * 1.512e-6, rel=0.05)
        assert visited.times != one.visit(SMALL, 1, 4).times, "fresh data each time"
        assert visited.executed == {"backend": "fake", "through": "native", "version": "Fake 1.0"}
        pids = one.pids
        one.close()
    assert len(pids) == 2
    assert not any(map(is_running, pids))


def test_where_calls_overlap_a_batch_is_as_long_as_it_is_planned_whatever_the_call_takes() -> None:
    with started() as one:
        for cell in (CellKey(512, "fake", 64), CellKey(64 << 10, "fake", 64)):  # 1.5 and 66 µs a call
            warm = one.warm_up(cell, 1.0)
            assert (warm.error, warm.batch) == (None, 64)
            call = 1e-6 + 1e-9 * cell.size_bytes
            assert one.visit(cell, 0, 1).times[0][0] == pytest.approx(64 * call, rel=0.05)


def test_a_batch_of_seconds_is_left_out_where_its_calls_overlap() -> None:
    with started("slow:4096") as one:
        assert one.warm_up(CellKey(512, "fake", 64), 1.0).error is None
        found = one.warm_up(CellKey(4096, "fake", 64), 1.0).error
        assert found is not None
        assert found.startswith(f"{TOO_SLOW}: a call took 5.")
        assert found.endswith(", and 64 are timed together")


def test_an_arm_may_force_what_the_engine_runs_and_the_others_run_what_they_would() -> None:
    with started(arms={"fake": NativeCalls(), "forced": NativeCalls(algorithm="3")}) as one:
        plain, forced = CellKey(1 << 20, "fake", 1), CellKey(1 << 20, "forced", 1)
        for cell in (plain, forced):
            assert one.warm_up(cell, 1.0).error is None
        first, second, third = (one.visit(cell, 0, 1).times[0][0] for cell in (plain, forced, plain))
        assert second / first == pytest.approx(3.0, rel=0.05)
        assert third / first == pytest.approx(1.0, rel=0.05)


def test_what_is_refused_is_an_error_and_the_set_goes_on() -> None:
    with started("refuse:4096") as one:
        assert one.warm_up(LARGE, 1.0).error == "rank 0: unsupported"
        assert one.warm_up(SMALL, 1.0).error is None
        assert len(one.pids) == 2


def test_what_the_library_says_of_its_variable_is_stored_and_one_that_it_did_not_take_is_an_error() -> None:
    with started("control:4_ring", wanted={"algorithm_of": "4_ring"}) as one:
        executed = one.warm_up(SMALL, 1.0).executed
        assert executed is not None
        assert executed["algorithm_of"] == "4_ring"
    other = WorkerSet(FakeArm("fake", 1.0, "control:0"), ORDINARY, MOVED, 2, [0, 1], SHORT, wanted={"x": "ring"})
    try:
        other.start()
        why = "x was to be 'ring', and the library has it at '0'"
        assert other.ready() == dict.fromkeys(ORDINARY, why)
    finally:
        other.kill()


def test_wrong_elements_are_an_error_with_their_rank() -> None:
    with started("wrong:4096") as one:
        assert one.warm_up(LARGE, 1.0).error == f"{WRONG}3 elements on rank 1"
        assert one.warm_up(SMALL, 1.0).error is None


@pytest.mark.parametrize(
    ("behaviour", "why"), [("hang:4096", "rank 1 did not answer in time"), ("die:4096", "rank 1 left")]
)
def test_workers_that_hang_or_die_can_be_started_anew_and_know_what_is_warm(behaviour: str, why: str) -> None:
    with started(behaviour) as one:
        assert one.warm_up(SMALL, 1.0).error is None
        with pytest.raises(SetFailed, match=why):
            one.warm_up(LARGE, 1.0)
        one.kill()
        assert not any(map(is_running, one.pids))
        one.start()
        one.ready()
        assert len(one.visit(SMALL, 0, 3).times[0]) == 3
        assert len(set(one.pids)) == 4


def test_a_call_of_seconds_is_left_out() -> None:
    with started("slow:4096") as one:
        found = one.warm_up(LARGE, 1.0).error
        assert found is not None
        assert found.startswith(f"{TOO_SLOW}: a call took 5.")
        assert one.warm_up(SMALL, 1.0).error is None


def test_a_library_that_does_not_start_is_said_in_its_words() -> None:
    with pytest.raises(SetFailed, match="no such device"), started("stillborn"):
        pass
    with (
        pytest.raises(SetFailed, match="0 of 2 ranks connected within 0 s"),
        started("absent", deadlines=Deadlines(0.3)),
    ):
        pass


def looped(plan: Plan, *sets: WorkerSet) -> dict[tuple[str, int], Cell]:
    class NoProbe:
        def measure(self) -> None:
            return None

    cells = VisitLoop(plan, planned_launches(plan)[0], sets, lambda _: None, probe=NoProbe()).run()
    return {(cell.arm, cell.size_bytes): cell for cell in cells}


def worker_set(name: str, behaviour: str = "good") -> WorkerSet:
    return WorkerSet(FakeArm(name, 1.0, behaviour), {name: NativeCalls()}, MOVED, 2, [0, 1], SHORT)


def test_a_hung_and_a_killed_worker_are_named_and_the_rest_is_measured() -> None:
    plan = make_plan(arms=("good", "hangs", "dies", "never"), sizes=(64, 512, 4096))
    sets = [worker_set("good"), worker_set("hangs", "hang:512"), worker_set("dies", "die:4096")]
    cells = looped(plan, *sets, worker_set("never", "stillborn"))
    assert all(cells["good", size].verified for size in (64, 512, 4096))
    assert cells["good", 64].batch > 100, "what the set chose is stored"
    assert cells["hangs", 64].verified
    assert cells["dies", 512].verified
    for size in (512, 4096):
        assert cells["hangs", size].error == "rank 1 did not answer in time (at hangs 512 B)"
    assert str(cells["dies", 4096].error).startswith("rank 1 left")
    assert all("no such device" in str(cells["never", size].error) for size in (64, 512, 4096))
    assert [len(one.pids) for one in sets] == [2, 4, 4], "started anew"


def test_a_launch_in_which_no_library_starts_has_failed() -> None:
    with pytest.raises(LaunchFailed, match="no such device"):
        looped(make_plan(arms=("never",), sizes=(64,)), worker_set("never", "stillborn"))
