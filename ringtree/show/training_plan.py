"""What a training would do, without doing it.

For: `ringtree train --dry-run`: launches, about how long they take, and what they cost. Not for: running anything.
"""

from __future__ import annotations

from rich.console import Console
from rich.text import Text

from ringtree.measure.training_estimate import is_guessable, training_cost
from ringtree.results import ON_GPU, Plan, TrainingPlan
from ringtree.show.training_table import described
from ringtree.train.arms import lacking, parse_arm
from ringtree.train.placement import fullest
from ringtree.units import count, format_duration, format_size


def print_training_plan(console: Console, plan: Plan, seconds_per_step: float | None = None) -> None:
    """Prints the plan for people. `seconds_per_step`: what its time is computed with; None: a guess, if any."""
    training = plan.training
    assert training is not None, "it is a training's plan"
    arms = ", ".join(arm.label + (" (reference)" if arm.label == plan.reference else "") for arm in plan.arms)
    in_script, ranks = training.strategy == "script", fullest(plan.hosts or [0] * plan.num_ranks)
    missing = {
        arm.label: why
        for arm in plan.arms
        if (why := lacking(parse_arm(arm.name), in_script, ranks, arm.environment)) is not None
    }
    steps = f"{training.num_warm_up} steps to warm up, then {plan.sizes[0].max_rounds * plan.sizes[0].max_iterations}"
    models = (
        f"{model.name} ({_millions(model.parameters)} M parameters)" if model.parameters else model.name
        for model in training.models
    )
    for line in (
        described(training),
        f"models: {', '.join(models)}",
        f"ranks: {', '.join(map(str, training.world_sizes))}",
        f"arms: {arms}",
        *(f"left out: {what}: {why}" for what, why in plan.left_out.items()),
        *(f"not on this machine: {label}: {why}" for label, why in missing.items()),
        *([_memory_elsewhere(training)] if missing and training.strategy != "script" else []),
        f"each launch: {steps} that count, of each arm; seed {plan.seed}; margin {100 * plan.margin:g} %",
        *([] if plan.time_budget is None else ["a pilot of one launch of everything decides how many fit"]),
        f"{_cost(plan, seconds_per_step)}; nothing was run",
    ):
        console.print(Text(line), soft_wrap=True)


def _cost(plan: Plan, seconds_per_step: float | None) -> str:
    """How long it takes, in rank-hours and money, or why nobody knows."""
    cost, training = training_cost(plan, seconds_per_step), plan.training
    assert training is not None, "it is a training's plan"
    launches = count(cost.num_launches, "launch")
    if plan.time_budget is not None:
        seconds, rank_seconds = plan.time_budget, plan.time_budget * plan.num_ranks
        about, basis = f"at most {format_duration(seconds)}", ""
    elif seconds_per_step is not None or is_guessable(plan):
        seconds, rank_seconds = cost.seconds, cost.rank_seconds
        about = f"about {format_duration(seconds)} in {launches}"
        basis = " (guessed: no step was timed)" if seconds_per_step is None else f" (at {seconds_per_step:g} s a step)"
    elif training.strategy == "script":
        return f"{launches}, each as long as the script takes"
    else:
        return (
            f"{launches}; their hours are not known, as no step like these was timed: run a pilot (--launches 1), or "
            "state what a step takes with --seconds-per-step"
        )
    hours, unit = rank_seconds / 3600, "GPU-hours" if plan.boundary in ON_GPU else "rank-hours"
    money = "" if training.price is None else f", {hours * training.price:.2f} in money"
    return f"{about}, {hours:.2g} {unit}{money}{basis}"


def _memory_elsewhere(training: TrainingPlan) -> str:
    largest = max(4 * model.parameters for model in training.models)
    return (
        "whether it fits there is not known: each rank first builds the whole model in float32, "
        f"{format_size(largest >> 20 << 20 or largest)}, and then has a copy for each arm; --apart needs less memory"
    )


def _millions(number: int) -> str:
    """Three digits, or all in front of the point: "1.02", "7,616"."""
    millions = number / 1e6
    return f"{millions:,.0f}" if millions >= 100 else f"{millions:.3g}"
