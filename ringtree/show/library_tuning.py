"""What tuning a library found, for people: a row a size, and what to deploy.

For: text. Not for: computing any of it (ringtree.tune.library).
"""

from __future__ import annotations

from rich.console import Console
from rich.text import Text

from ringtree.judge.comparison import Interval
from ringtree.show.cells import plain_table
from ringtree.show.marks import MARKS
from ringtree.show.printable import printable
from ringtree.tune.library.tuned import LibraryRules, TunedSize
from ringtree.units import count, format_factor, format_factor_range, format_size, format_time

OWN = "its own choice"


def print_library_rules(console: Console, found: LibraryRules) -> None:
    """Prints sizes, rules, and how to deploy them."""
    title = f"{found.arm}, {found.version}: {found.collective}, {count(found.num_ranks, 'rank')}, called from C"
    console.print(Text(printable(title), style="bold"))
    by_cores = any(one.placement for one in found.sizes)
    names = ["size", *(["cores"] if by_cores else []), "switch", OWN, "with rules", "faster", "in the rules"]
    table = plain_table(*names)
    for one in found.sizes:
        row = [format_size(one.size_bytes), *([one.placement] if by_cores else []), one.switch or OWN]
        table.add_row(*row, _time(one.default), _time(one.tuned), _gain(one), "yes" if one.kept else "no")
    console.print(table)
    for arm, why in found.left_out.items():
        console.print(Text(printable(f"left out: {arm}: {why}")))
    for line in _how(found):
        console.print(Text(printable(line)), soft_wrap=True)


def _how(found: LibraryRules) -> list[str]:
    if not found.rules:
        return [f"{found.arm}: no switch is shown to beat its own choice: nothing to deploy"]
    ruled = [f"{format_size(one.first)}–{format_size(one.last)} {one.switch}" for one in found.rules]
    return [
        f"rules: {'; '.join(ruled)}; elsewhere {OWN}",
        f"taken: {found.taken}",
        f"deploy: {found.file}",
        *(f"  export {name}='{value}'" for name, value in found.environment.items()),
    ]


def _time(interval: Interval | None) -> str:
    return "" if interval is None else format_time(interval.median)


def _gain(one: TunedSize) -> str:
    """Time without the rules over time with them, so above 1 they gain."""
    gain = one.gain
    if gain is None:
        return ""
    factor = f"{MARKS[gain.verdict]} {format_factor(1 / gain.ratio)}×"
    if gain.low is None or gain.high is None or gain.low <= 0:
        return factor
    return f"{factor} ({format_factor_range(1 / gain.high, 1 / gain.low)})"
