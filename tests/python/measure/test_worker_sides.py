"""Native workers under `ringtree bench`, with a worker of no library: what is timed, checked, refused.

For: ringtree.measure.worker_sides. Not for: comparisons (test_worker_set.py), or real libraries (test_workers_mpi.py).
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator

import pytest
from bench_support import FakeArm
from ncclbench_support import timed_side

from ringtree.arms.program import Controls, Native
from ringtree.bench.options import Asked, make_options
from ringtree.errors import UsageError
from ringtree.measure.messages import SetUp
from ringtree.measure.process_set import SetFailed
from ringtree.measure.worker_sides import WorkerSides

SET_UP = SetUp(arm="0", name="fake", collective="all_reduce", op="sum", dtype="float32")
SIDE = timed_side("0", 4096, num_untimed=1, num_iterations=20, num_checks=1)
CALL = 1e-6 + 4096e-9  # seconds, as the worker says


@contextlib.contextmanager
def started(behaviour: str = "good", controls: Controls | None = None, timeout: float = 10.0) -> Iterator[WorkerSides]:
    one = WorkerSides(Native(FakeArm("fake", 1.0, behaviour), controls or Controls()), 2, 7, timeout)
    try:
        one.start()
        yield one
    finally:
        one.kill()


def test_the_loop_is_timed_as_a_whole_or_iteration_by_iteration_and_checked() -> None:
    with started() as one:
        assert [answer.error for answer in one.ask(SET_UP)] == [None, None]
        for answer in one.ask(SIDE):
            assert answer.seconds == pytest.approx(CALL, rel=0.05)
            assert (answer.times, answer.num_wrong) == ([], 0)
            assert answer.executed == {"backend": "fake", "through": "native"}
        for answer in one.ask(SIDE.model_copy(update={"each": True, "num_checks": 0})):
            assert len(answer.times) == 20
            assert answer.times[3] == pytest.approx(CALL, rel=0.05)
            assert answer.num_wrong is None
        assert len(one.pids) == 2


def test_wrong_elements_are_those_of_their_rank() -> None:
    with started("wrong:4096") as one:
        one.ask(SET_UP)
        assert [answer.num_wrong for answer in one.ask(SIDE)] == [0, 3]


def test_a_library_that_hangs_or_did_not_take_its_switch_is_said() -> None:
    with started("hang:4096", timeout=1.0) as one:
        one.ask(SET_UP)
        with pytest.raises(SetFailed, match="did not answer in time"):
            one.ask(SIDE)
    with started("control:0", Controls((("X", "ring"),), (("x", "ring"),))) as one:
        (first, _) = one.ask(SET_UP)
        assert first.error == "x was to be 'ring', and the library has it at '0'"


def test_barriers_between_calls_are_refused_before_anything_starts() -> None:
    with pytest.raises(UsageError, match="-z 1 puts barriers between calls, which native:ring has not"):
        make_options(Asked(arm="native:ring", blocking=1))
    with pytest.raises(UsageError, match="needs a process for each rank"):
        make_options(Asked(arm="native:ring", nthreads=2))
