"""What a table's figures tell of its collective and its number of ranks, weighed against what is stated.

For: setting Table.collective and num_ranks with the reason. Not for: the arithmetic (ranks.py, collective.py).
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from ringtree.logs.nccltests.collective import candidates
from ringtree.logs.nccltests.ranks import TELLING, Interval, RankLines, factor, possible_ranks, ranks_of_counts
from ringtree.logs.records import Basis, Table

_HALF = 0.5  # the smallest factor of more than one rank
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
                table.collective = collective
                table.infer("collective", collective, because)
                return
            table.infer("collective", f"not {collective}", f"{because}; but its rows are none of that")
        if len(fitting) == 1:
            table.collective = next(iter(fitting))
            because = "no line names it; reduction, root, counts and busbw/algbw fit no other"
            table.infer("collective", table.collective, because)
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
            table.num_ranks = lines.num_ranks
            shown = f"only {len(lines.ranks)} lines of ranks are there; the highest counts"
            table.infer("num_ranks", lines.num_ranks, shown)
            if possible is not None and possible[1] != lines.num_ranks:
                table.infer("ranks of the figures", _range(possible), because)
        elif possible is not None and possible[0] == possible[1]:
            table.num_ranks = possible[0]
            table.infer("num_ranks", possible[0], f"{because}; no other number fits", basis)
        elif possible is None and not because and (per_process := ranks_of_process(table.settings)) > 1:
            table.num_ranks = per_process
            table.infer("num_ranks", per_process, "nThread × nGpus, if there was one process: nothing else tells")
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
