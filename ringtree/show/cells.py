"""Tables and lines on a terminal, and values from files in them.

For: what others may have written: no markup and no control character of it takes effect. Not for: text of our own.
"""

from __future__ import annotations

from collections.abc import Sequence

from rich import box
from rich.console import Console
from rich.table import Table
from rich.text import Text

from ringtree.show.printable import printable


def cell(value: object) -> Text:
    """Returns a value as a cell of a table: six digits of a float, nothing for null."""
    if value is None:
        return Text("")
    if isinstance(value, float):
        return Text(f"{value:.6g}")
    return Text(printable(str(value)))


def console_for_tables() -> Console:
    """Returns the console of standard output; where that is not a terminal, lines are as long as they need to be."""
    console = Console()
    return console if console.is_terminal else Console(width=10_000)


def plain_table(*left: str, right: Sequence[str] = (), title: Text | None = None) -> Table:
    """Returns a table with a rule below its head and columns that are not broken: those of words, those of numbers."""
    table = Table(title=title, title_justify="left", box=box.SIMPLE_HEAD, pad_edge=False, padding=(0, 1, 0, 0))
    for heading in left:
        table.add_column(heading, no_wrap=True)
    for heading in right:
        table.add_column(heading, justify="right", no_wrap=True)
    return table


def say(console: Console, line: str) -> None:
    """Prints a line as it is, however long, without control characters."""
    console.print(printable(line), markup=False, highlight=False, soft_wrap=True)
