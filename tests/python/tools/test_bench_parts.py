"""The parts of the bench as plans of the lab, and a whole run of one, with workers of no library.

For: bench.parts, bench.runner. Not for: measuring (test_compare_native.py), or the page (test_bench_page.py).
"""

from __future__ import annotations

import os
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from bench.parts import AUTO, HOST_PARTS, NATIVE, NO_TIME, PARTS, SHARED, Choices, Part, parts_named, plan_of, powers
from bench.runner import UNDER_WAY, measured, run
from bench.stored import machine_name, read_parts
from bench_support import FakeArm

from ringtree.arms import mpi, registry
from ringtree.arms.program import Native
from ringtree.errors import UsageError
from ringtree.measure.launch import run_launch
from ringtree.measure.plan import PlannedLaunch
from ringtree.results import Cell, Plan

SMALL = Part("native-2-all_gather", 1.0, 2, (AUTO, "slower", "absent"), powers(8, 4096, 3), "all_gather")


def choices(budget: float, launches: int = 2, part: Part = SMALL, seed: int = 1) -> Choices:
    return Choices(budget, launches, seed, [part])


@pytest.fixture
def _made_up(monkeypatch: pytest.MonkeyPatch) -> None:
    """The engine and two peers, `slower` and `absent`, none of which needs anything."""

    def native(name: str, collective: str | None) -> Native:
        return Native(FakeArm(name, 1.5 if name == "slower" else 1.0))

    peers = [
        replace(
            mpi.KINDS[0],
            name=name,
            heads=frozenset((name,)),
            accepts=lambda *_: True,
            native=native,
            lacks=lambda name=name: "it is not here: get it" if name == "absent" else None,
        )
        for name in ("slower", "absent")
    ]
    engine = replace(registry.KINDS[0], native=native)
    monkeypatch.setattr(registry, "KINDS", (engine, *registry.KINDS[1:], *peers))


@pytest.fixture(autouse=True)
def _cores_as_they_were() -> object:
    before = os.sched_getaffinity(0)
    yield
    os.sched_setaffinity(0, before)


def test_names_are_those_of_the_stored_pages() -> None:
    assert [part.name for part in PARTS[:5]] == ["native-2", "native-4", "native-16", "torch-2", "torch-4"]
    assert PARTS[-1].name == "native-2-all_to_all"
    between_hosts = {"native-2x1", "torch-2x2", "rate-4x1", "crossover-4x1", "unshaped-4x1", "native-4x1-all_gather"}
    assert between_hosts <= {one.name for one in HOST_PARTS}
    for parts in (PARTS, HOST_PARTS):
        assert sum(part.share for part in parts) == pytest.approx(1.0)


def test_ranks_lie_evenly_on_their_hosts() -> None:
    assert [part.host_of_ranks for part in parts_named("native-2x2,torch-4x1")] == [[0, 0, 1, 1], [0, 1, 2, 3]]


def test_powers_hold_both_ends() -> None:
    assert powers(8, 64) == (8, 16, 32, 64)
    assert powers(8, 4096, 3) == (8, 64, 512, 4096)


@pytest.mark.usefixtures("_made_up")
def test_a_part_is_a_native_plan_with_the_engine_as_its_reference() -> None:
    plan = plan_of(SMALL, choices(100.0))
    assert (plan.boundary, plan.reference, plan.num_launches) == (NATIVE, AUTO, 2)
    assert [arm.label for arm in plan.arms] == [AUTO, "slower"]
    assert plan.left_out == {"absent": "it is not here: get it"}
    assert [size.size_bytes for size in plan.sizes] == [8, 64, 512, 4096]
    assert plan.cell_budget == pytest.approx((100.0 / 2 - 2.0) / 8, abs=0.3), "50 s a launch, but for its start"
    alone = replace(SMALL, arms=(AUTO, SHARED, "absent"))
    with pytest.raises(UsageError, match="nothing to compare with: it is not here"):
        plan_of(alone, choices(50.0, part=alone))


@pytest.mark.usefixtures("_made_up")
def test_time_that_is_short_costs_the_largest_sizes_and_never_the_smallest() -> None:
    # 256 MB in 6 visits of 2 ranks at 1.2 GB/s are 2.7 s of each arm in each launch
    large = replace(SMALL, sizes=(8, 64, 256 << 20))
    enough, short, none = (plan_of(large, choices(budget, part=large)) for budget in (100.0, 6.0, 0.1))
    assert [[size.size_bytes for size in plan.sizes] for plan in (enough, short, none)] == [
        [8, 64, 256 << 20],
        [8, 64],
        [8],
    ]
    assert short.left_out["256 MB"] == NO_TIME


def test_parts_between_hosts_know_their_hosts() -> None:
    (part,) = parts_named("crossover-4x1")
    plan = plan_of(part, choices(100.0, part=part))
    assert (plan.hosts, plan.reference, plan.num_ranks) == ([0, 1, 2, 3], "ring", 4)


@pytest.mark.usefixtures("_made_up")
def test_a_run_is_stored_by_part_and_what_is_there_is_not_measured_again(tmp_path: Path) -> None:
    if len(os.sched_getaffinity(0)) < 2:
        pytest.skip("needs two cores")
    said: list[str] = []
    run(choices(20.0, 1), tmp_path, tmp_path, said.append)
    stored = read_parts(tmp_path)[SMALL.name]
    assert (stored.run.run_id, stored.run.provenance.host_name) == (SMALL.name, machine_name())
    assert [len(launch.cells) for launch in stored.launches] == [8]
    assert all(cell.verified for launch in stored.launches for cell in launch.cells)
    assert not (tmp_path / UNDER_WAY).exists()
    run(choices(20.0, 1), tmp_path, tmp_path, said.append)
    assert said == [f"{SMALL.name}: about 20 s"]


@pytest.mark.usefixtures("_made_up")
def test_a_run_that_was_interrupted_goes_on_and_a_part_that_can_t_be_is_named(tmp_path: Path) -> None:
    if len(os.sched_getaffinity(0)) < 2:
        pytest.skip("needs two cores")
    runs = tmp_path / UNDER_WAY / SMALL.name
    begun = measured(SMALL, choices(4.0, 2), runs)
    lines = (begun.path / "launches.jsonl").read_text().splitlines(keepends=True)
    (begun.path / "launches.jsonl").write_text(lines[0])
    said: list[str] = []
    absent = replace(SMALL, name="native-4", arms=(AUTO, "absent"))
    run(Choices(8.0, 2, 1, [SMALL, absent]), tmp_path, tmp_path, said.append)
    (stored,) = read_parts(tmp_path).values()
    assert [launch.launch for launch in stored.launches] == [0, 1]
    assert stored.launches[0].pids == begun.launches[0].pids
    assert said[-1] == "native-4: nothing to compare with: it is not here: get it"


@pytest.mark.usefixtures("_made_up")
def test_launches_are_run_by_what_stands_in_for_the_lab_s_own_way(tmp_path: Path) -> None:
    seen: list[int] = []

    def launch_by(plan: Plan, launch: PlannedLaunch, *more: Any, **options: Any) -> tuple[list[int], list[Cell]]:
        seen.append(len(options["before"]))
        return run_launch(plan, launch, *more, **options)

    stored = measured(replace(SMALL, sizes=(8,)), choices(2.0), tmp_path, launch_by=launch_by)
    assert seen == [0, 1], "each launch knows those before it"
    assert [launch.launch for launch in stored.launches] == [0, 1]
