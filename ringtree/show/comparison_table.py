"""The table of a comparison for a terminal, with the verdict before and what qualifies it around.

For: a row a size (and placement), a column an arm: median, interval and verdict in two lines; in full also busbw, share
of the limit, legend and notes. Not for: computing anything.

On a narrow terminal a cell's figures stand below each other, and arms that still don't fit go into further tables. No
disqualified cell is printed without its mark ✗; in full, ✓ says that every element was right on every rank in every
launch. Colours only repeat what the marks say, and rich leaves them out where the output is not a terminal.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial

from rich import box
from rich.console import Console
from rich.table import Table
from rich.text import Text

from ringtree.arms import is_native, kind_of
from ringtree.judge.comparison import MIXED, CellSummary, Comparison, Interval, SizeRow, Versus
from ringtree.judge.regression import regression_lines
from ringtree.judge.words import subject, verdict_lines
from ringtree.measure.collective_data import shape_of
from ringtree.measure.request import TEXTBOOK
from ringtree.show.effects_table import TITLE, effects_table
from ringtree.show.marks import MARKS
from ringtree.show.printable import printable
from ringtree.units import (
    count,
    format_change,
    format_change_range,
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
_MOST_TALL_ROWS = 12  # with more, intervals are left to the full output
_STYLES = {"faster": "green", "slower": "red", "equivalent": "cyan", "inconclusive": ""}


def print_comparison(console: Console, comparison: Comparison, verbose: bool = False) -> None:
    """Prints title, verdicts, what qualifies them and the table; `verbose`: with rates, shares, legend and notes."""
    short = not verbose and not _is_textbook(comparison)
    measured = comparison.simulated is None
    verified = measured and not any(cell.disqualified is not None for cell in comparison.cells)
    console.print(_text(title(comparison) + (", all results verified" if short and verified else ""), "bold"))
    for line in verdict_lines(comparison, short=True) if short and measured else comparison.verdicts:
        console.print(_text(line))
    if comparison.regression is not None:
        for line in regression_lines(comparison.regression):
            console.print(_text(line, "bold red" if comparison.regression.regressed else ""))
    for caveat in comparison.caveats:
        console.print(_text(f"note: {caveat}"))
    console.print()
    textbook = _is_textbook(comparison)
    for table in [textbook_table(comparison)] if textbook else comparison_tables(comparison, console.width, short):
        console.print(table)
    if comparison.effects:
        console.print()
        console.print(_text(TITLE, "bold"))
        console.print(effects_table(comparison))
    if not short:
        for line in legend(comparison, _is_wide(comparison, console.width)):
            console.print(_text(line, "dim"))
        console.print()
        for note in comparison.notes:
            console.print(_text(f"note: {note}"))
    if short:
        console.print(_text(f"all figures and notes: ringtree show {comparison.run_path} -v"), soft_wrap=True)
    console.print(_text(f"raw samples: {comparison.run_path}"), soft_wrap=True)


def title(comparison: Comparison) -> str:
    """One line: what was compared."""
    what = f"{subject(comparison.collective, comparison.op, comparison.dtype)}, {count(comparison.num_ranks, 'rank')}"
    emulated = (
        f", emulated {comparison.emulated.hosts}x{comparison.emulated.ranks_per_host}" if comparison.emulated else ""
    )
    if comparison.simulated is not None:
        return f"{what}, simulated: {comparison.simulated.called}"
    place = "called from C, out of place" if is_native(comparison.arms) else shape_of(comparison.collective).place
    return f"{what}, {place}, {count(comparison.num_launches, 'launch')}{emulated}"


def legend(comparison: Comparison, wide: bool) -> list[str]:
    """What the figures are, with the intervals' labels as they really are; `wide`: ratios have their interval."""
    rows = {(row.size_bytes, row.placement) for row in comparison.shown_rows()}
    shown = [cell for cell in comparison.cells if (cell.size_bytes, cell.placement) in rows]
    labels = sorted({cell.time.label for cell in shown if cell.time is not None})
    modelled = any(cell.predicted for cell in comparison.cells)
    limited = any(cell.share_of_limit is not None for cell in comparison.cells)
    lines = [
        (
            "a cell: "
            if comparison.simulated
            else f"a cell: median over launches, {' / '.join(labels) or 'no interval'}, "
        )
        + ("time, busbw" if comparison.simulated else "busbw")
        + (" (emulated)" if comparison.emulated else " (simulated)" if comparison.simulated else "")
        + (", share of the limit (copy rate and hand-off probed here; 100%: no call can be faster)" if limited else "")
        + (", sliced recurrence and how far the median is from it" if modelled else ""),
    ]
    if comparison.simulated is None:
        lines.append("✓ every element right on every rank in every launch   ✗ disqualified")
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


