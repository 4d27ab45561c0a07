"""The rank processes of one launch on all agents, as the lab sees them: what a RankGroup is on one host.

For: starting, commanding and ending a launch of a crew. Not for: what agents do (crew.py), or ranks of one host that
the lab starts itself (rank_group.py).

Only rank 0, which is the lab's own, hears commands and reports.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from pydantic import BaseModel

from ringtree.measure.crew import Crew, Order, Outcome, failures, local_ranks
from ringtree.measure.messages import RankSpec
from ringtree.measure.rank_group import STALL_LIMIT, LaunchFailed

OnReport = Callable[[int, Any], None]


class CrewGroup:
    """From its start to close(). `pids`: by process."""

    def __init__(self, crew: Crew, spec: RankSpec, environment: dict[str, str]) -> None:
        numbers = local_ranks(crew.hosts_of(spec.num_ranks))
        order = Order(kind="launch", spec=spec.model_dump(mode="json"), local_ranks=numbers, environment=environment)
        crew.tell(order)
        self._crew, self._own = crew, crew.start(order)
        try:
            outcomes = crew.gather(Outcome(pids=self._own.pids))
            if failed := failures(outcomes):
                crew.is_over()
                raise LaunchFailed("; ".join(failed))
            self.pids = [pid for outcome in outcomes for pid in outcome.pids]
        except BaseException:
            self._own.close()
            raise

    def tell(self, command: BaseModel) -> None:
        """As RankGroup.tell()."""
        self._own.tell(command)

    def listen(self, on_report: OnReport, stall_limit: float, is_over: Callable[[], bool] = lambda: False) -> None:
        """As RankGroup.listen()."""
        try:
            self._own.listen(on_report, stall_limit, is_over)
        except LaunchFailed as failed:
            self._own.close()  # then the others fail, too
            self._end(Outcome(failure=str(failed)))

    def finish(self, on_report: OnReport) -> list[int]:
        """As RankGroup.finish()."""
        self.listen(on_report, STALL_LIMIT)
        self._end(Outcome(pids=self._own.pids))
        return self.pids

    def close(self) -> None:
        """As RankGroup.close()."""
        self._own.close()

    def _end(self, mine: Outcome) -> None:
        outcomes = self._crew.gather(mine)
        self._crew.is_over()
        if failed := failures(outcomes):
            raise LaunchFailed("; ".join(failed))
