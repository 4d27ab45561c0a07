"""One label at one size while its launch runs, and the Cell that it becomes.

For: what is known of it so far. Not for: deciding anything (costs.py, rounds.py).
"""

from __future__ import annotations

from dataclasses import dataclass, field

from bench.cases import Variant, split_label
from bench.costs import Visiting
from bench.driver import Answer
from ringtree.results import Cell, SizePlan, Visit, WarmUp

TOO_SLOW = "left out as too slow"  # begins the error of a cell that would cost the others their time
WRONG = "wrong result: "  # begins the error of a cell that is disqualified for good, in all launches


@dataclass
class Track:
    """`call`, `around`: seconds of one call and of a batch besides its calls, first timed; `stays`: in this launch."""

    label: str
    size: SizePlan
    visiting: Visiting | None = None
    call: float = 0.0
    around: float = 0.0
    stays: int = 0
    times: list[list[float]] = field(default_factory=list)
    visits: list[Visit] = field(default_factory=list)
    error: str | None = None

    @property
    def arm(self) -> str:
        """The arm's name."""
        return split_label(self.label)[0]

    @property
    def variant(self) -> Variant:
        """The kind of call."""
        return split_label(self.label)[1]

    @property
    def stay_seconds(self) -> float:
        """Seconds of one stay, 0 if it is not visited."""
        return 0.0 if self.visiting is None else self.visiting.stay_seconds

    def add(self, answer: Answer, visit: Visit) -> None:
        """Takes the times of a visit."""
        old = self.times or [[] for _ in answer.times]
        self.times = [[*before, *now] for before, now in zip(old, answer.times, strict=True)]
        self.visits.append(visit)

    def fail(self, why: str) -> None:
        """Notes why nothing is to be had here, unless there is something already."""
        if self.error is None and not self.visits:
            self.error = why

    def cell(self, version: str | None) -> Cell:
        """Returns the record; `version`: what the arm said that it is."""
        return Cell(
            arm=self.label,
            size_bytes=self.size.size_bytes,
            executed=None if version is None else {"version": version},
            batch=self.visiting.calls if self.visiting else 1,
            times=self.times,
            visits=self.visits,
            warm_up=WarmUp(num_iterations=self.visiting.warm_up, ended="limit") if self.visiting else None,
            verified=self.error is None,
            error=self.error,
        )
