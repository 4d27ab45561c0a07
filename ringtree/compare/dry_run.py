"""What a comparison would do, without doing it.

For: `--dry-run`: the plan, about how long it takes and what it costs. Not for: running anything.
"""

from __future__ import annotations

from rich import box
from rich.console import Console
from rich.table import Table
from rich.text import Text

from ringtree.judge.factors import design_line
from ringtree.judge.words import subject
from ringtree.measure.estimate import cell_seconds, cost_of
from ringtree.measure.plan import planned_launches, visit_order
from ringtree.results import Plan
from ringtree.units import count, format_duration, format_size


def print_plan(console: Console, plan: Plan) -> None:
    """Prints the plan for people."""
    cost = cost_of(plan)
    launches = planned_launches(plan)
    a_block = len(launches) // plan.num_launches
    arms = ", ".join(arm.label + (" (reference)" if arm.label == plan.reference else "") for arm in plan.arms)
    what = subject(plan.collective, plan.op, plan.dtype)
    console.print(Text(f"{what}, {count(plan.num_ranks, 'rank')}", style="bold"))
    console.print(Text(f"arms: {arms}"))
    for line in [] if plan.design is None else [f"design: {design_line(plan)}", *plan.design.notes]:
        console.print(Text(line))
    table = Table(box=box.SIMPLE_HEAD, padding=(0, 1, 0, 0), pad_edge=False)
    for heading in ("size", "launches", "rounds", "calls a batch", "seconds a launch"):
        table.add_column(heading, justify="right")
    for size in plan.sizes:
        seconds = f"{cell_seconds(plan, size.size_bytes) * len(plan.arms):.2g}"
        row = [format_size(size.size_bytes), size.num_launches, f"up to {size.max_rounds}", size.batch, seconds]
        table.add_row(*map(str, row))
    console.print(table)
    console.print(Text(f"seed {plan.seed}; margin {100 * plan.margin:g} %, level {100 * plan.level:g} %"))
    if a_block > 1:
        console.print(Text(f"{a_block} launches a block: some arms need an environment of their own"))
    first = ", ".join(f"{label} {format_size(size)}" for size, label in visit_order(plan, launches[0], 0)[:6])
    console.print(Text(f"the first launch begins with: {first}, …"))
    for what, why in plan.left_out.items():
        console.print(Text(f"left out: {what}: {why}"))
    if plan.time_budget is not None:
        console.print(
            Text(
                f"budget {format_duration(plan.time_budget)}: a pilot first, which decides how many launches each "
                "size gets; the table shows what all of them get"
            )
        )
    console.print(
        Text(
            f"about {format_duration(plan.time_budget or cost.seconds)} in {count(cost.num_launches, 'launch')}, "
            f"{(plan.time_budget or cost.seconds) * plan.num_ranks / 3600:.2g} rank-hours; nothing was run"
        )
    )
