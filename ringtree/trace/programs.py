"""The traces of all ranks, and the steps that their events speak of.

For: looking up calls that all ranks have whole, and the steps of a rank in a call. Not for: computing anything.
"""

from __future__ import annotations

from collections.abc import Sequence

from ringtree.comm.rank_trace import RankTrace
from ringtree.errors import UsageError
from ringtree.schedules.schedule import Step


class Programs:
    """Steps by rank and call, each program made once."""

    def __init__(self, traces: Sequence[RankTrace]) -> None:
        """Raises UsageError unless there is one trace of each rank."""
        if [trace.rank for trace in traces] != list(range(len(traces))) or not traces:
            raise UsageError(f"needs one trace of each rank, by rank, not of {[trace.rank for trace in traces]}")
        self._calls = [{call.sequence: call for call in trace.calls} for trace in traces]
        self._steps: dict[tuple[int, int], list[Step]] = {}

    def steps(self, rank: int, sequence: int) -> list[Step]:
        """The program of `rank` in a call."""
        key = (rank, sequence)
        if key not in self._steps:
            self._steps[key] = self._calls[rank][sequence].schedule.program(rank)
        return self._steps[key]

    def complete_calls(self) -> list[int]:
        """Sequence numbers of the calls that ended well on all ranks and of which none lost an event."""
        complete = [{n for n, call in calls.items() if call.complete} for calls in self._calls]
        return sorted(set.intersection(*complete))
