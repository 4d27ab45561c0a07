"""Options, reports and rows of a bench for tests, without ranks.

For: test_ncclbench_*.py. Not for: starting anything.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

import numpy as np

from ringtree.arms import Setting
from ringtree.bench.figures import BenchSide, MeasuredRow, make_side
from ringtree.bench.options import Asked, Options, make_options
from ringtree.bench.rows import BenchRow, combinations, rows
from ringtree.measure.messages import Answer, TimeSide


def options_of(**asked: Any) -> Options:
    """Options as from the command line; the seed is fixed."""
    return replace(make_options(Asked(**asked)), seed=5)


def side(seconds: float = 1e-5, executed: str = "ring/ll", **changes: Any) -> Answer:
    """What a rank says of half a row; `executed`: algorithm/protocol."""
    words = dict(zip(("algorithm", "protocol"), executed.split("/"), strict=False))
    return Answer(**{"seconds": seconds, "num_wrong": 0, "executed": words, **changes})


def timed_side(arm: str, size_bytes: int, **changes: Any) -> TimeSide:
    """Half a row as a rank is asked for it: two calls an iteration from the first element on, out of place, neither
    warm-up nor checks."""
    given = {"in_place": False, "buffer_bytes": size_bytes, "first_element": 0, "num_untimed": 0, "num_iterations": 3}
    given |= {"num_calls": 2, "blocking": 0, "each": False, "num_checks": 0}
    return TimeSide(arm=arm, size_bytes=size_bytes, **{**given, **changes})


def rows_of(options: Options, answer: Callable[[int, int], Answer] | None = None) -> list[MeasuredRow]:
    """All rows, made of `answer(rank, half)`, halves counted over the table."""

    def half(row: BenchRow, number: int) -> BenchSide:
        said = [side() if answer is None else answer(rank, number) for rank in range(options.num_ranks)]
        return make_side(options, row, said)

    return [MeasuredRow(row, half(row, 2 * i), half(row, 2 * i + 1)) for i, row in enumerate(all_rows(options))]


def all_rows(options: Options) -> Iterator[BenchRow]:
    """The rows of all combinations, in the order of the table."""
    return (row for combination in combinations(options) for row in rows(options, combination))


def pids_of(options: Options) -> list[int]:
    return [100 + rank // options.num_threads for rank in range(options.num_ranks)]


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

    name = "lone"

    def __init__(self, spoil: Callable[[int, Any], None] | None = None) -> None:
        self.num_calls, self._spoil = 0, spoil
        self.bound: list[Any] = []

    def setup(self, setting: Setting) -> None: ...

    def teardown(self) -> None: ...

    def make_buffers(self, count: int, num_buffers: int) -> list[Any]:
        raise AssertionError("a bench has buffers of its own")

    def bind(self, source: Any, result: Any, root: int = 0) -> Callable[[], None]:
        self.bound.append((source, result))

        def call() -> None:
            result[:] = source
            if self._spoil is not None:
                self._spoil(self.num_calls, result)
            self.num_calls += 1

        return call

    def executed(self, call: object) -> dict[str, Any]:
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
