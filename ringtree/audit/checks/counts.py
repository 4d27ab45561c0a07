"""Do size, count and type of a row agree?

For: size = count × bytes of an element, times the number of ranks for what is in blocks. Not for: rates.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from ringtree.audit.findings import Finding
from ringtree.audit.material import Subject
from ringtree.audit.rule import error, of_table
from ringtree.audit.words import listed
from ringtree.logs import Fact
from ringtree.logs.words import element_bytes
from ringtree.traits import WHOLE

DISAGREE = error("counts-disagree", "size, count and type of a row do not agree", "the unedited output")

_WHOLE = (*WHOLE, "send_recv")  # every rank has all of the size


@of_table(DISAGREE)
def check(subject: Subject) -> Iterator[Finding]:
    """Yields one finding for the rows whose quotient is not that of the others."""
    quotients = subject.quotients
    if not quotients:
        return
    usual, _ = Counter(quotients.values()).most_common(1)[0]
    known = usual == int(usual) and _is_of(subject, int(usual))
    wrong = [row for row, quotient in quotients.items() if quotient != usual or not known]
    if not wrong:
        return
    shown = [
        f"{row.size_bytes} B / ({row.count} × {element_bytes(row.dtype)} B {row.dtype}) = {quotients[row]:.6g}"
        for row in wrong
    ]
    ranks = subject.num_ranks
    or_ranks = f", or the {ranks} ranks" if ranks is not None and _in_blocks(subject) else ""
    others = f"the other rows: {usual:.6g}" if known else f"possible: 1{or_ranks}"
    yield DISAGREE.found(subject, f"{listed(shown, 2)}; {others}", wrong)


def _is_of(subject: Subject, quotient: int) -> bool:
    """Whether rows can have this quotient: 1, or the ranks of a communicator where a size is cut into blocks."""
    if quotient == 1 or Fact.COUNT_OF_SIZE not in subject.table.format.facts:
        return True
    # A benchmark may split its ranks into several communicators; without a number of ranks anything is possible.
    ranks = subject.num_ranks
    return _in_blocks(subject) and (ranks is None or (quotient > 0 and ranks % quotient == 0))


def _in_blocks(subject: Subject) -> bool:
    """Whether it may be a collective whose size is that of one block a rank; True for those that nobody knows."""
    return not subject.collectives or any(name not in _WHOLE for name in subject.collectives)
