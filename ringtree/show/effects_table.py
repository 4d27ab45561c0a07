"""The effects of a design's factors as a table: a row a size (and placement) and effect.

For: the terminal and the report, from the same texts. Not for: computing effects (ringtree.judge.factors), sentences
about them (ringtree.judge.factor_words).
"""

from __future__ import annotations

from rich import box
from rich.table import Table
from rich.text import Text

from ringtree.judge.comparison import Comparison, FactorEffect, Versus
from ringtree.show.marks import MARKS
from ringtree.show.printable import printable
from ringtree.stats import least_launches
from ringtree.units import format_change, format_change_range, format_size

TITLE = "Effects of the factors"


def headings(comparison: Comparison) -> list[str]:
    """Returns the table's headings; columns that would be empty are left out."""
    return [
        "size",
        *(["cores"] if len(comparison.placements) > 1 else []),
        "effect",
        "time",
        "interval",
        "verdict",
        *(["could equally be"] if _aliased(comparison) else []),
    ]


def effect_rows(comparison: Comparison) -> list[list[str]]:
    """Returns the table's rows as text, in the order of the headings; none without a design."""
    return [_row(comparison, one) for one in comparison.effects]


def effects_table(comparison: Comparison) -> Table:
    """Returns the table for a terminal: sizes are named once, and a line parts them."""
    table = Table(box=box.SIMPLE_HEAD, padding=(0, 1, 0, 0), pad_edge=False, show_edge=False)
    for heading in headings(comparison):
        numbers = heading in ("size", "time", "interval")
        table.add_column(heading, justify="right" if numbers else "left", overflow="fold", no_wrap=numbers)
    last: tuple[int, str] | None = None
    for one, texts in zip(comparison.effects, effect_rows(comparison), strict=True):
        place = (one.size_bytes, one.placement)
        if place == last:
            texts[0] = ""
        elif last is not None:
            table.add_section()
        last = place
        table.add_row(*(Text(printable(text)) for text in texts))
    return table


def _row(comparison: Comparison, one: FactorEffect) -> list[str]:
    versus = one.versus_reference
    return [
        format_size(one.size_bytes),
        *([one.placement] if len(comparison.placements) > 1 else []),
        one.effect,
        format_change(versus.ratio),
        _interval(versus),
        _verdict(versus),
        *([" or ".join(one.aliases)] if _aliased(comparison) else []),
    ]


def _interval(versus: Versus) -> str:
    if versus.low is None or versus.high is None:
        return "1 launch"
    return format_change_range(versus.low, versus.high)


def _verdict(versus: Versus) -> str:
    """The word, and what would decide an effect that is inconclusive."""
    least = least_launches(versus.level)
    if versus.num_launches < least:
        return f"? no verdict (at least {least} launches)"
    needs = ""
    if versus.verdict == "inconclusive":
        needed = versus.launches_needed
        needs = " (more than 1,000 launches)" if needed is None else f" (about {needed} launches)"
    return f"{MARKS[versus.verdict]} {versus.verdict}{needs}"


def _aliased(comparison: Comparison) -> bool:
    return any(one.aliases for one in comparison.effects)
