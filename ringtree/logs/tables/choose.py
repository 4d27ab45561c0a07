"""Which way of reading fits a table, if any.

For: whoever has a table's headings, its first row and what stands above it. Not for: the ways.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from ringtree.logs.reading import Sink
from ringtree.logs.records import Table
from ringtree.logs.tables.across import Across, is_across
from ringtree.logs.tables.caption import Caption
from ringtree.logs.tables.headings import Heading, Kind, classify
from ringtree.logs.tables.measures import arms_of
from ringtree.logs.tables.plan import Plan
from ringtree.logs.tables.statistics_rows import StatisticsRows, is_statistics
from ringtree.logs.words import collective_in

NO_TIMINGS = "a table without timings of collectives"
NO_NUMBER = "a row of a table without a number that was measured"

Reading = Plan | Across | StatisticsRows


def headings_of(texts: Sequence[str]) -> list[Heading]:
    """Returns what the headings say, each beside the others: N and G together are hosts and GPUs on each."""
    headings = [classify(text) for text in texts]
    if {"N", "G"} <= set(texts):
        kinds = {"N": Kind.HOSTS, "G": Kind.RANKS_PER_HOST}
        headings = [one._replace(kind=kinds.get(one.text, one.kind)) for one in headings]
    return headings


def choose(
    headings: list[Heading],
    first: Sequence[str],
    caption: Caption,
    make: Callable[[], Table],
    sink: Sink,
    bandwidth: str | None = None,
) -> Reading | None:
    """Returns a reading of the table; None if it holds no timings of collectives.

    first: the cells of the first row. make: begins a table. bandwidth: name in `others` of a rate that is said to be
    neither algbw nor busbw; None: its heading.
    """
    if is_across(headings, first, caption):
        return Across(headings, caption, make, sink)
    if is_statistics(headings, first, caption):
        return StatisticsRows(headings, caption, make, sink)
    arms = arms_of(headings, first, caption, bandwidth)
    kinds = {one.kind for one in headings}
    sized = Kind.SIZE in kinds or bool(caption.size) or any(arm.size for arm in arms)
    named = Kind.ALGBW in kinds or Kind.BUSBW in kinds
    collective = any(
        one.kind is Kind.COLLECTIVE and index < len(first) and collective_in(first[index]) is not None
        for index, one in enumerate(headings)
    )
    if not arms or not (sized or named or collective):
        return None
    return Plan(headings, arms, caption, make, sink)
