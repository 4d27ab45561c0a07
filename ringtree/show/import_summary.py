"""What was read from a file, on a terminal.

For: one line a table, facts by kind, what was skipped and what was concluded. Not for: rows (`--json` has them).

What stands in files may be anything, also escape sequences: nothing of it reaches the terminal as it is.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field

from rich.console import Console
from rich.table import Table as RichTable

from ringtree.logs import Imported, Item, Table
from ringtree.show.cells import cell, plain_table, say
from ringtree.units import format_size

_MAX_TABLES, _MAX_INFERENCES, _MAX_EXAMPLES, _MAX_TEXT = 40, 20, 2, 100
_COLUMNS = ("lines", "of", "collective", "ranks", "hosts", "rows", "sizes", "library", "forced", "end")


@dataclass
class Overview:
    """What is kept of a file's items: one line of each of the first tables, and counts."""

    name: str
    num_items: int = 0
    num_tables: int = 0
    num_rows: int = 0
    formats: Counter[str] = field(default_factory=Counter)
    kinds: Counter[str] = field(default_factory=Counter)
    lines: list[tuple[object, ...]] = field(default_factory=list)
    inferences: Counter[tuple[str, str, str]] = field(default_factory=Counter)

    def add(self, item: Item) -> None:
        """Takes an item and keeps no rows of it."""
        self.num_items += 1
        self.formats[item.format] += 1
        if len(self.inferences) < _MAX_INFERENCES:
            self.inferences.update((each.what, each.value, each.because) for each in item.inferences)
        if not isinstance(item, Table):
            self.kinds[item.kind] += 1
            return
        self.num_tables += 1
        self.num_rows += len(item.rows)
        if len(self.lines) < _MAX_TABLES:
            self.lines.append(_line(item))


def print_overview(console: Console, overview: Overview, imported: Imported, stored: str | None) -> None:
    """Prints what was read, what was not, and as what it was `stored`."""
    size = f"{imported.num_lines:,} lines" if imported.num_lines else f"{imported.num_bytes:,} bytes"
    formats = ", ".join(overview.formats) or "nothing that a reader knows"
    say(console, f"{overview.name}: {formats}; {size}")
    if overview.lines:
        console.print(_tables(overview))
    if overview.num_tables > len(overview.lines):
        say(console, f"… {overview.num_tables:,} tables with {overview.num_rows:,} rows in all")
    for kind, count in overview.kinds.items():
        say(console, f"fact: {kind}" + (f" × {count:,}" if count > 1 else ""))
    for (what, value, because), count in list(overview.inferences.items())[:_MAX_INFERENCES]:
        times = f" ({count:,} times)" if count > 1 else ""
        say(console, f"concluded: {what} {value}{times}: {because}")
    for skipped in imported.skipped:
        lines = "1 line" if skipped.num_lines == 1 else f"{skipped.num_lines:,} lines"
        say(console, f"skipped: {lines}: {skipped.reason}")
        for number, text in skipped.examples[:_MAX_EXAMPLES]:
            say(console, f"  {number}: {text[:_MAX_TEXT]}")
    if stored is not None:
        say(console, f"stored as {stored}")
    say(console, "")


def _tables(overview: Overview) -> RichTable:
    shown = [index for index in range(len(_COLUMNS)) if any(line[index] not in ("", None) for line in overview.lines)]
    table = plain_table()
    for index in shown:
        table.add_column(
            _COLUMNS[index], no_wrap=True, justify="right" if _COLUMNS[index] in ("ranks", "rows") else "left"
        )
    for line in overview.lines:
        table.add_row(*(cell(line[index]) for index in shown))
    return table


def _line(table: Table) -> tuple[object, ...]:
    sizes = [row.size_bytes for row in table.rows if row.size_bytes is not None]
    library = " ".join(part for part in (table.library, table.library_version) if part)
    return (
        f"{table.first_line}–{table.last_line}" if table.last_line else "",
        " ".join(part for part in (table.job, table.title) if part)[:_MAX_TEXT],
        table.collective,
        table.num_ranks,
        table.num_hosts,
        len(table.rows),
        " to ".join(dict.fromkeys((format_size(min(sizes)), format_size(max(sizes))))) if sizes else "",
        library,
        "/".join(part for part in (table.algorithm, table.protocol) if part),
        _end(table),
    )


def _end(table: Table) -> str:
    if table.continued:
        return "goes on"
    if table.out_of_bounds_okay is False:
        return f"FAILED, {table.num_out_of_bounds} out of bounds"
    return {True: "whole", False: "no totals", None: ""}[table.complete]
