"""Helpers of the tests of trainings: a model of a few thousand parameters, and runs whose figures are known.

For: configurations and hand-made records. Not for: assertions.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

from comparison_support import stored_run
from forked import OF_TORCH
from lab_support import make_cell, make_launch, make_visits

from ringtree.results import Cell, Launch, Plan, StoredRun, TrainedCell
from ringtree.train.arms import ALONE
from ringtree.train.request import make_plan
from ringtree.train.request_record import TrainRequest

MINI = {
    "model_type": "qwen2",
    "hidden_size": 16,
    "intermediate_size": 32,
    "num_hidden_layers": 2,
    "num_attention_heads": 2,
    "num_key_value_heads": 1,
    "vocab_size": 64,
}
# What a rank of a training imports, in four seconds.
OF_A_TRAINING = (*OF_TORCH, "transformers.models.qwen2.modeling_qwen2", "ringtree.train.program")
ROUNDS = 5  # of hand-made cells, a step each


def mini_model(folder: Path, name: str = "mini") -> Path:
    """Writes a configuration; returns its folder."""
    path = folder / name
    path.mkdir()
    (path / "config.json").write_text(json.dumps(MINI))
    return path


def training_cell(plan: Plan, arm: str, model: int, times: list[list[float]], losses: list[list[float]]) -> Cell:
    """A cell of these times by rank and step; every tenth of a step is input."""
    size = plan.sizes[model].size_bytes
    inputs = [[seconds / 10 for seconds in of_rank] for of_rank in times]
    trained = TrainedCell(losses=losses, input_seconds=inputs, peak_bytes=[1 << 20] * len(times))
    visits = make_visits(len(times[0]), handoff=None)
    return make_cell(arm, size, 0.0, times=times, visits=visits, trained=trained.model_dump())


def training_run(plan: Plan, seconds: Callable[[int, str, int, str, int], float], losses: float = 4.0) -> StoredRun:
    """A run in which `seconds(block, model, ranks, arm, rank)` is each step of a rank, without communication too."""
    assert plan.training is not None
    launches: list[Launch] = []
    for block in range(plan.num_launches):
        for workload, (model, ranks) in enumerate(plan.workloads):
            name = plan.training.models[model].name
            cells = []
            for arm in plan.arms:
                times = [[seconds(block, name, ranks, arm.label, rank)] * ROUNDS for rank in range(ranks)]
                same = [] if arm.label == ALONE else [[losses] * ROUNDS] * ranks
                cells.append(training_cell(plan, arm.label, model, times, same))
            launches.append(make_launch(len(launches), cells, block=block, workload=workload))
    return stored_run(plan, launches)


def plan_of(**asked: object) -> Plan:
    """The plan of a request, seed 1."""
    return make_plan(TrainRequest(**{"seed": 1, **asked}))  # type: ignore[arg-type]
