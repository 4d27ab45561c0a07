"""Which collective a table is of, where no line of the program says so.

For: candidates from what rows show (blocks, reduction, root, factor), and a choice among them by names. Not for: the
number of ranks (ranks.py).
"""

from __future__ import annotations

from collections.abc import Sequence

from ringtree.logs.nccltests.ranks import Interval
from ringtree.logs.records import IN_PLACE, OUT_OF_PLACE, Row
from ringtree.nccl.nccl_tests import NO_OP

_HALF = 0.5  # an "error" that no rounding explains


def candidates(rows: Sequence[Row], blocks: int | None, found: Interval | None, num_ranks: int | None) -> set[str]:
    """Returns the collectives that a table's rows may be of; empty: they tell nothing or contradict each other.

    `blocks`: ranks_of_counts; `found`: the factor; `num_ranks`: as other lines state it.
    """
    telling = [row for row in rows if row.size_bytes]
    if not telling or blocks is None:
        return set()
    first = telling[0]
    reduces = first.op not in (None, NO_OP)
    rooted = first.root is not None and first.root >= 0
    if blocks > 1:
        return _of_blocks(telling, reduces, rooted)
    one_rank = num_ranks == 1 or (num_ranks is None and found is not None and found.high < _HALF)
    if reduces:
        return _reducing(telling, rooted, found, num_ranks, one_rank)
    if rooted:
        return {"broadcast", "gather", "scatter"} if one_rank or num_ranks is None else {"broadcast"}
    return {"all_gather", "all_to_all"} if one_rank else {"send_recv", "hypercube"}


def _of_blocks(rows: Sequence[Row], reduces: bool, rooted: bool) -> set[str]:
    if reduces:
        return {"reduce_scatter"}
    if rooted:
        return {"gather", "scatter"}
    if _never_in_place(rows):
        return {"all_to_all"}
    return {"all_gather"} if _checked_in_place(rows) else {"all_gather", "all_to_all"}


def _reducing(
    rows: Sequence[Row], rooted: bool, found: Interval | None, num_ranks: int | None, one_rank: bool
) -> set[str]:
    if rooted:
        return {"reduce"}
    if one_rank:
        return {"all_reduce", "reduce_scatter"}
    # sendrecv names a reduction, too, since all programs print a root; its factor is that of an all_reduce of two.
    fitting = {"all_reduce", "send_recv"} if rows[0].root is not None else {"all_reduce"}
    if found is not None:
        low, high = (2 * (num_ranks - 1) / num_ranks,) * 2 if num_ranks is not None else (1.0, 2.0)
        if not (found.low <= high and low <= found.high):
            fitting.discard("all_reduce")
        if not found.low <= 1 <= found.high:
            fitting.discard("send_recv")
    if len(fitting) > 1 and _never_in_place(rows):
        return {"send_recv"}
    return fitting - {"send_recv"} if len(fitting) > 1 and _checked_in_place(rows) else fitting


def _never_in_place(rows: Sequence[Row]) -> bool:
    """What can't be in place is not checked there, or, in old versions, always wrong there."""
    pairs = [{side.place: side.wrong for side in row.sides} for row in rows]
    pairs = [pair for pair in pairs if pair.get(OUT_OF_PLACE) is not None and IN_PLACE in pair]
    return bool(pairs) and all(
        (wrong := pair[IN_PLACE]) is None or (wrong.value >= _HALF and pair[OUT_OF_PLACE].value < _HALF)  # type: ignore[union-attr] # not None: above
        for pair in pairs
    )


def _checked_in_place(rows: Sequence[Row]) -> bool:
    return any(side.place == IN_PLACE and side.wrong is not None for row in rows for side in row.sides)
