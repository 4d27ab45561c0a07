"""Does the busbw column belong to the collective and the number of ranks that are stated?

For: the factor busbw/(size/time), or busbw/algbw where no time is printed: which collective and which n give it. Not
for: algbw (bandwidth_column.py), single rows (row_arithmetic.py), one-rank runs, whose factor is 0 (one_rank.py).
"""

from __future__ import annotations

from collections.abc import Iterator

from ringtree.audit.checks.bandwidth_column import measures_time
from ringtree.audit.factors import MAX_RANKS, explain_factor, formulas, nearest_ranks, ranks_of_factor
from ringtree.audit.findings import Finding
from ringtree.audit.intervals import Interval, most_common, narrowest
from ringtree.audit.material import Point, Subject
from ringtree.audit.rule import error, of_table, warning
from ringtree.audit.words import between, listed, number_words, quoted_rate, size
from ringtree.logs import Row
from ringtree.stats.bandwidth import bus_factor

RANKS_DIFFER = error(
    "rank-count-differs",
    "busbw was computed for another number of ranks than is stated",
    "the rank lines of this very run, or the program's command line",
)
HOLDS_OTHER = warning(
    "busbw-holds-other",
    "the column called busbw holds another formula",
    "the program's source; until then use size/time and the factor of the collective",
)
VARIES = error("factor-varies", "busbw/algbw is not the same in all rows", "the unedited output of the program")
IMPOSSIBLE = error(
    "factor-impossible",
    "busbw/algbw that no number of ranks gives",
    "the unedited output, or size and time of a row: they give algbw, and busbw with the number of ranks",
)


def bus_ratios(subject: Subject) -> list[tuple[Point, Interval]]:
    """Returns busbw/(size/time) of each point, narrowed by busbw/algbw where algbw is size/time."""
    timed = measures_time(subject)
    found = []
    for one in subject.points:
        if one.busbw is None:
            continue
        by_time = one.busbw.over(one.base) if timed and one.base is not None else None
        by_algbw = one.busbw.over(one.algbw) if one.algbw is not None else None
        if by_time is not None and by_algbw is not None and _is_rate(one):
            by_time = by_time.common(by_algbw) or by_time
        ratio = by_time or by_algbw
        if ratio is not None:
            found.append((one, ratio))
    return found


def _is_rate(one: Point) -> bool:
    """Whether algbw may be size/time, which old versions' is not."""
    return one.algbw is not None and one.base is not None and one.algbw.meets(one.base)


@of_table(RANKS_DIFFER, HOLDS_OTHER, VARIES, IMPOSSIBLE)
def check(subject: Subject) -> Iterator[Finding]:
    """Yields a finding if the rows have several factors, and one if the factor that most have is wrong."""
    pairs = bus_ratios(subject)
    narrow = [ratio for _, ratio in pairs if ratio.is_narrow]
    if not narrow or subject.is_one_rank:
        return
    factor, members = most_common(narrow)
    if factor.low <= 0:
        return
    others = [(point, ratio) for point, ratio in pairs if not ratio.meets(factor)]
    if others:
        yield _varies(subject, pairs, factor, others)
    if len(members) > 1 or len(narrow) == 1:  # of several that all differ none is the table's
        yield from _judged(subject, pairs, factor)


def _judged(subject: Subject, pairs: list[tuple[Point, Interval]], factor: Interval) -> Iterator[Finding]:
    stated = subject.num_ranks
    names = _collectives(subject)
    if stated is not None and any(bus_factor(name, stated) in factor for name in names):
        return
    possible = {name: ranks_of_factor(name, factor) for name in names}
    possible = {name: ranks for name, ranks in possible.items() if len(ranks) > 0}
    if stated is None and possible:
        return
    rows = [one.row for one, ratio in pairs if ratio.meets(factor)]
    shown = _shown(pairs, factor)
    known = explain_factor(factor, formulas(stated, None, subject.element_bytes)) if stated is not None else None
    # Another number of ranks is likelier than another unit.
    if known is not None and not (possible and known.is_other_unit):
        yield _holds_other(subject, factor, shown, known.words, rows)
    elif possible:
        yield _ranks_differ(subject, shown, possible, rows)
    elif subject.collectives:
        yield _impossible(subject, factor, shown, rows)


