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
from ringtree.stats.bandwidth import bus_factor

RANKS_DIFFER = error(
    "rank-count-differs",
    "busbw was computed for a different number of ranks than stated",
    "the rank lines of this run, or the program's command line",
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
        point, ratio = max(others, key=lambda pair: abs(pair[1].middle - factor.middle))
        assert point.side.busbw is not None
        rate = f"{size(point.row)}: busbw {quoted_rate(point.side.busbw)} is {between(ratio)} × size/time"
        of = f"{len(pairs) - len(others)} of {len(pairs)} figures: {between(factor)}"
        yield VARIES.found(subject, f"{rate}; {of}", [one.row for one, _ in others])
    if len(members) > 1 or len(narrow) == 1:  # of several that all differ none is the table's
        yield from _judged(subject, pairs, factor)


def _judged(subject: Subject, pairs: list[tuple[Point, Interval]], factor: Interval) -> Iterator[Finding]:
    """Yields a finding if the factor is not that of the ranks that are stated, or of any."""
    stated, named = subject.num_ranks, subject.table.collective
    # Where words name a collective, a busbw of factor 1 is an algbw rather than that of another collective.
    names = [one for one in subject.collectives if named in (None, one) or bus_factor(one, 2) != bus_factor(one, 3)]
    if stated is not None and any(bus_factor(name, stated) in factor for name in names):
        return
    possible = [(name, ranks) for name in names if len(ranks := ranks_of_factor(name, factor)) > 0]
    if stated is None and possible:
        return
    rows, shown = [one.row for one, ratio in pairs if ratio.meets(factor)], _shown(pairs, factor)
    known = explain_factor(factor, formulas(stated, None, subject.element_bytes)) if stated is not None else None
    # Another number of ranks is likelier than another unit.
    if known is not None and not (possible and known.is_other_unit):
        given = [f"{bus_factor(name, stated or 1):.4f} of {name}" for name in subject.collectives[:2]]
        heading = subject.table.columns.get("busbw", "busbw")
        is_not = f"not the busbw of {listed(subject.collectives, 2)}"
        words = f"{shown} × size/time, that is {known.words}; {stated} ranks give {', '.join(given)}"
        yield HOLDS_OTHER.found(subject, words, rows, title=f"the column {heading!r} holds {known.words}, {is_not}")
    elif possible and stated is not None:
        name, ranks = possible[0]
        if len(ranks) > MAX_RANKS // 2:  # a collective whose factor is 1 whatever the ranks
            yield HOLDS_OTHER.found(subject, f"{shown} × size/time, the factor of {name}", rows)
            return
        n, of_stated = number_words(ranks), f"the {stated} stated ranks give {bus_factor(name, stated):.5f}"
        title = f"busbw was computed for {n} ranks, but {stated} are stated"
        words = f"{shown} × size/time: {name} has that with n = {n}; {of_stated}"
        yield RANKS_DIFFER.found(subject, words, rows, title=title)
    elif subject.collectives:
        doubled = ranks_of_factor("all_reduce", factor.times(2.0)) if "all_reduce" in subject.collectives else range(0)
        hint = f"; if algbw were 2·size/time, n = {number_words(doubled)}" if 0 < len(doubled) < MAX_RANKS // 2 else ""
        allowed = listed([_possible(name, factor) for name in subject.collectives], 2)
        yield IMPOSSIBLE.found(subject, f"{shown}, possible: {allowed}{hint}", rows)


def _shown(pairs: list[tuple[Point, Interval]], factor: Interval) -> str:
    point, _ = narrowest(pairs, factor)
    assert point.side.busbw is not None
    against = "size/time" if point.side.algbw is None else quoted_rate(point.side.algbw)
    alike = sum(ratio.meets(factor) for _, ratio in pairs)
    which = "all figures" if alike == len(pairs) else f"{alike} of {len(pairs)} figures"
    return f"{size(point.row)}: {quoted_rate(point.side.busbw)} / {against}; {which}: {between(factor)}"


def _possible(name: str, factor: Interval) -> str:
    """Returns the range of a collective's factors, or the nearest one where `factor` lies between two of them."""
    low, high = bus_factor(name, 2), bus_factor(name, MAX_RANKS)
    if low < high and factor.meets(Interval(low, high)):
        ranks, nearest = nearest_ranks(name, factor)
        return f"{nearest:.5g} for {name} of n = {ranks}, the nearest whole n"
    return f"{low:g} for {name}" if low == high else f"{low:g} to {high:.0f} for {name}"
