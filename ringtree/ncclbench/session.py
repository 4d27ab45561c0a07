"""One run of a bench: its processes, and the rows that their reports make.

For: starting the ranks, bringing together what they say of one row. Not for: what ranks do (rank_process.py), or what
is printed or stored.
"""

from __future__ import annotations

import os
import secrets
from collections import deque
from collections.abc import Callable

from ringtree.lab.rank_group import run_ranks
from ringtree.ncclbench.figures import MeasuredRow, make_side
from ringtree.ncclbench.messages import BenchReport, BenchSpec, JoinedReport, SideReport, reports
from ringtree.ncclbench.options import Options
from ringtree.ncclbench.rows import rows

OnJoined = Callable[[list[JoinedReport]], None]
OnRow = Callable[[MeasuredRow], None]
# Seconds. A loop may take as long as it was asked to: every wait in it has a deadline of its own, and the death of a
# rank is noticed at once.
_STALL_LIMIT = 1e6


class Collector:
    """Turns reports, as they come in from all ranks, into rows.

    `on_joined`: called once, by rank; `on_row`: called for each row as soon as the last rank has reported it.
    """

    def __init__(self, options: Options, on_joined: OnJoined, on_row: OnRow) -> None:
        self._options, self._on_joined, self._on_row = options, on_joined, on_row
        self._joined: dict[int, JoinedReport] = {}
        self._sides: list[deque[SideReport]] = [deque() for _ in range(options.num_ranks)]
        self._rows = rows(options)
        self._next = next(self._rows, None)

    @property
    def is_complete(self) -> bool:
        """Whether every row was made."""
        return self._next is None

    def hear(self, report: BenchReport) -> None:
        """Takes one report; each rank's come in their order."""
        if isinstance(report, JoinedReport):
            self._joined[report.rank] = report
            if len(self._joined) == self._options.num_ranks:
                self._on_joined([self._joined[rank] for rank in range(self._options.num_ranks)])
        elif isinstance(report, SideReport):
            self._sides[report.rank].append(report)
            if all(len(sides) >= 2 for sides in self._sides):
                self._finish_row()

    def _finish_row(self) -> None:
        row = self._next
        assert row is not None, "ranks report no more rows than the options say"
        self._next = next(self._rows, None)
        out_of_place, in_place = (
            make_side(self._options, row, [sides.popleft() for sides in self._sides]) for _ in range(2)
        )
        self._on_row(MeasuredRow(row, out_of_place, in_place))


def run(options: Options, on_joined: OnJoined, on_row: OnRow) -> None:
    """Runs the bench. Call it from the main thread. Raises LaunchFailed if a rank dies or fails."""
    collector = Collector(options, on_joined, on_row)
    session = secrets.token_hex(16)
    store = os.memfd_create("ringtree-torch-store")

    def make_spec(process: int, process_group: int) -> BenchSpec:
        return BenchSpec(
            options=options,
            process=process,
            session=session,
            process_group=process_group,
            torch_store=f"/proc/self/fd/{store}",
        )

    try:
        run_ranks(
            "ringtree.ncclbench.rank_process",
            options.num_processes,
            make_spec,
            reports,
            lambda process, report: collector.hear(report),
            inherited=[store],
            stall_limit=_STALL_LIMIT,
        )
    finally:
        os.close(store)
