"""The table of a comparison for a terminal.

For: a row a size, a column an arm: median, interval, busbw, and whether it was verified. Not for: computing anything.

On a narrow terminal a cell's three figures stand below each other, and arms that still don't fit go into further
tables. No cell is printed without its mark: ✓ verified on every rank in every launch, ✗ disqualified.
"""

from __future__ import annotations

from collections.abc import Sequence

from rich import box
from rich.console import Console
from rich.table import Table
from rich.text import Text

from ringtree.backends import needs_torch
from ringtree.lab.request import TEXTBOOK
from ringtree.lab.summary import CellSummary, Comparison
from ringtree.lab.units import count, format_factor, format_rate, format_size, format_time, format_time_range
from ringtree.lab.words import executed_lines, fastest_line, verdict_lines

_NARROW, _WIDE, _SIZE_COLUMN = 12, 25, 8


def print_comparison(console: Console, comparison: Comparison) -> None:
    """Prints title, table, marks, verdict, notes and where the raw samples are."""
    if comparison.preset == TEXTBOOK and len(comparison.arms) == 2:  # one of them may have been left out
        tables = [textbook_table(comparison)]
    else:
        tables = comparison_tables(comparison, console.width)
    console.print(Text(title(comparison), style="bold"))
    for table in tables:
        console.print(table)
    for line in legend(comparison):
        console.print(Text(line, style="dim"))
    console.print()
    before, after = ([f"note: {note}" for note in notes] for notes in (comparison.caveats, comparison.notes))
    told = [*verdict_lines(comparison), *fastest_line(comparison), *executed_lines(comparison)]
    for line in [*before, *told, *after]:
        console.print(Text(line))
    console.print(Text(f"raw samples: {comparison.run_path}"), soft_wrap=True)


def title(comparison: Comparison) -> str:
    """One line: what was compared."""
    emulated = (
        f", emulated {comparison.emulated.hosts}x{comparison.emulated.ranks_per_host}" if comparison.emulated else ""
    )
    return (
        f"{comparison.collective} {comparison.op} {comparison.dtype}, {count(comparison.num_ranks, 'rank')}, in place, "
        f"{count(comparison.num_launches, 'launch')}{emulated}"
    )


def legend(comparison: Comparison) -> list[str]:
    """What the figures are, with the intervals' labels as they really are."""
    labels = sorted({cell.time.label for cell in comparison.cells if cell.time is not None})
    modelled = any(cell.predicted for cell in comparison.cells)
    lines = [
        f"a cell: median over launches, {' / '.join(labels) or 'no interval'}, busbw"
        + (" (emulated)" if comparison.emulated else "")
        + (", sliced recurrence and how far the median is from it" if modelled else ""),
        "✓ every element right on every rank in every launch   ✗ disqualified",
    ]
    ratios = sorted({cell.versus_reference.label for cell in comparison.cells if cell.versus_reference is not None})
    if comparison.preset == TEXTBOOK and ratios:
        lines.append(f"speed-up: time of custom over time of library, {' / '.join(ratios)}")
    return lines


def comparison_tables(comparison: Comparison, width: int) -> list[Table]:
    """Returns tables that fit into `width` columns; the arms are split over several if need be."""
    arms = [arm.label for arm in comparison.arms]
    wide = width >= _SIZE_COLUMN + sum(max(_WIDE, len(arm)) + 1 for arm in arms)
    groups: list[list[str]] = [[]]
    room = width - _SIZE_COLUMN
    for arm in arms:
        needed = max(_WIDE if wide else _NARROW, len(arm)) + 1
        if needed > room and groups[-1]:
            groups.append([])
            room = width - _SIZE_COLUMN
        groups[-1].append(arm)
        room -= needed
    return [_table(comparison, group, wide) for group in groups]


def _table(comparison: Comparison, arms: Sequence[str], wide: bool) -> Table:
    table = Table(box=box.SIMPLE_HEAD, padding=(0, 1, 0, 0), pad_edge=False, show_lines=False)
    table.add_column("size", justify="right", no_wrap=True)
    for arm in arms:
        table.add_column(arm, justify="right", overflow="fold")
    for size_bytes in comparison.sizes:
        row = [_cell_text(comparison.cell(size_bytes, arm), wide) for arm in arms]
        table.add_row(format_size(size_bytes), *row)
    return table


def _cell_text(cell: CellSummary, wide: bool) -> Text:
    if cell.time is None or cell.busbw is None:
        return Text("✗", style="bold red")
    lines = [
        f"{format_time(cell.time.median)} ✓",
        format_time_range(cell.time.low, cell.time.high) if cell.time.num_launches > 1 else "1 launch",
        format_rate(cell.busbw) if cell.busbw > 0 else "–",  # a single rank has no bus
    ]
    if cell.predicted:  # a cluster of one host has no link that could be modelled
        lines.append(f"model {format_time(cell.predicted)} {cell.time.median / cell.predicted - 1:+.1%}")
    return Text("\n".join([f"{lines[0]}  {lines[1]}", *lines[2:]] if wide else lines))


def textbook_table(comparison: Comparison) -> Table:
    """Custom against library: a row a size, the speed-up of the library over the custom ring with its interval."""
    custom, library = comparison.arms[0].label, comparison.reference
    whose = "" if needs_torch(comparison.arms[1].name) else " (ringtree's engine)"
    table = Table(box=box.SIMPLE_HEAD, padding=(0, 1, 0, 0), pad_edge=False)
    for heading in ("size", f"custom: {custom}", f"library: {library}{whose}", "speed-up (library over custom)"):
        table.add_column(heading, justify="right", overflow="fold")
    for size_bytes in comparison.sizes:
        cells = [comparison.cell(size_bytes, label) for label in (custom, library)]
        table.add_row(format_size(size_bytes), *(_cell_text(cell, False) for cell in cells), _speed_up(cells[0]))
    return table


def _speed_up(custom: CellSummary) -> str:
    ratio = custom.versus_reference
    if ratio is None:
        return "–"
    if ratio.low is None or ratio.high is None:
        return f"{format_factor(ratio.ratio)}×\n1 launch, no interval"
    return f"{format_factor(ratio.ratio)}×\n{format_factor(ratio.low)}–{format_factor(ratio.high)}"
