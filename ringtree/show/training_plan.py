"""What a training would do, without doing it.

For: `ringtree train --dry-run`: launches, about how long they take, and what they cost. Not for: running anything.
"""

from __future__ import annotations

from rich.console import Console
from rich.text import Text

from ringtree.measure.training_estimate import training_cost
from ringtree.results import ON_GPU, Plan
from ringtree.show.training_table import described
from ringtree.train.arms import lacking, parse_arm
from ringtree.units import count, format_duration


def print_training_plan(console: Console, plan: Plan) -> None:
    """Prints the plan for people."""
    training = plan.training
    assert training is not None, "it is a training's plan"
    arms = ", ".join(arm.label + (" (reference)" if arm.label == plan.reference else "") for arm in plan.arms)
    missing = {arm.label: why for arm in plan.arms if (why := lacking(parse_arm(arm.name))) is not None}
    steps = f"{training.num_warm_up} steps to warm up, then {plan.sizes[0].max_rounds * plan.sizes[0].max_iterations}"
    cost = training_cost(plan)
    hours, unit = cost.rank_seconds / 3600, "GPU-hours" if plan.boundary in ON_GPU else "rank-hours"
    models = (
        f"{model.name} ({model.parameters / 1e6:.3g} M parameters)" if model.parameters else model.name
        for model in training.models
    )
    for line in (
        described(training),
        f"models: {', '.join(models)}",
        f"ranks: {', '.join(map(str, training.world_sizes))}",
        f"arms: {arms}",
        *(f"left out: {what}: {why}" for what, why in plan.left_out.items()),
        *(f"not on this machine: {label}: {why}" for label, why in missing.items()),
        *(["whether all copies of the model fit there is not known; --apart needs less memory"] if missing else []),
        f"each launch: {steps} that count, of each arm; seed {plan.seed}; margin {100 * plan.margin:g} %",
        *([] if plan.time_budget is None else ["a pilot of one launch of everything decides how many fit"]),
        f"about {format_duration(plan.time_budget or cost.seconds)} in {count(cost.num_launches, 'launch')}, "
        f"{hours:.2g} {unit}" + ("" if training.price is None else f", {hours * training.price:.2f} in money")
        + " (guessed: no step was timed); nothing was run",
    ):  # fmt: skip
        console.print(Text(line), soft_wrap=True)