def _collectives(subject: Subject) -> list[str]:
    """Returns what it may have been. Where words name one, a busbw of factor 1 is an algbw rather than that of another
    collective."""
    named = subject.table.collective
    return [name for name in subject.collectives if named in (None, name) or bus_factor(name, 2) != bus_factor(name, 3)]


def _varies(
    subject: Subject, pairs: list[tuple[Point, Interval]], factor: Interval, others: list[tuple[Point, Interval]]
) -> Finding:
    point, ratio = max(others, key=lambda pair: abs(pair[1].middle - factor.middle))
    assert point.side.busbw is not None
    return VARIES.found(
        subject,
        f"{size(point.row)}: busbw {quoted_rate(point.side.busbw)} is {between(ratio)} × size/time; "
        f"{len(pairs) - len(others)} of {len(pairs)} figures: {between(factor)}",
        [one.row for one, _ in others],
    )


def _shown(pairs: list[tuple[Point, Interval]], factor: Interval) -> str:
    point, _ = narrowest(pairs, factor)
    assert point.side.busbw is not None
    against = "size/time" if point.side.algbw is None else quoted_rate(point.side.algbw)
    alike = sum(ratio.meets(factor) for _, ratio in pairs)
    which = "all figures" if alike == len(pairs) else f"{alike} of {len(pairs)} figures"
    return f"{size(point.row)}: {quoted_rate(point.side.busbw)} / {against}; {which}: {between(factor)}"


def _holds_other(subject: Subject, factor: Interval, shown: str, known: str, rows: list[Row]) -> Finding:
    expected = ", ".join(
        f"{bus_factor(name, subject.num_ranks or 1):.4f} of {name}" for name in subject.collectives[:2]
    )
    heading = subject.table.columns.get("busbw", "busbw")
    return HOLDS_OTHER.found(
        subject,
        f"{shown} × size/time, that is {known}; {subject.num_ranks} ranks give {expected}",
        rows,
        title=f"the column {heading!r} holds {known}, not the busbw of {listed(subject.collectives, 2)}",
    )


def _ranks_differ(subject: Subject, shown: str, possible: dict[str, range], rows: list[Row]) -> Finding:
    name, ranks = next(iter(possible.items()))
    stated = subject.num_ranks
    assert stated is not None
    if len(ranks) > MAX_RANKS // 2:  # a collective whose factor is 1 whatever the ranks
        return HOLDS_OTHER.found(subject, f"{shown} × size/time, the factor of {name}", rows)
    return RANKS_DIFFER.found(
        subject,
        f"{shown} × size/time: {name} has that with n = {number_words(ranks)}; the {stated} ranks that are stated "
        f"give {bus_factor(name, stated):.5f}",
        rows,
        title=f"busbw was computed for {number_words(ranks)} ranks, stated are {stated}",
    )


def _impossible(subject: Subject, factor: Interval, shown: str, rows: list[Row]) -> Finding:
    allowed = listed([_possible(name, factor) for name in subject.collectives], 2)
    hint = ""
    doubled = ranks_of_factor("all_reduce", factor.times(2.0))
    if "all_reduce" in subject.collectives and len(doubled) > 0 and len(doubled) < MAX_RANKS // 2:
        hint = f"; if algbw were 2·size/time, n = {number_words(doubled)}"
    return IMPOSSIBLE.found(subject, f"{shown}, possible: {allowed}{hint}", rows)


def _possible(name: str, factor: Interval) -> str:
    """Returns the range of a collective's factors, or the nearest one where `factor` lies between two of them."""
    low, high = bus_factor(name, 2), bus_factor(name, MAX_RANKS)
    if low < high and factor.meets(Interval(low, high)):
        ranks, nearest = nearest_ranks(name, factor)
        return f"{nearest:.5g} for {name} of n = {ranks}, the nearest whole n"
    return f"{low:g} for {name}" if low == high else f"{low:g} to {high:.0f} for {name}"
