"""What a table's figures tell of its collective and its number of ranks, weighed against what is stated, and which
algorithm and protocol its environment leaves.

For: setting Table.collective, num_ranks, algorithm and protocol with the reason. Not for: the arithmetic (ranks.py),
how NCCL_ALGO is read (ringtree.nccl.grammar), what NCCL made of it: a collective that has no such algorithm falls back
or fails, by release (ringtree.audit).
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import get_args

from ringtree.logs.nccltests.ranks import TELLING, Interval, RankLines, factor, possible_ranks, ranks_of_counts
from ringtree.logs.records import IN_PLACE, OUT_OF_PLACE, Basis, Row, Table
from ringtree.nccl import Variable, read
from ringtree.nccl.nccl_tests import NO_OP

_HALF = 0.5  # the smallest factor of more than one rank; an "error" that no rounding explains
_Range = tuple[int, int | None]


@dataclass
class Figures:
    """`stated`: the number of ranks that the source says, None where it does not, or not wholly."""

    table: Table
    stated: int | None

    def __post_init__(self) -> None:
        rows = self.table.rows
        known = self.stated is not None and self.table.collective is not None
        self._blocks = ranks_of_counts(rows[-3:] if known else rows)
        with_times = "cpu" not in self.table.columns.get("time", "")
        self._factor: Interval | None = factor(rows, at_a_glance=known, with_times=with_times)

    def add_collective(self, named: Iterable[tuple[str | None, str]]) -> None:
        """Sets the collective to the first of `named` (collective, what names it) that the rows may be of, else to the
        only one that they may be of."""
        table = self.table
        fitting = candidates(table.rows, self._blocks, self._factor, self.stated)
        for collective, because in named:
            if collective is None:
                continue
            if not fitting or collective in fitting:
                table.conclude("collective", collective, because)
                return
            table.infer("collective", f"not {collective}", f"{because}; but its rows are none of that")
        if len(fitting) == 1:
            because = "no line names it; reduction, root, counts and busbw/algbw fit no other"
            table.conclude("collective", next(iter(fitting)), because)
        elif table.rows:
            rows = f"may be of {' or '.join(sorted(fitting))}" if fitting else "fit none, or tell nothing"
            table.infer("collective", "unknown", f"no line names it; its rows {rows}")

    def add_ranks(self, lines: RankLines) -> None:
        """Sets the number of ranks, once the collective is set."""
        table = self.table
        possible, because, basis = self._possible()
        if self.stated is not None:
            table.num_ranks = self.stated
            if possible is not None and not possible[0] <= self.stated <= (possible[1] or self.stated):
                table.infer("ranks of the figures", _range(possible), f"{because}; {self.stated} are stated")
        elif lines.num_ranks is not None and (possible is None or (possible[1] or lines.num_ranks) <= lines.num_ranks):
            shown = f"only {len(lines.ranks)} lines of ranks are there; the highest counts"
            table.conclude("num_ranks", lines.num_ranks, shown)
            if possible is not None and possible[1] != lines.num_ranks:
                table.infer("ranks of the figures", _range(possible), because)
        elif possible is not None and possible[0] == possible[1]:
            table.conclude("num_ranks", possible[0], f"{because}; no other number fits", basis)
        elif possible is None and not because and (per_process := ranks_of_process(table.settings)) > 1:
            table.conclude("num_ranks", per_process, "nThread × nGpus, if there was one process: nothing else tells")
        elif because:
            table.infer("num_ranks", _range(possible), because, basis)

    def _possible(self) -> tuple[_Range | None, str, Basis]:
        """Returns the fewest and most ranks that the rows allow (None: no number, or any), and what shows it."""
        per_process = ranks_of_process(self.table.settings)
        if self._blocks is not None and self._blocks > 1:
            return (self._blocks, self._blocks), f"each size is {self._blocks} times count elements", Basis.COUNTS
        found = self._factor
        if found is None or self.table.collective not in TELLING:
            return None, "", Basis.BANDWIDTHS
        if found.is_empty:
            return None, "no one number of ranks explains busbw/algbw in all rows", Basis.BANDWIDTHS
        if found.high < _HALF and per_process == 1:
            return (1, 1), "busbw is 0 wherever algbw is not", Basis.BANDWIDTHS
        shown = f"busbw/algbw lies between {max(found.low, 0):.6g} and {found.high:.6g}"
        return possible_ranks(self.table.collective, found, per_process), shown, Basis.BANDWIDTHS


def ranks_of_process(settings: dict[str, str]) -> int:
    """Returns nThread × nGpus, the ranks of one process: a job's number of ranks is a multiple of it."""
    try:
        return max(1, int(settings.get("nThread", "1")) * int(settings.get("nGpus", "1")))
    except ValueError:
        return 1


def _range(possible: _Range | None) -> str:
    if possible is None:
        return "unknown"
    fewest, most = possible
    return f"{fewest} or more" if most is None else str(fewest) if fewest == most else f"{fewest} to {most}"


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


def forced(table: Table, variable: Variable) -> str | None:
    """Returns the one algorithm or protocol that the variable leaves, in small letters; None if none or several."""
    setting = table.environment.get(variable)
    left = () if setting is None else read(variable, setting, table.collective, table.library_version).left
    return left[0].lower() if len(left) == 1 else None


def add_forced(table: Table) -> None:
    """Sets the table's algorithm and protocol to those that its environment asked for."""
    for variable, field_name in zip(get_args(Variable), ("algorithm", "protocol"), strict=True):
        because = f"{variable}={table.environment.get(variable)} was set; what ran is not printed"
        table.conclude(field_name, forced(table, variable), because)
