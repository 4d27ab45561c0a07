"""Which part of a call is exposed, on clocks written by hand."""

from __future__ import annotations

from typing import Any

import pytest
from joblog_support import call_line, step_line

from ringtree.joblog.exposure import exposed_times
from ringtree.joblog.records import CallLine, StepLine


def exposed(*calls: dict[str, Any], steps: tuple[dict[str, Any], ...] = ()) -> dict[int, float]:
    return exposed_times(
        [CallLine.model_validate(call) for call in calls], [StepLine.model_validate(line) for line in steps]
    )


def test_a_call_that_is_waited_for_is_exposed_and_one_beside_computing_is_not() -> None:
    assert exposed(call_line(0, 1.0, 3.0, (5.0, 5.0))) == {0: pytest.approx(2.0)}
    assert exposed(call_line(0, 1.0, 3.0, (5.0, 7.0))) == {0: pytest.approx(0.0)}
    assert exposed(call_line(0, 1.0, 3.0, (5.0, 6.5))) == {0: pytest.approx(0.5)}


def test_several_threads_that_compute_do_not_make_it_negative() -> None:
    assert exposed(call_line(0, 1.0, 3.0, (5.0, 9.0))) == {0: 0.0}


def test_time_in_which_two_are_under_way_counts_once_for_the_older() -> None:
    # A 0..4, B 1..6. CPU advances by 1 from 0 to 1, then stands: 3 s of A's are idle, then 2 of B's.
    found = exposed(call_line(0, 0.0, 4.0, (0.0, 1.0)), call_line(1, 1.0, 6.0, (1.0, 1.0)))
    assert found == {0: pytest.approx(3.0), 1: pytest.approx(2.0)}


def test_what_comes_after_the_end_of_the_step_does_not_count() -> None:
    late = exposed(call_line(0, 1.0, 5.0, (0.0, 0.0)), steps=(step_line(0, 0.0, 2.0),))
    assert late == {0: pytest.approx(1.0)}


def test_a_call_of_the_next_step_counts_although_an_older_one_is_said_to_be_under_way() -> None:
    calls = (call_line(0, 1.0, 5.0, (0.0, 0.0)), call_line(1, 3.0, 6.0, (0.0, 0.0), step=1))
    found = exposed(*calls, steps=(step_line(0, 0.0, 2.0), step_line(1, 2.0, 9.0)))
    assert found == {0: pytest.approx(1.0), 1: pytest.approx(3.0)}


def test_a_call_that_never_ended_or_ran_on_a_gpu_has_no_figure() -> None:
    assert exposed(call_line(0, 1.0, None, (0.0, 0.0)), call_line(1, 2.0, 3.0, (0.0, 0.0))) == {1: pytest.approx(1.0)}
