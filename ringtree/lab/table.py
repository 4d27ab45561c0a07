"""The table of a comparison for a terminal, with the verdict before and what qualifies it around.

For: a row a size (and placement), a column an arm: median, interval, busbw, share of the limit, verdict. Not for:
computing anything.

On a narrow terminal a cell's figures stand below each other, and arms that still don't fit go into further tables. No
cell is printed without its mark: ✓ verified on every rank in every launch, ✗ disqualified. Colours only repeat what the
marks say, and rich leaves them out where the output is no terminal.
"""

from __future__ import annotations

from collections.abc import Sequence

from rich import box
from rich.console import Console
from rich.table import Table
from rich.text import Text

from ringtree.backends import needs_torch
from ringtree.lab.comparison import MIXED, CellSummary, Comparison, Row, Versus
from ringtree.lab.printable import printable
from ringtree.lab.regression import regression_lines
from ringtree.lab.request import TEXTBOOK
from ringtree.lab.units import (
    count,
    format_change,
    format_factor,
    format_factor_range,
    format_margin,
    format_rate,
    format_share,
    format_size,
    format_time,
    format_time_range,
)

_NARROW, _WIDE, _SIZE_COLUMN = 12, 26, 8
MARKS = {"faster": "▲", "slower": "▼", "equivalent": "=", "inconclusive": "?"}
_STYLES = {"faster": "green", "slower": "red", "equivalent": "cyan", "inconclusive": ""}


def print_comparison(console: Console, comparison: Comparison) -> None:
    """Prints title, verdict, what qualifies it, table, marks, findings and where the raw samples are."""
    console.print(_text(title(comparison), "bold"))
    for line in comparison.verdicts:
        console.print(_text(line))
    if comparison.regression is not None:
        for line in regression_lines(comparison.regression):
            console.print(_text(line, "bold red" if comparison.regression.regressed else ""))
    for caveat in comparison.caveats:
        console.print(_text(f"note: {caveat}"))
    console.print()
    textbook = _is_textbook(comparison)
    for table in [textbook_table(comparison)] if textbook else comparison_tables(comparison, console.width):
        console.print(table)
    for line in legend(comparison, _is_wide(comparison, console.width)):
        console.print(_text(line, "dim"))
    console.print()
    for note in comparison.notes:
        console.print(_text(f"note: {note}"))
    console.print(_text(f"raw samples: {comparison.run_path}"), soft_wrap=True)


def title(comparison: Comparison) -> str:
    """One line: what was compared."""
    emulated = (
        f", emulated {comparison.emulated.hosts}x{comparison.emulated.ranks_per_host}" if comparison.emulated else ""
    )
    return (
        f"{comparison.collective} {comparison.op} {comparison.dtype}, {count(comparison.num_ranks, 'rank')}, in place, "
        f"{count(comparison.num_launches, 'launch')}{emulated}"
    )


def legend(comparison: Comparison, wide: bool) -> list[str]:
    """What the figures are, with the intervals' labels as they really are; `wide`: ratios have their interval."""
    rows = {(row.size_bytes, row.placement) for row in comparison.shown_rows()}
    shown = [cell for cell in comparison.cells if (cell.size_bytes, cell.placement) in rows]
    labels = sorted({cell.time.label for cell in shown if cell.time is not None})
    modelled = any(cell.predicted for cell in comparison.cells)
    limited = any(cell.share_of_limit is not None for cell in comparison.cells)
    lines = [
        f"a cell: median over launches, {' / '.join(labels) or 'no interval'}, busbw"
        + (" (emulated)" if comparison.emulated else "")
        + (", share of the limit (copy rate and hand-off probed here; 100%: no call can be faster)" if limited else "")
        + (", sliced recurrence and how far the median is from it" if modelled else ""),
        "✓ every element right on every rank in every launch   ✗ disqualified",
    ]
    ratios = sorted({cell.versus_reference.label for cell in comparison.cells if cell.versus_reference is not None})
    if ratios and _is_textbook(comparison):
        lines.append(f"speed-up: time of custom over time of library, {' / '.join(ratios)}")
    elif ratios:
        within = format_margin(comparison.margin)
        lines += [
            f"against {comparison.reference}: ▲ faster, ▼ slower by this factor (mean of the launches' ratios; the "
            f"verdict above names the range over its sizes), = equivalent within ±{within}, ? inconclusive: by how "
            "much the time as measured differs"
        ]
        if wide:
            lines.append(f"in brackets: {' / '.join(ratios)}, of that ratio alone; verdicts hold for all together")
    return lines


def comparison_tables(comparison: Comparison, width: int) -> list[Table]:
    """Returns tables that fit into `width` columns; the arms are split over several if need be."""
    arms = [arm.label for arm in comparison.arms]
    wide = _is_wide(comparison, width)
    groups: list[list[str]] = [[]]
    room = width - _SIZE_COLUMN
    for arm in arms:
        needed = max(_WIDE if wide else _NARROW, len(printable(arm))) + 1
        if needed > room and groups[-1]:
            groups.append([])
            room = width - _SIZE_COLUMN
        groups[-1].append(arm)
        room -= needed
    return [_table(comparison, group, wide) for group in groups]


