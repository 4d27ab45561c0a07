"""A training's run, workload by workload, each as a run of its own that whoever knows runs can read.

For: the one place that takes a sweep over models and numbers of ranks apart, and disqualifies an arm that trained
another model. Not for: figures (training.py).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from ringtree.judge.losses import first_difference
from ringtree.results import Cell, Launch, StoredRun, TrainedModel


@dataclass(frozen=True)
class WorkloadRun:
    """What the run has of one model on one number of ranks. `stored`: with this size and these launches only."""

    model: TrainedModel
    num_ranks: int
    stored: StoredRun

    @property
    def size_bytes(self) -> int:
        """Returns what names its cells."""
        return self.stored.run.plan.sizes[0].size_bytes


def workload_runs(stored: StoredRun) -> list[WorkloadRun]:
    """Returns the workloads of a training, models as they were named, each with its numbers of ranks ascending."""
    plan = stored.run.plan
    training = plan.training
    if training is None:
        raise ValueError("it is not a training")
    found = []
    for number, (size, num_ranks) in enumerate(plan.workloads):
        model = training.models[size]
        own = training.model_copy(update={"models": [model], "world_sizes": [num_ranks]})
        less = plan.model_copy(update={"num_ranks": num_ranks, "sizes": [plan.sizes[size]], "training": own})
        launches = [launch for launch in stored.launches if launch.workload == number]
        run = stored.run.model_copy(update={"plan": less})
        view = replace(stored, run=run, launches=with_losses_checked(launches, plan.reference, model, own.precision))
        found.append(WorkloadRun(model, num_ranks, view))
    return found


def with_losses_checked(
    launches: Sequence[Launch], reference: str, model: TrainedModel, precision: str
) -> list[Launch]:
    """Returns the launches; a cell whose losses leave those of the reference, in the same block, has an error."""
    losses = {
        launch.block: cell.trained.losses
        for launch in launches
        for cell in launch.cells
        if cell.arm == reference and cell.error is None and cell.trained is not None
    }

    def checked(cell: Cell, block: int) -> Cell:
        if cell.error is not None or cell.trained is None or not cell.trained.losses or block not in losses:
            return cell
        wrong = first_difference(cell.trained.losses, losses[block], model, precision)
        return cell if wrong is None else cell.model_copy(update={"verified": False, "error": wrong})

    return [
        launch.model_copy(update={"cells": [checked(cell, launch.block) for cell in launch.cells]})
        for launch in launches
    ]
