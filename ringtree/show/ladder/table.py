"""A ladder for a terminal: a table a size, reasons and what qualifies it around.

For: layout. Not for: sentences (words.py), or computing anything.
"""

from __future__ import annotations

from rich import box
from rich.console import Console
from rich.table import Table
from rich.text import Text

from ringtree.explain.ladder_record import Effect, Ladder, PanelRecord, RungRecord, TakingRecord
from ringtree.judge.comparison import Interval
from ringtree.show.ladder.words import called, headline, story
from ringtree.show.marks import MARKS
from ringtree.show.printable import printable
from ringtree.units import (
    count,
    format_factor,
    format_factor_range,
    format_margin,
    format_time,
    format_time_range,
)

DIFFER, ALIKE = "≠", "="


def print_ladder(console: Console, ladder: Ladder) -> None:
    """Prints title, caveats, the tables, what their marks mean, and where the raw samples are."""
    console.print(_text(title(ladder), "bold"))
    for caveat in ladder.caveats:
        console.print(_text(f"note: {caveat}"))
    for panel in ladder.panels:
        console.print()
        console.print(_text(headline(panel), "bold"))
        for line in story(panel):
            console.print(_text(line))
        table, reasons = panel_table(panel)
        console.print(table)
        for number, reason in enumerate(reasons, 1):
            console.print(_text(f"({number}) {reason}", "dim"))
    console.print()
    for line in legend(ladder):
        console.print(_text(line, "dim"))
    console.print(_text(f"raw samples: {ladder.run_path}"), soft_wrap=True)


def title(ladder: Ladder) -> str:
    """One line: what was measured."""
    return (
        f"{ladder.collective} {ladder.op} {ladder.dtype}, {count(ladder.num_ranks, 'rank')}, {called(ladder)}, "
        f"{count(ladder.num_launches, 'launch')}"
    )


def panel_table(panel: PanelRecord) -> tuple[Table, list[str]]:
    """Returns the table of one size, and the reasons that its marks number."""
    table = Table(box=box.SIMPLE_HEAD, padding=(0, 1, 0, 0), pad_edge=False)
    table.add_column(_text("changed, runs"))
    for heading in ("time", "faster\nthan below", "worth\nat the top", "differ"):
        table.add_column(_text(heading), justify="right", no_wrap=True)
    reasons: list[str] = []
    of_key = {taking.key: taking for taking in panel.takings}
    for rung in panel.rungs:
        taking = of_key.pop(rung.key, None)
        table.add_row(
            _named(rung.title, rung.arm, rung.executed),
            _time(rung.time),
            _step(rung, reasons),
            *_worth(taking, reasons),
        )
    for taking in of_key.values():  # what the ladder has no rung for
        table.add_row(
            _named(f"at the top: {taking.title}", taking.arm, taking.executed),
            _time(taking.time),
            "",
            *_worth(taking, reasons),
        )
    return table, reasons


def legend(ladder: Ladder) -> list[str]:
    """What the columns are, with the intervals' labels as they really are."""
    steps = [rung.step for panel in ladder.panels for rung in panel.rungs if rung.step is not None]
    labels = sorted({step.label for step in steps})
    taken = [taking for panel in ladder.panels for taking in panel.takings if taking.arm is not None]
    without = ", ".join(dict.fromkeys(f"{taking.title} ({taking.arm})" for taking in taken)) or "nothing"
    within = format_margin(ladder.margin)
    return [
        "time: median over launches and its interval; every element was right on every rank in every launch",
        f"factors: geometric mean over launches of paired ratios, {' / '.join(labels) or 'no interval'}; ▲ faster, "
        f"▼ slower, = within ±{within}, ? inconclusive; the verdicts of all factors hold together",
        f"worth at the top: time of {ladder.top} without this one thing, over its time with it; without: {without}",
        f"differ: step over worth; {DIFFER} shown to differ (the effects interact), {ALIKE} the same within ±{within}",
        f"floor: {ladder.floor_formula}",
        f"pilot {ladder.pilot} decided what is measured at each size; --picture draws this",
    ]


def _named(title: str, arm: str | None, executed: str | None) -> Text:
    """What was changed, and below it what ran: the arm, and what that did if its name does not say it."""
    lines = [_text(title)]
    if arm is not None:
        lines.append(_text(f"  {arm}", "dim"))
    if arm is not None and executed is not None and executed not in arm:
        lines.append(_text(f"  ran {executed}", "dim"))
    return Text("\n").join(lines)


def _time(interval: Interval | None) -> Text:
    if interval is None:
        return Text("–")
    spread = format_time_range(interval.low, interval.high) if interval.num_launches > 1 else "1 launch"
    return Text(f"{format_time(interval.median)}\n{spread}")


def _step(rung: RungRecord, reasons: list[str]) -> Text:
    if rung.step is None:
        return _text("" if rung.why is None else _reason(rung.why, reasons))
    return _marked(MARKS[rung.step.verdict], rung.step)


def _worth(taking: TakingRecord | None, reasons: list[str]) -> tuple[Text, Text]:
    if taking is None:
        return Text(""), Text("")
    if taking.worth is None:
        return _text("–" if taking.why is None else _reason(taking.why, reasons)), Text("")
    both = taking.interaction
    differ = Text("")
    if both is not None:
        differ = _marked({"equivalent": ALIKE, "inconclusive": "?"}.get(both.verdict, DIFFER), both)
    return _marked(MARKS[taking.worth.verdict], taking.worth), differ


def _reason(why: str, reasons: list[str]) -> str:
    if why not in reasons:
        reasons.append(why)
    return f"({reasons.index(why) + 1})"


def _marked(mark: str, effect: Effect) -> Text:
    """The factor, and its interval on a line of its own."""
    interval = [] if effect.low is None or effect.high is None else [format_factor_range(effect.low, effect.high)]
    return _text("\n".join([f"{mark} {format_factor(effect.factor)}×", *interval]))


def _text(line: str, style: str = "") -> Text:
    return Text("\n".join(printable(part) for part in line.split("\n")), style=style)
