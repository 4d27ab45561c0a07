"""Tables as CSV, for spreadsheets and scripts.

For: how a value is written; units stand in the names of the columns, what is not known is empty. Not for: which columns
there are (comparison_csv.py, training_csv.py), or raw samples (`ringtree export`).
"""

from __future__ import annotations

import csv
import io
from collections.abc import Callable, Iterable, Mapping
from typing import TypeVar

from ringtree.show.printable import printable

SummaryT = TypeVar("SummaryT")
CellT = TypeVar("CellT")


def csv_text(
    columns: Mapping[str, Callable[[SummaryT, CellT], object]], summary: SummaryT, cells: Iterable[CellT]
) -> str:
    """Returns a header line and a line for each of `cells`, ended by a newline only. `columns`: a name -> its value."""
    target = io.StringIO()
    writer = csv.writer(target, lineterminator="\n")
    writer.writerow(columns)
    writer.writerows([_written(value_of(summary, cell)) for value_of in columns.values()] for cell in cells)
    return target.getvalue()


def _written(value: object) -> str:
    """Nothing for null, true or false, a float in full."""
    if value is None:
        return ""
    if isinstance(value, bool):
        return "true" if value else "false"
    return printable(value) if isinstance(value, str) else repr(value)
