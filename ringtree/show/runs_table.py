"""A comparison of runs on a terminal: what is shown first, then the sizes.

For: text. Not for: judging (ringtree.judge.runs).
"""

from __future__ import annotations

from rich.console import Console
from rich.table import Table
from rich.text import Text

from ringtree.judge.runs.runs_comparison import ComparedCell, ComparedSeries, RunsComparison
from ringtree.show.cells import plain_table, say
from ringtree.units import format_change, format_margin, format_size, format_time

NOISY = 4  # times that the faster one may change along the sizes


def print_runs(console: Console, comparison: RunsComparison) -> None:
    """Prints every pair of series: the verdict in a sentence, the table, crossovers, what else differs."""
    for series in comparison.series:
        say(console, title(series))
        if series.num_ranks is None:
            say(console, "neither log says how many ranks it had: they may not have run the same")
        for line in verdict_lines(series, comparison.margin):
            say(console, line)
        console.print(_table(series))
        for name, (before, after) in series.differing.items():
            say(console, f"note: they differ in {name}: {before or 'not stated'} and {after or 'not stated'}")
        say(console, "")
    for line in [*(f"not compared: {one}" for one in comparison.not_compared), *comparison.notes]:
        say(console, line)


def title(series: ComparedSeries) -> str:
    """Returns what is compared: "all_reduce, 8 ranks, float, out of place: b.log against a.log"."""
    what = [
        series.collective or "unnamed collective",
        f"{series.num_ranks} ranks" if series.num_ranks is not None else "ranks not stated",
        *(part for part in (series.dtype, series.op, series.place.replace("_", " ")) if part),
    ]
    names = [
        f"{name} ({label})" if label else name
        for name, label in ((series.other, series.label_other), (series.baseline, series.label_baseline))
    ]
    return f"{', '.join(what)}: {names[0]} against {names[1]}"


def verdict_lines(series: ComparedSeries, margin: float) -> list[str]:
    """Returns the findings in plain words, the worst first."""
    lines = []
    for verdict in ("slower", "faster"):
        cells = [cell for cell in series.cells if cell.verdict == verdict]
        if cells:
            sizes = ", ".join(format_size(cell.size_bytes) for cell in cells)
            lines.append(f"{verdict} by more than {format_margin(margin)}: {series.other} at {sizes}")
    single = [cell for cell in series.cells if cell.verdict == "single run"]
    if single:
        where = "" if len(single) == len(series.cells) else f" at {len(single)} of {len(series.cells)} sizes"
        lines.append(f"single run{where}: nothing can be claimed; another launch of the same may differ as much")
    wrong = [cell for cell in series.cells if cell.verdict == "wrong"]
    lines.extend(f"not compared at {format_size(cell.size_bytes)}: {cell.because}" for cell in wrong[:3])
    if len(wrong) > 3:
        lines.append(f"… and at {len(wrong) - 3} further sizes")
    if not lines:
        lines.append(f"no difference of more than {format_margin(margin)} is shown; that is not the same as equal")
    noisy = len(series.crossovers) > NOISY and not any(crossing.shown for crossing in series.crossovers)
    for crossing in [] if noisy else series.crossovers[:4]:
        certain = "shown at both ends" if crossing.shown else "not shown"
        lines.append(
            f"{crossing.first} is the faster one up to {format_size(crossing.below)}, {crossing.second} from "
            f"{format_size(crossing.above)}: {certain}"
        )
    if len(series.crossovers) > NOISY:
        lines.append(f"the faster one changes {len(series.crossovers)} times along the sizes: that is noise")
    return lines


def _table(series: ComparedSeries) -> Table:
    table = plain_table(right=("size", "baseline", "other", "difference", "interval", "launches"))
    table.add_column("verdict")
    for cell in series.cells:
        table.add_row(
            format_size(cell.size_bytes),
            format_time(cell.baseline),
            format_time(cell.other),
            format_change(cell.ratio),
            interval_words(cell),
            f"{cell.num_baseline}, {cell.num_other}",
            Text(cell.verdict),
        )
    return table


def interval_words(cell: ComparedCell) -> str:
    """Returns the interval of the ratio; in brackets, of single runs, the range of their iterations, or of what rates
    that were rounded say of the times that were derived from them."""
    if cell.low is not None and cell.high is not None:
        return f"{format_change(cell.low)} … {format_change(cell.high)}"
    if cell.spread is not None:
        return f"[{format_change(cell.spread[0])} … {format_change(cell.spread[1])}] of iterations"
    if cell.rounding is not None:
        return f"[{format_change(cell.rounding[0])} … {format_change(cell.rounding[1])}] by rounding"
    return ""
