"""Does the algbw column hold size/time, and if not, what?

For: algbw against size and time, within what the printed digits allow. Not for: busbw (bus_column.py), a single row
whose figures don't belong together (row_arithmetic.py).
"""

from __future__ import annotations

from collections.abc import Iterator

from ringtree.audit.factors import explain_factor, formulas
from ringtree.audit.findings import Finding
from ringtree.audit.intervals import Interval, most_common, narrowest
from ringtree.audit.material import Point, Subject
from ringtree.audit.rule import of_table, warning
from ringtree.audit.words import between, quoted_rate, quoted_time, size

# Of the rows whose digits say something, so many must agree before a column is said to hold another formula.
SHARE = 0.8

HOLDS_OTHER = warning(
    "algbw-holds-other",
    "the column called algbw is not size/time",
    "the program's source, or one size measured with a second program; until then divide by the factor",
)


def factors(points: list[Point]) -> list[tuple[Point, Interval]]:
    """Returns algbw / (size/time) of each point that has both."""
    return [(one, one.algbw.over(one.base)) for one in points if one.algbw is not None and one.base is not None]


def common_factor(ratios: list[Interval]) -> Interval | None:
    """Returns the one factor that explains the column, None if none does, or the digits can't tell.

    1 is preferred: a column is what its heading says as long as few rows disagree.
    """
    narrow = [one for one in ratios if one.is_narrow]
    if not narrow:
        return None
    if _are_most(sum(1.0 in one for one in narrow), len(narrow)):
        return Interval(1.0, 1.0)
    place, members = most_common(narrow)
    return place if _are_most(len(members), len(narrow)) else None


def _are_most(agree: int, number: int) -> bool:
    """Whether so many of a column's figures say what it holds: of four, three do."""
    return agree >= SHARE * number or agree == number - 1 >= 3


@of_table(HOLDS_OTHER)
def check(subject: Subject) -> Iterator[Finding]:
    """Yields a finding if one factor other than 1 explains the column."""
    if not measures_time(subject):
        return
    pairs = factors(subject.points)
    factor = common_factor([ratio for _, ratio in pairs])
    if factor is None or 1.0 in factor or 0.98 < factor.middle < 1.02:
        return  # within 2 %: single figures were changed, see row_arithmetic.py
    point, ratio = narrowest(pairs, factor)
    told = explain_factor(factor, formulas(subject.num_ranks, subject.collective, subject.element_bytes))
    known = told.words if told is not None else ""
    assert point.side.algbw is not None
    assert point.side.time is not None
    heading = subject.table.columns.get("algbw", "algbw")
    yield HOLDS_OTHER.found(
        subject,
        f"{size(point.row)}: {quoted_rate(point.side.algbw)} × {quoted_time(point.side.time)} / size = "
        f"{between(ratio)}, and {between(factor)} fits all rows" + (f": {known}" if known else ""),
        [one.row for one, ratio in pairs if ratio.meets(factor)],
        title=f"the column {heading!r} holds {known or f'{between(factor)} × size/time'}, not size/time",
    )


def measures_time(subject: Subject) -> bool:
    """Whether the time of a row is the time of its rates: nccl-tests -C prints the time of the CPU beside them."""
    return "cpu" not in subject.table.columns.get("time", "").lower()
