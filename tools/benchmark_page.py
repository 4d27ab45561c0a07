"""Prints a stored run as a Markdown page for docs/benchmarks: what was run, on what, the table.

    python tools/benchmark_page.py TITLE runs/<id> > docs/benchmarks/<name>.md

For: `make bench-*`, which measure. Not for: conclusions, which people write, in docs/benchmarks/index.md.
"""

from __future__ import annotations

import sys
from pathlib import Path

from generated import machine_and_versions

from ringtree.judge.comparison import CellSummary, Comparison, SizeRow
from ringtree.judge.summary import summarise
from ringtree.results import Run, read_run
from ringtree.show.comparison_table import mark
from ringtree.units import (
    format_rate,
    format_share,
    format_size,
    format_time,
    format_time_range,
)


def page(title: str, run_path: Path) -> str:
    """The page of one run. Raises UsageError if it is not a stored run."""
    stored = read_run(run_path)
    comparison = summarise(stored)
    return "\n".join([f"# {title}", "", *provenance(stored.run, comparison), "", *body(comparison)]).rstrip() + "\n"


def body(comparison: Comparison) -> list[str]:
    """What the run says: verdicts, the table, what qualifies it."""
    lines = [*(f"- **{verdict}**" for verdict in comparison.verdicts), "", *table(comparison), "", legend(comparison)]
    return [*lines, "", *(f"- {note}" for note in [*comparison.caveats, *comparison.notes])]


def provenance(run: Run, comparison: Comparison) -> list[str]:
    """Date, command, machine and versions; no host name, no path."""
    origin = run.provenance
    return [
        f"- date: {run.created_utc}",
        f"- command: `ringtree {' '.join(origin.command[1:])}`",
        *machine_and_versions(origin),
        f"- {comparison.num_ranks} ranks, {comparison.num_launches} launches, seed {comparison.seed}; "
        f"{comparison.collective}, {comparison.op}, {comparison.dtype}, in place; every cell verified on every rank",
    ]


def table(comparison: Comparison) -> list[str]:
    """A row a size (and placement), a column an arm."""
    labels = [arm.label for arm in comparison.arms]
    rows = ["| size | " + " | ".join(labels) + " |", "|---:|" + "---:|" * len(labels)]
    for row in comparison.shown_rows():
        cells = [cell_text(comparison.find(row.size_bytes, label, row.placement)) for label in labels]
        rows.append(f"| {row_name(comparison, row)} | " + " | ".join(cells) + " |")
    return rows


def row_name(comparison: Comparison, row: SizeRow) -> str:
    """The size, with the placement where there are several."""
    return f"{format_size(row.size_bytes)} {row.placement if len(comparison.placements) > 1 else ''}".rstrip()


def cell_text(cell: CellSummary | None) -> str:
    """Median, interval, busbw, share of the limit and the verdict; emulated, the model's time instead of rates."""
    if cell is not None and cell.disqualified is not None:
        return f"disqualified: {cell.disqualified}"
    if cell is None or cell.time is None or cell.busbw is None:
        return "–"
    parts = [format_time(cell.time.median), f"({format_time_range(cell.time.low, cell.time.high)})"]
    if cell.predicted is not None:
        parts += [f"model {format_time(cell.predicted)}", f"**{cell.time.median / cell.predicted - 1:+.1%}**"]
    else:
        parts.append(format_rate(cell.busbw))
    if cell.share_of_limit is not None:
        parts.append(f"{format_share(cell.share_of_limit)} of limit")
    verdict = mark(cell.versus_reference, wide=True).plain
    parts += [verdict] if verdict else []
    return " ".join(parts)


def legend(comparison: Comparison) -> str:
    """What stands in a cell."""
    labels = sorted({cell.time.label for cell in comparison.cells if cell.time is not None})
    last = "the sliced recurrence and how far the median is from it" if comparison.emulated else "busbw"
    return (
        f"A cell: median over launches ({' / '.join(labels)}), {last}, and against {comparison.reference}: ▲ faster, ▼ "
        f"slower by this factor, = equivalent within ±{100 * comparison.margin:g} %, ? inconclusive."
    )


if __name__ == "__main__":
    print(page(sys.argv[1], Path(sys.argv[2])), end="")
