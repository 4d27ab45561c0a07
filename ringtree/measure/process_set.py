"""What the visit loop asks of processes that host arms, wherever they come from.

For: the protocol that rank processes of ours and native workers share, and what they answer. Not for: which visits are
made (visit_loop.py), or any one kind of process (rank_set.py).

The processes of a set sleep in the kernel until they are asked, so that several sets can share a launch and be paired
inside of a round. Every wait has a deadline. A set that dies, hangs or fails raises SetFailed and is of no use until it
is killed and started anew: that ends its own arms at most, and the launch goes on with the others.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

from ringtree.errors import RingtreeError, UsageError
from ringtree.results import Boundary, TrainedSteps, WarmUp, WrongElement


class SetFailed(RingtreeError):
    """The set is lost for this launch; the message is one line that says who died, hangs or failed, and how."""


@dataclass(frozen=True)
class CellKey:
    """What is visited: an arm of a set at a size. `batch`: calls that are timed together; a set of native workers that
    is given 1 chooses itself."""

    size_bytes: int
    arm: str
    batch: int


@dataclass(frozen=True)
class Visited:
    """What one warm-up or visit gave.

    `times`: rank by rank, seconds of each timed iteration; `device_times`: the same by a GPU's events. `seconds`: of an
    iteration, with writing and checking, and `warm_up`, how it ended: of a warm-up only; so is `batch`, where the set
    chooses itself how many calls are timed together. `trained`: of a training, rank by rank. `error`: the arm can't do
    this cell, the others of its set can go on.
    """

    times: list[list[float]]
    executed: dict[str, Any] | None = None
    first_wrong: WrongElement | None = None
    warm_up: WarmUp | None = None
    seconds: float = 0.0
    batch: int | None = None
    device_times: list[list[float]] = field(default_factory=list)
    trained: list[TrainedSteps] = field(default_factory=list)
    error: str | None = None


class ProcessSet(Protocol):
    """Processes that host arms, for one launch. start(), ready(), any number of warm-ups and visits, close()."""

    @property
    def arms(self) -> Collection[str]:
        """Labels of the arms that it hosts."""

    @property
    def boundary(self) -> Boundary:
        """How its calls are made and timed."""

    @property
    def restarts(self) -> int:
        """How often it may be started anew: a library that fails at a large size is still of use at small ones."""

    @property
    def pids(self) -> Sequence[int]:
        """By rank; complete once it is closed."""

    def start(self) -> None:
        """Starts the processes without waiting for them. Raises SetFailed."""

    def ready(self) -> dict[str, str]:
        """Waits until all are connected; returns the arms that can't run, and why. Raises SetFailed."""

    def warm_up(self, cell: CellKey, budget: float) -> Visited:
        """Runs untimed iterations until times no longer fall, or a share of `budget` seconds is spent. Raises
        SetFailed."""

    def visit(self, cell: CellKey, untimed: int, timed: int) -> Visited:
        """Runs iterations whose times are not kept, and then some whose are; of a cell that was warmed up, perhaps
        before the set was started anew. Raises SetFailed."""

    def close(self) -> None:
        """Lets the processes leave in order, and returns when they are gone. Raises SetFailed if they did not."""

    def kill(self) -> None:
        """Ends the processes at once; never raises, may be called at any time and again."""


def check_boundary(sets: Sequence[ProcessSet]) -> None:
    """Raises UsageError if calls of some sets cross another boundary than those of others."""
    of = {
        one.boundary: ", ".join(arm for each in sets if each.boundary == one.boundary for arm in each.arms)
        for one in sets
    }
    if len(of) > 1:
        ways = "; ".join(f"{arms} by {boundary}" for boundary, arms in sorted(of.items()))
        raise UsageError(
            f"arms are called in different ways ({ways}), so their times can't be compared: run them separately"
        )
