"""About how long a training's plan takes, before any step of it was timed.

For: `ringtree train --dry-run`, and the progress bar's first guess. Not for: anything that is measured.

A step is taken to compute 6 floating-point operations for each parameter that a token meets and each token, at the
rates below: what one core of a 2-core virtual machine reached in float32 (2026-11), and half of what an H100 is sold
with. It can be off by a factor of three, and is printed as "about". Nothing is printed of models far larger than those
that were timed, nor of GPUs, nor of scripts (is_guessable).
"""

from __future__ import annotations

import os
from dataclasses import dataclass

from ringtree.language_models import num_in_experts
from ringtree.measure.plan import by_environment, planned_launches
from ringtree.results import ON_GPU, Plan, TrainedModel

_FLOPS = {False: 1.5e10, True: 4e14}
_START_A_RANK = 5.0  # seconds of a core: PyTorch and transformers are imported
_OVERHEAD = 0.03  # seconds of a step, whatever the model
_LARGEST_GUESSED = 50e6  # parameters: those that were timed have up to 30 M


@dataclass(frozen=True)
class TrainingCost:
    """`seconds` of all launches one after the other; `rank_seconds`: each launch's times its ranks."""

    seconds: float
    rank_seconds: float
    num_launches: int


def is_guessable(plan: Plan) -> bool:
    """Returns whether training_cost() of the plan is worth printing where no step was timed."""
    training = plan.training
    assert training is not None, "it is a training's plan"
    small = all(0 < model.parameters <= _LARGEST_GUESSED for model in training.models)
    return small and not a_gpu(plan)


def training_cost(plan: Plan, seconds_per_step: float | None = None) -> TrainingCost:
    """Returns about what all launches take. `seconds_per_step`: of every arm; None: guessed from the model."""
    training = plan.training
    assert training is not None, "it is a training's plan"
    seconds = rank_seconds = 0.0
    launches = planned_launches(plan)
    for launch in launches:
        size, ranks = plan.workloads[launch.workload]
        steps = training.num_warm_up + plan.sizes[size].max_rounds * plan.sizes[size].max_iterations
        a_core = 1.0 if plan.boundary in ON_GPU else max(1.0, ranks / len(os.sched_getaffinity(0)))
        starting = _START_A_RANK * a_core * len(by_environment(launch.arms))
        computing = step_operations(training.models[size], training.tokens_per_step) / _FLOPS[a_gpu(plan)]
        a_step = a_core * (_OVERHEAD + computing) if seconds_per_step is None else seconds_per_step
        own = starting + a_step * steps * len(launch.arms)
        seconds, rank_seconds = seconds + own, rank_seconds + own * ranks
    return TrainingCost(seconds, rank_seconds, len(launches))


def a_gpu(plan: Plan) -> bool:
    """Returns whether each rank has a GPU."""
    return plan.boundary in ON_GPU


def step_operations(model: TrainedModel, tokens: int) -> float:
    """Returns the floating-point operations of a step: of a mixture's experts each token meets some."""
    configuration, active = model.configuration, float(model.parameters)
    experts = configuration.get("num_local_experts", 0)
    if experts:
        one = num_in_experts(configuration) // experts
        active -= one * (experts - configuration.get("num_experts_per_tok", 2))
    return 6.0 * active * tokens
