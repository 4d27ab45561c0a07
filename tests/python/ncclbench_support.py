"""Options, reports and rows of a bench for tests, without ranks.

For: test_ncclbench_*.py. Not for: starting anything.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ringtree.ncclbench.figures import MeasuredRow
from ringtree.ncclbench.messages import JoinedReport, SideReport
from ringtree.ncclbench.options import Asked, Options, make_options
from ringtree.ncclbench.session import Collector


def options_of(**asked: Any) -> Options:
    """Options as from the command line; the seed is fixed."""
    return make_options(Asked(**asked)).model_copy(update={"seed": 5})


def side(rank: int, seconds: float = 1e-5, **changes: Any) -> SideReport:
    fields: dict[str, Any] = {"rank": rank, "seconds": seconds, "times": [], "num_wrong": 0, "executed": "ring/ll"}
    return SideReport(**{**fields, **changes})


def rows_of(options: Options, report: Callable[[int, int], SideReport] | None = None) -> list[MeasuredRow]:
    """The rows that a Collector makes of `report(rank, half)`, halves counted over the table; rank 1 speaks last."""
    made: list[MeasuredRow] = []
    collector = Collector(options, lambda ranks: None, made.append)
    half = 0
    while not collector.is_complete:
        for rank in reversed(range(options.num_ranks)):
            collector.hear(side(rank) if report is None else report(rank, half))
        half += 1
    return made


def joined(options: Options) -> list[JoinedReport]:
    return [JoinedReport(rank=rank, pid=100 + rank // options.num_threads) for rank in range(options.num_ranks)]


class LoneSync:
    """The coordinator of a rank that is alone; counts barriers."""

    def __init__(self) -> None:
        self.num_barriers = 0

    def barrier(self) -> None:
        self.num_barriers += 1

    def all_true(self, mine: bool) -> bool:
        return mine


class LoneArm:
    """All collectives of one rank: a copy. `spoil(call number, result)` may make a result wrong; calls are counted."""

    def __init__(self, spoil: Callable[[int, Any], None] | None = None) -> None:
        self.num_calls, self.bound, self._spoil = 0, [], spoil

    def bind(self, source: Any, result: Any, root: int = 0) -> Callable[[], None]:
        self.bound.append((source, result))

        def call() -> None:
            result[:] = source
            if self._spoil is not None:
                self._spoil(self.num_calls, result)
            self.num_calls += 1

        return call

    def executed(self) -> dict[str, Any]:
        return {"backend": "fake", "algorithm": "copy", "protocol": "simple"}


class Clock:
    """Every reading is `step` seconds after the one before."""

    def __init__(self, step: float = 1.0) -> None:
        self.now, self._step = 0.0, step

    def __call__(self) -> float:
        self.now += self._step
        return self.now


def address(array: Any) -> int:
    return int(np.asarray(array).__array_interface__["data"][0])
