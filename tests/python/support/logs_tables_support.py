"""Short ways to read a log that stands in a test, and to look at what came of it.

For: tests of the readers of tables (test_logs_*.py). Not for: the collected logs (logs_support.py).
"""

from __future__ import annotations

import io
from textwrap import dedent

from ringtree.logs import Imported, Row, Side, Table, read_stream

FORMATS = frozenset(
    (
        "osu",
        "imb",
        "gloo_benchmark",
        "param_comms",
        "deepspeed_benchmark",
        "deepspeed_comms_logger",
        "all_reduce_bench",
        "markdown",
        "csv",
        "aiconfigurator",
    )
)


def read_text(text: str, name: str = "test.txt") -> Imported:
    """Reads a text whose common indentation counts for nothing."""
    return read_stream(io.BytesIO(dedent(text).lstrip("\n").encode()), name)


def ours(imported: Imported) -> list[Table]:
    """Returns the tables of the formats that are tested here: files hold others, too."""
    return [table for table in imported.tables if table.format in FORMATS]


def only(imported: Imported) -> Table:
    """Returns the one table that there is."""
    assert len(imported.tables) == 1, [table.title for table in imported.tables]
    return imported.tables[0]


def side(row: Row) -> Side:
    """Returns the one side of a row."""
    assert len(row.sides) == 1
    return row.sides[0]


def texts(table: Table, name: str) -> list[str | None]:
    """Returns a column as it was printed: "time", "algbw", "busbw", or a name in `others`."""
    found: list[str | None] = []
    for row in table.rows:
        one = side(row)
        printed = getattr(one, name) if name in ("time", "algbw", "busbw") else dict(one.others).get(name)
        found.append(printed.text if printed is not None else None)
    return found


def sizes(table: Table) -> list[int | None]:
    """Returns the sizes of the rows."""
    return [row.size_bytes for row in table.rows]


def inferred(table: Table) -> dict[str, str]:
    """Returns what was concluded, by name."""
    return {one.what: one.value for one in table.inferences}


def skipped(imported: Imported) -> dict[str, int]:
    """Returns how many lines were skipped for which reason."""
    return {one.reason: one.num_lines for one in imported.skipped}
