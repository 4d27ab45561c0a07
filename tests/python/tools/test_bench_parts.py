"""The parts of `make bench` as plans of the lab, and a whole run of one, with workers of no library.

For: bench.parts. Not for: measuring (test_compare_native.py), or the page (test_bench_page.py).
"""

from __future__ import annotations

import os
from dataclasses import replace
from pathlib import Path

import pytest
from bench import parts
from bench.parts import ALL_REDUCE, ENGINE, NATIVE, PARTS, Choices, Part, affordable, plan_of, run
from bench.stored import read_bench, read_part
from bench_support import FakeArm

from ringtree.arms import mpi, registry
from ringtree.arms.program import Native
from ringtree.errors import UsageError

SMALL = Part(NATIVE, 2, 1.0, 4096, 3, collective="all_gather")


@pytest.fixture
def made_up(monkeypatch: pytest.MonkeyPatch) -> None:
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
    monkeypatch.setattr(parts, "PEERS", ("slower", "absent"))


@pytest.fixture(autouse=True)
def _cores_as_they_were() -> object:
    before = os.sched_getaffinity(0)
    yield
    os.sched_setaffinity(0, before)


def test_names_are_those_of_the_stored_pages() -> None:
    assert [part.name for part in PARTS[:5]] == ["native-2", "native-4", "native-16", "torch-2", "torch-4"]
    assert PARTS[-1].name == "native-2-all_to_all"
    assert sum(part.share for part in PARTS) == pytest.approx(1.0)


def test_every_block_has_an_element_and_sizes_end_where_they_are_told_to() -> None:
    assert Part(NATIVE, 4, 1.0, 64, collective="all_gather").sizes(1 << 30) == [16, 32, 64]
    assert Part(NATIVE, 4, 1.0, 64).sizes(32) == [8, 16, 32]
    assert Part(NATIVE, 2, 1.0, 4096, 3, (1000, 8000)).sizes(4096) == [8, 64, 512, 1000, 4096]


def test_time_that_is_short_costs_the_largest_sizes() -> None:
    floors = {8: 1.0, 64: 1.0, 512: 2.0}
    assert affordable(floors, 8.0) == [8, 64, 512]
    assert affordable(floors, 3.0) == [8, 64]
    assert affordable(floors, 0.1) == [8]


def test_a_part_is_a_native_plan_with_the_engine_as_its_reference(made_up: None) -> None:
    choices = Choices(budget=100.0, num_launches=2)
    plan = plan_of(SMALL, choices, 50.0)
    assert (plan.boundary, plan.reference, plan.num_launches) == (NATIVE, ENGINE, 2)
    assert [arm.label for arm in plan.arms] == [ENGINE, "slower"]
    assert plan.left_out["absent"] == "it is not here: get it"
    assert plan.cell_budget > 1.0
    shared = plan_of(replace(SMALL, collective=ALL_REDUCE), choices, 50.0)
    assert [arm.label for arm in shared.arms] == [ENGINE, f"{ENGINE}/shared", "slower"]
    with pytest.raises(UsageError, match="nothing to compare with: it is not here"):
        plan_of(SMALL, replace(choices, arms=["absent"]), 50.0)


def test_a_run_is_stored_by_part_and_what_is_there_is_not_measured_again(made_up: None, tmp_path: Path) -> None:
    if len(os.sched_getaffinity(0)) < 2:
        pytest.skip("needs two cores")
    said: list[str] = []
    choices = Choices(budget=20.0, num_launches=1, parts=[SMALL], largest=64)
    run(choices, tmp_path, tmp_path, said.append)
    stored, header = read_part(tmp_path, SMALL.name), read_bench(tmp_path)
    assert stored is not None
    assert (stored.run.run_id, stored.run.provenance.host_name) == (SMALL.name, header.machine)
    assert [len(launch.cells) for launch in stored.launches] == [4]
    assert all(cell.verified for launch in stored.launches for cell in launch.cells)
    assert {note.name: note.missing for note in header.arms} == {
        ENGINE: None,
        "slower": None,
        "absent": "it is not here: get it",
    }
    assert not (tmp_path / "under-way").exists()
    run(choices, tmp_path, tmp_path, said.append)
    assert len(said) == 1
    with pytest.raises(UsageError, match="holds a run with other choices"):
        run(replace(choices, seed=2), tmp_path, tmp_path, said.append)
