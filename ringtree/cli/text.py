"""Values from files as cells of a table on a terminal.

For: what others may have written: no markup and no control character of it takes effect. Not for: text of our own.
"""

from __future__ import annotations

from rich.console import Console
from rich.text import Text

from ringtree.lab.printable import printable


def cell(value: object) -> Text:
    """Returns a value as a cell of a table: six digits of a float, nothing for null."""
    if value is None:
        return Text("")
    if isinstance(value, float):
        return Text(f"{value:.6g}")
    return Text(printable(str(value)))


def console_for_tables() -> Console:
    """Returns the console of standard output; where that is no terminal, lines are as long as they need to be."""
    console = Console()
    return console if console.is_terminal else Console(width=10_000)
