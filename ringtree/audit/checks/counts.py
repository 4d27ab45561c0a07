"""Do size, count and type of a row agree?

For: size = count × bytes of an element, times the number of ranks for what is in blocks. Not for: rates.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from ringtree.audit.elements import element_bytes
from ringtree.audit.material import Subject
from ringtree.audit.records import Finding, Severity
from ringtree.audit.rule import Rule, TableCheck
from ringtree.audit.words import listed
from ringtree.logs import Row

DISAGREE = Rule(
    code="counts-disagree",
    severity=Severity.ERROR,
    title="size, count and type of a row do not agree",
    means="nccl-tests prints the size in bytes and the count of elements of one and the same buffer: size = count × "
    "bytes of the type, or that times the number of ranks. Here it is neither, or changes from row to row.",
    settles="the unedited output",
    example="1048576 B / (262148 × 4 B float) = 0.999985; the other rows: 1",
)


def check(subject: Subject) -> Iterator[Finding]:
    """Yields one finding for the rows whose quotient is not that of the others."""
    quotients: dict[Row, float] = {}
    for row in subject.table.rows:
        width = element_bytes(row.dtype)
        if width is not None and row.count and row.size_bytes:
            quotients[row] = row.size_bytes / (row.count * width)
    if not quotients:
        return
    usual, _ = Counter(quotients.values()).most_common(1)[0]
    known = usual == int(usual)
    wrong = [row for row, quotient in quotients.items() if quotient != usual or not known]
    if not wrong:
        return
    shown = [
        f"{row.size_bytes} B / ({row.count} × {element_bytes(row.dtype)} B {row.dtype}) = {quotients[row]:.6g}"
        for row in wrong
    ]
    yield DISAGREE.found(subject, f"{listed(shown, 2)}; the other rows: {usual:.6g}", wrong)


CHECK = TableCheck((DISAGREE,), check)
