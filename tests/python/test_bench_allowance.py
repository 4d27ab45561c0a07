"""What a launch of the bench may do after those that ran: time, sizes, and what is not tried again."""

from __future__ import annotations

import pytest
from bench.allowance import GIVE_UP_AFTER, allowance
from bench.plans import Choices, make_parts
from bench_support import small_world
from lab_support import make_cell, make_launch

from ringtree.results import Cell, Launch

PART = make_parts(Choices(budget=80.0, num_launches=8, worlds=[small_world()]), ["engine", "mpich5"], {})[0]


def failed(arm: str, size: int) -> Cell:
    return make_cell(arm, size, 1.0, times=[], verified=False, error="hung")


def launches(*cells: Cell) -> list[Launch]:
    return [make_launch(index, cells) for index in range(GIVE_UP_AFTER)]


def test_the_first_launch_finds_out() -> None:
    first = allowance(PART, [])
    assert first.seconds == pytest.approx(10.0)
    assert first.sizes is None
    assert not first.given_up


def test_later_launches_take_the_sizes_that_an_earlier_one_could_afford() -> None:
    before = [
        make_launch(0, [make_cell("engine", 8, 1e-6), make_cell("engine", 64, 1e-6), make_cell("mpich5", 512, 1e-6)]),
        make_launch(1, [make_cell("engine", 8, 1e-6)]),
    ]
    assert allowance(PART, before).sizes == [8, 64]
    nothing = make_launch(0, [failed("engine", 8)])
    assert allowance(PART, [nothing]).sizes is None


def test_what_could_not_be_measured_repeatedly_is_given_up() -> None:
    before = launches(make_cell("engine", 8, 1e-6), failed("mpich5", 8))
    assert dict(allowance(PART, before).given_up) == {(8, "mpich5"): "hung"}
    assert dict(allowance(PART, before[:-1]).given_up) == {}


def test_what_has_times_is_tried_again() -> None:
    late = make_cell("mpich5", 8, 1e-6, verified=False, error="rank 1 left at 8 B")
    assert dict(allowance(PART, launches(make_cell("engine", 8, 1e-6), late)).given_up) == {}
