"""Arms in native processes in a comparison, with workers of no library: who fails is named, the rest is judged.

For: plans and launches of native arms (ringtree.measure.request, plan, launch). Not for: worker sets themselves
(test_worker_set.py), or real libraries (test_workers_mpi.py).
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from bench_support import FakeArm

from ringtree.arms import ArmKind, mpi, registry
from ringtree.arms.program import Controls, Native
from ringtree.errors import UsageError
from ringtree.judge.summary import summarise
from ringtree.measure.launch import patient, run_launch, worker_sets
from ringtree.measure.plan import planned_launches
from ringtree.measure.process_set import CellKey, Visited
from ringtree.measure.recording import measure_launch, run_comparison
from ringtree.measure.request import Request, make_plan
from ringtree.measure.worker_set import Deadlines, WorkerSet
from ringtree.results import Plan

BEHAVIOURS = {"good": "good", "hangs": "hang:512", "never": "stillborn", "wrong": "wrong:512", "lacking": "good"}
# `told` says that its variable is set to what it is not.
KINDS = (*BEHAVIOURS, "told")


def _kind(head: str) -> ArmKind:
    controls = Controls((("X", "7"),), (("x", "7"),)) if head == "told" else Controls()
    behaviour = "control:0" if head == "told" else BEHAVIOURS[head]
    return replace(
        mpi.KINDS[0],
        name=head,
        heads=frozenset((head,)),
        written=(head,),
        accepts=lambda name, collective: name == head,
        native=lambda name, collective: Native(FakeArm(head, 1.0, behaviour), controls),
        lacks=lambda: "it is not here: get it" if head == "lacking" else None,
    )


@pytest.fixture(autouse=True)
def _made_up(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(registry, "KINDS", (*registry.KINDS, *map(_kind, KINDS)))


def plan_of(arms: str, sizes: str = "64,512") -> Plan:
    plan = make_plan(Request(arms=arms, sizes=sizes, ranks=2, launches=1, seed=3))
    return plan.model_copy(update={"cell_budget": 0.05})


def test_all_native_arms_share_the_launches_whatever_their_variables() -> None:
    plan = plan_of("good,good@A=1,good@A=2,hangs")
    assert plan.boundary == "native"
    assert [size.batch for size in plan.sizes] == [1, 1], "workers choose how many calls make a batch"
    (launch,) = planned_launches(plan)
    sets = worker_sets(plan, launch, launch.arms, [0, 1], Deadlines())
    assert [one.arms for one in sets] == [["good"], ["good@A=1"], ["good@A=2"], ["hangs"]]
    twice = plan_of("good,good")
    (launch,) = planned_launches(twice)
    assert [one.arms for one in worker_sets(twice, launch, launch.arms, [0], Deadlines())] == [["good", "good#2"]]


class Workers(WorkerSet):
    """Where one hangs it is given up soon, and only there: on a busy machine others take long to start."""

    def warm_up(self, cell: CellKey, budget: float) -> Visited:
        if (cell.arm, cell.size_bytes) == ("hangs", 512):
            self._deadlines = Deadlines(first=2.0)
        return super().warm_up(cell, budget)


def test_who_hangs_or_never_starts_is_named_and_the_others_are_judged(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("ringtree.measure.launch.WorkerSet", Workers)
    plan = plan_of("good,hangs,never,wrong,lacking,told")
    assert plan.left_out == {"lacking": "it is not here: get it"}
    (launch,) = planned_launches(plan)
    done = measure_launch(plan, launch, lambda: run_launch(plan, launch, lambda _: None))
    cells = {(cell.arm, cell.size_bytes): cell for cell in done.cells}
    for key in (("good", 64), ("good", 512), ("hangs", 64), ("wrong", 64)):
        assert cells[key].verified, cells[key].error
    assert "rank 1 did not answer in time" in str(cells["hangs", 512].error)
    assert "no such device" in str(cells["never", 64].error)
    assert "wrong result" in str(cells["wrong", 512].error)
    assert cells["told", 64].error == "x was to be '7', and the library has it at '0'"


def test_no_wait_is_longer_than_the_launch_allows() -> None:
    assert patient(1.5) == Deadlines(1.5, 1.5, 1.5)
    assert patient(1e6) == Deadlines()


def test_a_run_of_native_arms_is_stored_and_says_that_it_was_called_from_c(tmp_path: Path) -> None:
    stored = run_comparison(plan_of("good,wrong", "64"), tmp_path, lambda launch, report: None)
    comparison = summarise(stored)
    assert any("native: every arm" in caveat for caveat in comparison.caveats)
    assert [arm.kind for arm in stored.run.plan.arms] == ["good", "wrong"]


def test_native_arms_and_those_of_python_are_refused_together() -> None:
    with pytest.raises(UsageError, match=r"share no way to be called \(gloo by torch, good by native\)"):
        plan_of("gloo,good")
