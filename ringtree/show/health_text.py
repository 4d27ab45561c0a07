"""A check-up on a terminal: each table's verdict, its shape, what others reached, what to look at.

For: text. Not for: judging (ringtree.health).
"""

from __future__ import annotations

from collections.abc import Sequence

from rich.console import Console
from rich.table import Table
from rich.text import Text

from ringtree.health import HealthReport
from ringtree.health.records import CurveShape, FileHealth, Growth, SizeHealth, TableHealth, ToolsAgreement
from ringtree.health.words import rates
from ringtree.show.cells import plain_table, say
from ringtree.units import (
    count,
    format_factor,
    format_rate,
    format_share,
    format_size,
    format_time,
    format_time_range,
)

_MAX_ROWS = 12


def print_health(console: Console, report: HealthReport) -> None:
    """Prints the files, then what they tell together."""
    for file in report.files:
        if not file.tables:
            say(console, f"{file.file}: no table of timings to check")
        for table in file.tables:
            _print_table(console, table)
        _print_steps(console, file)
    for growth in report.growth:
        say(console, _growth(growth))
    for tools in report.tools:
        _print_tools(console, tools)


def _print_table(console: Console, table: TableHealth) -> None:
    where = f"{table.file}, line {table.line}" if table.line else table.file
    what = [table.collective or "unnamed collective", count(table.num_ranks, "rank") if table.num_ranks else "ranks ?"]
    say(console, f"{where}: {', '.join(what)}: {table.verdict.value}")
    say(console, f"  {table.because}")
    if table.shape is not None:
        for line in _shape(table.shape):
            say(console, f"  {line}")
    for band in table.bands:
        logs = f"{count(band.num_logs, 'log')} here" + ("; a single log has no spread" if band.num_logs == 1 else "")
        say(
            console,
            f"  {band.band} sizes: {format_share(band.share)} of what others reached, at least "
            f"{format_share(band.enough)} expected ({logs}; logs of alike machines differ by "
            f"{format_share(band.spread)})",
        )
    if table.sizes and (table.limit or table.bands):
        console.print(_sizes(table.sizes))
    for one in table.references:
        library = f", {one.library}" if one.library else ""
        say(console, f"  compared with: {one.system}{library}: {one.source}")


def _shape(shape: CurveShape) -> list[str]:
    top = f"{format_rate(shape.plateau)} busbw at {format_size(shape.plateau_at)}"
    plateau = f"plateau {top}, 90% of it from {format_size(shape.saturation)} on"
    floor = "no floor: no size is small enough to be latency"
    if shape.floor is not None and shape.floor_sizes is not None:
        least, most = (format_size(size) for size in shape.floor_sizes)
        floor = f"floor {format_time(shape.floor)} ({least} to {most})"
    lines = [f"{floor}, {f'no plateau: {top}, which may still rise' if shape.rising else plateau}"]
    if shape.fit is not None:
        fit = shape.fit
        low, high = fit.alpha_interval
        slow, fast = fit.rate_interval
        between = f"{format_rate(slow)} or more" if fast is None else rates(slow, fast)
        alpha = (
            f"α {format_time(fit.alpha)} ({format_time_range(low, high)})"
            if low > 0
            else "α not distinguishable from 0"
        )
        alpha = alpha if shape.floor is not None else "α not measured"  # without small sizes it is a guess
        lines.append(
            f"{alpha}, β 1 / {format_rate(fit.rate)} of size ({between}); off by up to {format_share(fit.worst)}"
        )
    return lines


def _sizes(sizes: Sequence[SizeHealth]) -> Table:
    table = plain_table(right=("size", "time", "busbw", "others reached", "of theirs", "of the limit", "logs"))
    step = -(-len(sizes) // _MAX_ROWS)
    for one in [*sizes[::-1][::step]][::-1]:
        reached = "" if one.reached is None else rates(one.reached[0], one.reached[2])
        table.add_row(
            format_size(one.size_bytes),
            format_time(one.seconds),
            format_rate(one.busbw),
            Text(reached),
            format_share(one.share_of_reached) if one.share_of_reached is not None else "",
            format_share(one.share_of_limit) if one.share_of_limit is not None else "",
            str(one.num_logs or ""),
        )
    return table


def _print_steps(console: Console, file: FileHealth) -> None:
    for one in file.symptoms:
        say(console, f"  in this log: {one.says}; look at {one.look_at}")
    for step in file.next_steps:
        say(console, f"  next: {step}")


def _growth(growth: Growth) -> str:
    floors = ", ".join(f"{hosts}: {_times(*seconds)}" for hosts, seconds in growth.floors.items())
    return (
        f"latency of {growth.collective} over hosts of {count(growth.ranks_per_host, 'rank')} ({floors}): "
        f"{growth.verdict}: {growth.because}"
    )


def _print_tools(console: Console, tools: ToolsAgreement) -> None:
    question = f"{tools.collective}, {count(tools.num_ranks, 'rank')}"
    say(console, f"{tools.first} and {tools.second}, {question}: {tools.verdict}")
    for line in tools.differences:
        say(console, f"  {line}")
    table = plain_table(right=("size", "busbw of the first", "of the second", "time of the second over the first"))
    for one in tools.sizes:
        table.add_row(
            format_size(one.size_bytes), format_rate(one.first), format_rate(one.second), format_factor(one.ratio)
        )
    console.print(table)


def _times(low: float, high: float) -> str:
    return format_time(low) if low == high else format_time_range(low, high)
