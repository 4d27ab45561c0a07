"""Prints a stored run as a Markdown page for docs/benchmarks: what was run, on what, the table.

    python tools/benchmark_page.py TITLE runs/<id> > docs/benchmarks/<name>.md

For: `make bench-*`, which measure. Not for: conclusions, which people write, in docs/benchmarks/index.md.
"""

from __future__ import annotations

import sys
from pathlib import Path

from ringtree.lab.summary import CellSummary, Comparison, summarise
from ringtree.lab.units import format_rate, format_size, format_time, format_time_range
from ringtree.results import Run, read_run


def page(title: str, run_path: Path) -> str:
    """The page of one run. Raises UsageError if it is not a stored run."""
    stored = read_run(run_path)
    comparison = summarise(stored)
    lines = [f"# {title}", "", *provenance(stored.run, comparison), "", *table(comparison), "", legend(comparison), ""]
    lines += [f"- {note}" for note in [*comparison.caveats, *comparison.notes]]
    return "\n".join(lines).rstrip() + "\n"


def provenance(run: Run, comparison: Comparison) -> list[str]:
    """Date, command, machine and versions; no host name, no path."""
    origin = run.provenance
    versions = ", ".join(f"{name} {version}" for name, version in origin.versions.items() if version is not None)
    arguments = " ".join(argument for argument in origin.command[1:])
    load = ", ".join(f"{value:.1f}" for value in origin.load_average)
    return [
        f"- date: {run.created_utc}",
        f"- command: `ringtree {arguments}`",
        f"- machine: {origin.cpu_model}, {len(origin.affinity)} cores (shared, virtual), "
        f"{origin.memory_bytes >> 30} GiB, Linux {origin.kernel}; load average at the start {load}",
        f"- versions: {versions}; commit {origin.git_commit or 'unknown'}",
        f"- {comparison.num_ranks} ranks, {comparison.num_launches} launches, seed {comparison.seed}; "
        f"{comparison.collective}, {comparison.op}, {comparison.dtype}, in place; every cell verified on every rank",
    ]


def table(comparison: Comparison) -> list[str]:
    """A row a size, a column an arm."""
    labels = [arm.label for arm in comparison.arms]
    rows = ["| size | " + " | ".join(labels) + " |", "|---:|" + "---:|" * len(labels)]
    for size in comparison.sizes:
        cells = [cell_text(comparison.cell(size, label)) for label in labels]
        rows.append(f"| {format_size(size)} | " + " | ".join(cells) + " |")
    return rows


def cell_text(cell: CellSummary) -> str:
    """Median, interval, busbw and, emulated, the model's time; the reason if the arm was disqualified."""
    if cell.time is None or cell.busbw is None:
        return f"disqualified: {cell.disqualified}"
    parts = [format_time(cell.time.median), f"({format_time_range(cell.time.low, cell.time.high)})"]
    if cell.predicted is None:
        return " ".join([*parts, format_rate(cell.busbw)])
    return " ".join(
        [*parts, f"model {format_time(cell.predicted)}", f"**{cell.time.median / cell.predicted - 1:+.1%}**"]
    )


def legend(comparison: Comparison) -> str:
    """What stands in a cell."""
    labels = sorted({cell.time.label for cell in comparison.cells if cell.time is not None})
    last = "the sliced recurrence and how far the median is from it" if comparison.emulated else "busbw"
    return f"A cell: median over launches ({' / '.join(labels)}), {last}."


if __name__ == "__main__":
    print(page(sys.argv[1], Path(sys.argv[2])), end="")