def comparison_tables(comparison: Comparison, width: int, short: bool = False) -> list[Table]:
    """Returns tables that fit into `width` columns; the arms are split over several if need be."""
    arms = [arm.label for arm in comparison.arms]
    wide = not short and _is_wide(comparison, width)
    groups: list[list[str]] = [[]]
    room = width - _SIZE_COLUMN
    for arm in arms:
        needed = max(_WIDE if wide else _NARROW, len(printable(arm))) + 1
        if needed > room and groups[-1]:
            groups.append([])
            room = width - _SIZE_COLUMN
        groups[-1].append(arm)
        room -= needed
    if not short:
        text = partial(_cell_text, wide=wide) if comparison.simulated is None else _simulated_cell
        return [_table(comparison, group, comparison.shown_rows(), text) for group in groups]
    rows = comparison.shown_rows()
    if len(rows) <= _MOST_TALL_ROWS:
        tall = partial(_short_cell, interval=comparison.simulated is None)
        return [_table(comparison, group, rows, tall, edge=False) for group in groups]
    of_placement = [
        [row for row in rows if row.placement == one] for one in dict.fromkeys(row.placement for row in rows)
    ]
    return [
        _table(comparison, group, same, _short_cell, same[0].placement, edge=False)
        for same in of_placement
        for group in groups
    ]


def _is_wide(comparison: Comparison, width: int) -> bool:
    return width >= _SIZE_COLUMN + sum(max(_WIDE, len(printable(arm.label))) + 1 for arm in comparison.arms)


def _is_textbook(comparison: Comparison) -> bool:
    return comparison.preset == TEXTBOOK and len(comparison.arms) == 2  # one of them may have been left out


def _table(
    comparison: Comparison,
    arms: Sequence[str],
    rows: Sequence[SizeRow],
    text: Callable[[CellSummary | None], Text],
    placement: str = "",
    edge: bool = True,
) -> Table:
    """`placement`: that of all rows, said in the heading instead of in each row."""
    table = Table(box=box.SIMPLE_HEAD, padding=(0, int(edge), 0, 0), pad_edge=False, show_edge=edge)
    table.add_column(_placement_name(placement) if placement else "size", justify="right", no_wrap=True)
    for arm in arms:
        table.add_column(_text(arm), justify="right", overflow="fold")
    for row in rows:
        name = Text(format_size(row.size_bytes)) if placement else _row_name(comparison, row)
        table.add_row(name, *(text(comparison.find(row.size_bytes, arm, row.placement)) for arm in arms))
    return table


def _placement_name(placement: str) -> str:
    return "mixed" if placement == MIXED else placement


def _row_name(comparison: Comparison, row: SizeRow) -> Text:
    if len(comparison.placements) == 1 or not row.placement:
        return Text(format_size(row.size_bytes))
    return _text(format_size(row.size_bytes)).append(f"\n{_placement_name(row.placement)}", "dim")


def _short_cell(cell: CellSummary | None, interval: bool = False) -> Text:
    """The verdict and the median; below them, the median's interval. That results are right is said above."""
    if cell is None or cell.disqualified is not None or cell.time is None:
        return _cell_text(cell, wide=False)
    found = mark(cell.versus_reference, wide=False)
    verdict = Text(found.plain.replace(" ", ""), style=found.style)
    first = Text(" ").join(part for part in (verdict, Text(format_time(cell.time.median))) if part.plain)
    return Text("\n").join([first, Text(_interval(cell.time))]) if interval else first


def _interval(time: Interval) -> str:
    return format_time_range(time.low, time.high) if time.num_launches > 1 else "1 launch"


def _cell_text(cell: CellSummary | None, wide: bool, marked: bool = True) -> Text:
    if cell is not None and cell.disqualified is not None:
        return Text("✗", style="bold red")
    if cell is None or cell.time is None or cell.busbw is None:
        return Text("–")
    interval = _interval(cell.time)
    rate = format_rate(cell.busbw) if cell.busbw > 0 else "–"  # a single rank has no bus
    share = "" if cell.share_of_limit is None else format_share(cell.share_of_limit)
    verdict = mark(cell.versus_reference, wide) if marked else Text()
    lines = [Text(f"{format_time(cell.time.median)} ✓")]
    if wide:
        lines[0].append(f"  {interval}")
        lines.append(Text(f"{rate}  {share} of limit" if share else rate))
    else:
        lines += [Text(interval), Text(rate)]
        verdict = Text("  ").join(part for part in (verdict, Text(share)) if part.plain)
    if cell.predicted:  # a cluster of one host has no link that could be modelled
        lines.append(Text(f"model {format_time(cell.predicted)} {cell.time.median / cell.predicted - 1:+.1%}"))
    lines += [verdict] if verdict.plain else []
    return Text("\n").join(lines)


def _simulated_cell(cell: CellSummary | None) -> Text:
    """No launches, no elements that were checked."""
    if cell is None or cell.time is None or cell.busbw is None:
        return Text("–")
    return Text(f"{format_time(cell.time.median)}\n{format_rate(cell.busbw) if cell.busbw > 0 else '–'}")


def mark(versus: Versus | None, wide: bool) -> Text:
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
        interval = format_factor_range(low, high) if claimed else format_change_range(low, high)
        text += f" ({interval})"
    return Text(text, style=_STYLES[versus.verdict])


def textbook_table(comparison: Comparison) -> Table:
    """Custom against library: a row a size, the speed-up of the library over the custom ring with its interval."""
    custom, library = comparison.arms[0].label, comparison.reference
    kind = kind_of(comparison.arms[1])
    whose = f" ({kind.whose})" if kind is not None and kind.whose else ""
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
