"""Arms with variables of their own in one launch, as those on GPUs are: each environment has processes of its own.

For: which processes host which arm, with which variables. Not for: what NCCL makes of them (test_train_nccl.py).
"""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from forked import preload
from forked_ranks import forked_ranks
from needed import needs
from train_support import OF_A_TRAINING, mini_model, plan_of

from ringtree.measure.plan import PlannedLaunch, planned_launches
from ringtree.results import Plan
from ringtree.train import launch as launching
from ringtree.train.arms import ALONE

needs("transformers")
__all__ = ["forked_ranks"]
preload(*OF_A_TRAINING)

FORCED = "gloo@NCCL_ALGO=Tree"


def on_gpu(plan: Plan) -> Plan:
    """The plan as it would be if its arms were on GPUs."""
    return plan.model_copy(update={"boundary": "cuda"})


def test_arms_on_gpus_share_a_launch_unless_they_run_apart() -> None:
    asked: dict[str, Any] = {"arms": f"gloo,{FORCED}", "ranks": "2", "launches": 2}
    together = planned_launches(on_gpu(plan_of(**asked)))
    assert [[arm.label for arm in launch.arms] for launch in together] == [["gloo", FORCED, ALONE]] * 2
    under_agents = planned_launches(on_gpu(plan_of(**asked, agents=[0, 0])))  # which have one environment at a time
    assert sorted(len(launch.arms) for launch in under_agents) == [1, 1, 2, 2]
    for apart in (plan_of(**asked, apart=True), plan_of(**asked, command=("python", "x.py"), metric="(.*)")):
        launches = planned_launches(on_gpu(apart))
        assert all(len(launch.arms) == 1 for launch in launches)
        assert len(launches) == 2 * len(apart.arms)


def test_each_environment_has_processes_of_its_own(monkeypatch: pytest.MonkeyPatch) -> None:
    made: list[tuple[list[str], dict[str, str]]] = []
    stop = RuntimeError("before anything starts")

    def note(set_ups: Any, spec: object, environment: dict[str, str], *_: object) -> None:
        made.append(([one.arm for one in set_ups], environment))

    def run_none(*_: object) -> None:
        raise stop

    monkeypatch.setattr(launching, "RankSet", note)
    monkeypatch.setattr(launching, "run_sets", run_none)
    plan = plan_of(arms=f"gloo,{FORCED}", ranks="2")
    with pytest.raises(RuntimeError, match=str(stop)):
        launching.run_training_launch(plan, PlannedLaunch(0, 0, tuple(plan.arms)), lambda _: None)
    assert made == [(["gloo", ALONE], {}), ([FORCED], {"NCCL_ALGO": "Tree"})]


@pytest.mark.torch
def test_a_launch_of_two_environments_trains_in_both(tmp_path: Path) -> None:
    pytest.importorskip("torch")
    plan = plan_of(models=str(mini_model(tmp_path)), arms=f"gloo,{FORCED}", ranks="2", sequence=16)
    seen: list[str] = []
    say: Callable[[object], None] = lambda told: seen.append(str(told))  # noqa: E731
    pids, cells = launching.run_training_launch(plan, PlannedLaunch(0, 0, tuple(plan.arms)), say)
    assert len(set(pids)) == 4
    assert [cell.arm for cell in cells] == ["gloo", FORCED, ALONE]
    assert all(cell.error is None for cell in cells), json.dumps([cell.error for cell in cells])
    losses = [cell.trained.losses for cell in cells[:2] if cell.trained is not None]
    assert losses[0] == losses[1]
