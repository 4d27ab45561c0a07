"""In-place columns of an all-to-all, which mean nothing in old versions of nccl-tests.

For: error 1e+00 with rates that no machine has, and an average over them. Not for: wrong results of anything else.

NCCL had no in-place all-to-all: a rank's blocks would overwrite each other. Until it printed N/A, the program skipped
the exchange or the check, and printed an error of 1 and whatever time came out.
"""

from __future__ import annotations

from collections.abc import Iterator

from ringtree.audit.findings import Finding, Severity
from ringtree.audit.intervals import Interval
from ringtree.audit.material import Subject
from ringtree.audit.rule import of_table, warning
from ringtree.audit.words import quoted_rate, size
from ringtree.logs import IN_PLACE, OUT_OF_PLACE

ARTEFACT = warning(
    "in-place-all-to-all",
    "the in-place columns of this all-to-all measure nothing",
    "the out-of-place columns alone; newer versions of nccl-tests print N/A in place",
)
_ABSURD = 2.0  # so much faster in place than out of place, at any size, is not an exchange


def is_unchecked_artefact(subject: Subject) -> bool:
    """Whether all errors are an in-place error of 1 in every row of what can be an all-to-all, and no other side has
    any."""
    if "all_to_all" not in subject.collectives:
        return False
    wrong = [
        (one.side.place == IN_PLACE, Interval.of(one.side.wrong)) for one in subject.points if one.row.size_bytes != 0
    ]
    clean = all(one is None or one.low <= 0 for in_place, one in wrong if not in_place)
    here = [one for in_place, one in wrong if in_place]
    return bool(here) and clean and all(one is not None and 1.0 in one for one in here)


@of_table(ARTEFACT)
def check(subject: Subject) -> Iterator[Finding]:
    """Yields a finding: a warning where the rates are absurd, else an info."""
    if not is_unchecked_artefact(subject):
        return
    worst, shown, rows = 0.0, "", []
    for row in subject.table.rows:
        sides = {side.place: side for side in row.sides}
        inner, outer = sides.get(IN_PLACE), sides.get(OUT_OF_PLACE)
        if inner is None or outer is None or inner.algbw is None or outer.algbw is None or not row.size_bytes:
            continue
        rows.append(row)
        ratio = inner.algbw.value / outer.algbw.value if outer.algbw.value > 0 else 0.0
        if ratio > worst:
            worst = ratio
            shown = f"{size(row)}: in place {quoted_rate(inner.algbw)}, out of place {quoted_rate(outer.algbw)}"
    if (average := subject.table.average_busbw) is not None:
        shown += f"; the average of {average.text} counts both"
    severity = None if worst > _ABSURD else Severity.INFO
    yield ARTEFACT.found(subject, f"error 1 in place in all rows; {shown}", rows, severity=severity)
