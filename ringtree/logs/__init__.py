"""Readers: what other people's benchmarks, logs and traces say, without believing it.

For: turning a file into tables of timings and facts, every number as it was printed. Not for: judging them
(ringtree.audit), measuring (ringtree.measure).
"""

from ringtree.logs.failures import FAILED, warns_of_failure
from ringtree.logs.importing import Imported, read_file, read_stream
from ringtree.logs.records import (
    IN_PLACE,
    NOT_STATED,
    OUT_OF_PLACE,
    Basis,
    Document,
    Fact,
    Format,
    Inference,
    Item,
    Printed,
    Row,
    RowReason,
    Side,
    Skipped,
    Table,
)

__all__ = [
    "FAILED",
    "IN_PLACE",
    "NOT_STATED",
    "OUT_OF_PLACE",
    "Basis",
    "Document",
    "Fact",
    "Format",
    "Imported",
    "Inference",
    "Item",
    "Printed",
    "Row",
    "RowReason",
    "Side",
    "Skipped",
    "Table",
    "read_file",
    "read_stream",
    "warns_of_failure",
]