def _is_wide(comparison: Comparison, width: int) -> bool:
    return width >= _SIZE_COLUMN + sum(max(_WIDE, len(printable(arm.label))) + 1 for arm in comparison.arms)


def _is_textbook(comparison: Comparison) -> bool:
    return comparison.preset == TEXTBOOK and len(comparison.arms) == 2  # one of them may have been left out


def _table(comparison: Comparison, arms: Sequence[str], wide: bool) -> Table:
    table = Table(box=box.SIMPLE_HEAD, padding=(0, 1, 0, 0), pad_edge=False, show_lines=False)
    table.add_column("size", justify="right", no_wrap=True)
    for arm in arms:
        table.add_column(_text(arm), justify="right", overflow="fold")
    for row in comparison.shown_rows():
        cells = [_cell_text(comparison.find(row.size_bytes, arm, row.placement), wide) for arm in arms]
        table.add_row(_row_name(comparison, row), *cells)
    return table


def _row_name(comparison: Comparison, row: Row) -> Text:
    if len(comparison.placements) == 1 or not row.placement:
        return Text(format_size(row.size_bytes))
    return _text(format_size(row.size_bytes)).append(f"\n{'mixed' if row.placement == MIXED else row.placement}", "dim")


def _cell_text(cell: CellSummary | None, wide: bool, marked: bool = True) -> Text:
    if cell is not None and cell.disqualified is not None:
        return Text("✗", style="bold red")
    if cell is None or cell.time is None or cell.busbw is None:
        return Text("–")
    interval = format_time_range(cell.time.low, cell.time.high) if cell.time.num_launches > 1 else "1 launch"
    rate = format_rate(cell.busbw) if cell.busbw > 0 else "–"  # a single rank has no bus
    share = "" if cell.share_of_limit is None else format_share(cell.share_of_limit)
    mark = _mark(cell.versus_reference, wide) if marked else Text()
    lines = [Text(f"{format_time(cell.time.median)} ✓")]
    if wide:
        lines[0].append(f"  {interval}")
        lines.append(Text(f"{rate}  {share} of limit" if share else rate))
    else:
        lines += [Text(interval), Text(rate)]
        mark = Text("  ").join(part for part in (mark, Text(share)) if part.plain)
    if cell.predicted:  # a cluster of one host has no link that could be modelled
        lines.append(Text(f"model {format_time(cell.predicted)} {cell.time.median / cell.predicted - 1:+.1%}"))
    lines += [mark] if mark.plain else []
    return Text("\n").join(lines)


def _mark(versus: Versus | None, wide: bool) -> Text:
    """The verdict and by how much: "▲ 1.31×"; with its interval where there is room."""
    if versus is None:
        return Text()
    claimed = versus.verdict in ("faster", "slower")
    # Turned for "faster" so that a larger factor is always a larger difference.
    ratio, low, high = versus.ratio, versus.low, versus.high
    if versus.verdict == "faster":
        ratio, low, high = 1 / ratio, high and 1 / high, low and 1 / low
    text = f"{MARKS[versus.verdict]} {format_factor(ratio) + '×' if claimed else format_change(ratio)}"
    if wide and low is not None and high is not None:
        interval = format_factor_range(low, high) if claimed else f"{format_change(low)} to {format_change(high)}"
        text += f" ({interval})"
    return Text(text, style=_STYLES[versus.verdict])


def textbook_table(comparison: Comparison) -> Table:
    """Custom against library: a row a size, the speed-up of the library over the custom ring with its interval."""
    custom, library = comparison.arms[0].label, comparison.reference
    whose = "" if needs_torch(comparison.arms[1].name) else " (ringtree's engine)"
    table = Table(box=box.SIMPLE_HEAD, padding=(0, 1, 0, 0), pad_edge=False)
    for heading in ("size", f"custom: {custom}", f"library: {library}{whose}", "speed-up (library over custom)"):
        table.add_column(_text(heading), justify="right", overflow="fold")
    for row in comparison.shown_rows():
        cells = [comparison.find(row.size_bytes, label, row.placement) for label in (custom, library)]
        texts = [_cell_text(cell, wide=False, marked=False) for cell in cells]
        table.add_row(_row_name(comparison, row), *texts, _speed_up(cells[0]))
    return table


def _speed_up(custom: CellSummary | None) -> str:
    versus = None if custom is None else custom.versus_reference
    if versus is None:
        return "–"
    if versus.low is None or versus.high is None:
        return f"{format_factor(versus.ratio)}×\n1 launch, no interval"
    return f"{format_factor(versus.ratio)}×\n{format_factor(versus.low)}–{format_factor(versus.high)}"


def _text(line: str, style: str = "") -> Text:
    return Text(printable(line), style=style)
