"""Did the collective compute what it should?

For: wrong elements and values out of bounds, as the benchmark itself counted them. Not for: rates of in-place
all-to-alls, which no version checks (in_place_all_to_all.py); runs that checked nothing (not_checked.py).
"""

from __future__ import annotations

from collections.abc import Iterator

from ringtree.audit.checks.in_place_all_to_all import is_unchecked_artefact
from ringtree.audit.findings import Finding
from ringtree.audit.intervals import Interval
from ringtree.audit.material import Point, Subject
from ringtree.audit.rule import error, of_table
from ringtree.audit.words import listed, size
from ringtree.logs.words import element_bytes

WRONG = error(
    "wrong-results",
    "the benchmark found wrong results",
    "a rerun with validation (-c 1) until it counts 0, on each network path alone to find the faulty one",
)

# What nccl-tests allowed while it printed the largest difference ("error") in place of a count: common.cu,
# DeltaMaxValue, times n-1 ranks in later versions.
_LARGEST_ERROR = {1: 0.0, 2: 1e-2, 4: 1e-5, 8: 1e-12}


@of_table(WRONG)
def check(subject: Subject) -> Iterator[Finding]:
    """Yields a finding if any row, or the footer, says that results were wrong."""
    table = subject.table
    if is_unchecked_artefact(subject):
        return
    bad = [one for one in subject.points if _is_wrong(subject, one)]
    failed = table.out_of_bounds_okay is False or bool(table.num_out_of_bounds)
    if not bad and not failed:
        return
    texts = [f"{one.side.wrong.text} at {size(one.row)}" for one in bad if one.side.wrong is not None]
    parts = [f"{table.columns.get('wrong', '#wrong')}: {listed(texts)}"] if texts else []
    if failed:
        verdict = "FAILED" if table.out_of_bounds_okay is False else "not 0"
        parts.append(f"out of bounds values: {table.num_out_of_bounds} {verdict}")
    elif table.out_of_bounds_okay:
        parts.append("though the footer says OK")
    yield WRONG.found(subject, "; ".join(parts), [one.row for one in bad])


def _is_wrong(subject: Subject, point: Point) -> bool:
    found = Interval.of(point.side.wrong)
    if found is None or found.low <= 0:
        return False
    if "error" not in subject.table.columns.get("wrong", "").lower() and subject.table.columns.get("wrong") != "res":
        return True
    # The footer is the program's own judgement, by the bounds of its version.
    if subject.table.out_of_bounds_okay:
        return False
    width, ranks = element_bytes(point.row.dtype), max(1, (subject.num_ranks or 2) - 1)
    return found.low > (0.1 if width is None else _LARGEST_ERROR.get(width, 0.1) * ranks)
