"""The loop of one rank: what is called how often, what is timed, and that wrong results are found.

For: ringtree.measure.timed_loop and timed_side, asked by ringtree.bench.bench_run, around an arm and a clock that are
made up. Not for: real ranks.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from ncclbench_support import Clock, LoneArm, LoneSync, options_of, timed_side

from ringtree.bench import bench_run
from ringtree.bench.figures import BenchSide, MeasuredRow
from ringtree.measure.cell_loop import CallNumbers
from ringtree.measure.collective_data import CollectiveData
from ringtree.measure.messages import Answer, SetUp, TimeSide
from ringtree.measure.timed_loop import time_calls
from ringtree.measure.timed_side import TimedSides

Runs = Callable[..., list[BenchSide]]


@pytest.mark.parametrize(
    ("blocking", "each", "seconds", "times", "num_barriers"),
    [
        # A clock that counts its readings: the loop as a whole is one step of it, whatever happens inside.
        (0, False, 1 / 6, [], 0),
        (2, False, 1 / 6, [], 0),
        (0, True, 5 / 6, [1 / 2, 1 / 2, 1 / 2], 0),
        (1, False, 5 / 6, [], 6),
        # With -z 3 only the three iterations count, not what lies between them.
        (3, False, 3 / 6, [], 3),
        (3, True, 3 / 6, [1 / 2, 1 / 2, 1 / 2], 3),
    ],
)
def test_the_loop_is_timed_as_a_whole_and_divided(
    blocking: int, each: bool, seconds: float, times: list[float], num_barriers: int
) -> None:
    order: list[int] = []
    sync = LoneSync()
    calls = [lambda: order.append(0), lambda: order.append(1), lambda: order.append(2), lambda: order.append(3)]
    loop = timed_side("lone", 8, blocking=blocking, each=each)
    measured = time_calls(loop, calls, sync.barrier, Clock())
    assert measured == (pytest.approx(seconds), pytest.approx(times))
    assert order == [0, 1, 2, 3, 0, 1]
    assert sync.num_barriers == num_barriers


@pytest.fixture
def run_lone(monkeypatch: pytest.MonkeyPatch) -> Runs:
    """Runs a bench with one rank, in this process, at 64 and 128 bytes; returns both halves of each row."""

    def run(arm: LoneArm, **asked: Any) -> list[BenchSide]:
        options = options_of(**{"ngpus": 1, "minbytes": "64", "maxbytes": "128", "stepfactor": 2, "iters": 3, **asked})

        class LoneSet:
            """Stands where a RankSet would."""

            pids = (1,)

            def __init__(self, *_: Any, **__: Any) -> None:
                self._sides = TimedSides(LoneSync(), CallNumbers(), shared=False, clock=Clock())

            def start(self) -> None: ...

            def close(self) -> None: ...

            def kill(self) -> None: ...

            def ask(self, command: SetUp | TimeSide) -> list[Answer]:
                if isinstance(command, TimeSide):
                    return [self._sides.run(arm, self._data, command)]
                self._data = CollectiveData(command.collective, command.dtype, 1, 0, seed=5)
                return [Answer()]

        monkeypatch.setattr(bench_run, "RankSet", LoneSet)
        made: list[MeasuredRow] = []
        bench_run.run(options, lambda pids: None, made.append)
        return [side for row in made for side in row.sides]

    return run


def test_every_half_is_called_timed_and_checked(run_lone: Runs) -> None:
    arm = LoneArm()
    reports = run_lone(arm, warmup_iters=2, check=2, agg_iters=2)
    assert len(reports) == 4
    # Warm-up of two sizes; then, of each half, one untimed call, the loop and the checks.
    assert arm.num_calls == 2 * 2 + 4 * (1 + 3 * 2 + 2)
    assert {report.num_wrong for report in reports} == {0}
    assert {report.seconds for report in reports} == {1 / 6}
    assert {report.executed for report in reports} == {"copy/simple"}
    in_place = [source is result for source, result in arm.bound[-3:]]
    assert in_place == [True, False, True], "the last of two places at 64 bytes, then one for each half at 128"


def test_an_element_that_is_off_by_one_in_the_check_is_one_wrong(run_lone: Runs) -> None:
    def spoil(number: int, result: Any) -> None:
        if number == 2 + 1 + 3:  # the check of the first half, after warm-up, the untimed call and the loop
            result[5] += 1

    assert [report.num_wrong for report in run_lone(LoneArm(spoil))] == [1, 0, 0, 0]


def test_checks_stop_at_the_first_wrong_one(run_lone: Runs) -> None:
    def spoil(number: int, result: Any) -> None:
        result[:2] += 1

    arm = LoneArm(spoil)
    assert [report.num_wrong for report in run_lone(arm, check=5)] == [2, 2, 2, 2]
    assert arm.num_calls == 2 + 4 * (1 + 3 + 1)


def test_a_call_that_does_nothing_is_wrong_everywhere_although_an_earlier_one_was_right(run_lone: Runs) -> None:
    class Lazy(LoneArm):
        def bind(self, source: Any, result: Any, root: int = 0) -> Any:
            call = super().bind(source, result, root)
            return lambda: call() if self.num_calls < 6 else None  # all but the check of the first half

    num_wrong = run_lone(Lazy())[0].num_wrong
    assert num_wrong is not None
    assert num_wrong > 14, "of 16 elements; some may be equal by chance"


def test_without_checks_nothing_is_said_of_results(run_lone: Runs) -> None:
    assert {report.num_wrong for report in run_lone(LoneArm(), check=0)} == {None}


@pytest.mark.parametrize("collective", ["alltoall", "sendrecv"])
def test_in_place_is_a_copy_and_a_call_and_not_checked_where_there_is_no_other(run_lone: Runs, collective: str) -> None:
    were_equal: list[bool] = []
    made: list[object] = []
    asked_about: list[object] = []

    class Watched(LoneArm):
        """Leaves another result than its source, so that only a copy makes them equal before the next call."""

        def bind(self, source: Any, result: Any, root: int = 0) -> Any:
            def call() -> None:
                were_equal.append(bool((source == result).all()))
                result[:] = source + 1

            made.append(call)
            return call

        def executed(self, call: object) -> dict[str, Any]:
            asked_about.append(call)
            return super().executed(call)

    reports = run_lone(Watched(), collective=collective, warmup_iters=0, minbytes="128", iters=1)
    assert [report.num_wrong for report in reports] == [32, None]
    # Of each half an untimed call and a timed one; the check of the first.
    assert were_equal == [False, False, False, True, True]
    assert asked_about
    assert all(call in made for call in asked_about), "the arm knows its own calls only"


def test_iterations_are_timed_if_asked(run_lone: Runs) -> None:
    timed = [side.iterations for side in run_lone(LoneArm(), per_iter_timing=1)]
    assert [each and each.times for each in timed] == [[1, 1, 1]] * 4
    assert [side.iterations for side in run_lone(LoneArm())] == [None] * 4
