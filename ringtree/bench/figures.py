"""From what the ranks answer to the figures of a line: nccl-tests' averages, bandwidths and summaries of iterations.

For: pure functions on answers. Not for: printing (show/bench_text.py), or intervals: there is one launch, and no
figure here says how far it can be trusted.
"""

from __future__ import annotations

import math
import statistics
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from ringtree.bench.options import Options
from ringtree.bench.rows import BenchRow
from ringtree.measure.messages import Answer
from ringtree.nccl.nccl_tests import COLLECTIVES
from ringtree.stats.bandwidth import algbw, busbw


@dataclass(frozen=True)
class Iterations:
    """Seconds of a call, iteration by iteration: of the slowest process, and by process the slowest of its ranks.

    The summaries leave the first iterations out that the options say; the lists hold all.
    """

    min: float
    max: float
    average: float
    p50: float
    p95: float
    p99: float
    deviation: float
    times: list[float]
    by_process: list[list[float]]

    @property
    def variation(self) -> float:
        """The coefficient of variation: the deviation as a share of the average."""
        return self.deviation / self.average if self.average > 0 else 0.0


@dataclass(frozen=True)
class BenchSide:
    """One half of a row: seconds of a call, bytes/s, wrong elements on all ranks (None: not checked)."""

    seconds: float
    algbw: float
    busbw: float
    num_wrong: int | None
    iterations: Iterations | None
    executed: str


@dataclass(frozen=True)
class MeasuredRow:
    """A row with both halves."""

    row: BenchRow
    out_of_place: BenchSide
    in_place: BenchSide

    @property
    def sides(self) -> tuple[BenchSide, BenchSide]:
        return self.out_of_place, self.in_place


@dataclass(frozen=True)
class Summary:
    """The end of a table. `busbw`: mean over all halves of all rows, bytes/s; `required`: what it is held against."""

    num_failed: int
    num_sides: int
    busbw: float
    required: float | None

    @property
    def is_fast_enough(self) -> bool:
        return self.required is None or self.busbw >= 0.9 * self.required  # as much slack as nccl-tests gives


def make_side(options: Options, row: BenchRow, answers: Sequence[Answer]) -> BenchSide:
    """Returns the figures of one half of a row; `answers`: one of each rank, by rank."""
    seconds = average([answer.seconds for answer in answers], options.asked.average)
    wrong = [answer.num_wrong for answer in answers if answer.num_wrong is not None]
    return BenchSide(
        seconds=seconds,
        algbw=algbw(row.size_bytes, seconds),
        busbw=busbw(COLLECTIVES[options.asked.collective], row.size_bytes, seconds, options.num_ranks),
        num_wrong=sum(wrong) if wrong else None,
        iterations=summarise_iterations(options, answers) if options.asked.per_iter_timing else None,
        executed=describe(answers[0].executed or {}),
    )


def describe(executed: dict[str, Any]) -> str:
    """Returns "one_shot/ll" of what an arm says that it executed; empty if it does not tell."""
    return "/".join(str(executed[word]) for word in ("algorithm", "protocol") if executed.get(word))


def average(seconds: Sequence[float], how: int) -> float:
    """Returns what -a asks for: 0 rank 0's, 1 the mean, 2 the least, 3 the largest of the ranks' times."""
    return (seconds[0], statistics.fmean(seconds), min(seconds), max(seconds))[how]


def summarise_iterations(options: Options, answers: Sequence[Answer]) -> Iterations:
    """Returns the times of the iterations and their summaries; percentiles are nearest ranks, never between two."""
    of_process = [answers[first : first + options.num_threads] for first in range(0, len(answers), options.num_threads)]
    by_process = [_slowest([answer.times for answer in ranks]) for ranks in of_process]
    times = _slowest(by_process)
    kept = sorted(times[options.asked.per_iter_skip :])
    return Iterations(
        min=kept[0],
        max=kept[-1],
        average=statistics.fmean(kept),
        p50=kept[len(kept) // 2],
        p95=_nearest_rank(kept, 95),
        p99=_nearest_rank(kept, 99),
        deviation=statistics.pstdev(kept),
        times=times,
        by_process=by_process,
    )


def summarise(rows: Sequence[MeasuredRow], required: float | None) -> Summary:
    """Returns the end of the table; `required`: bytes/s that the mean busbw is held against."""
    sides = [side for row in rows for side in row.sides]
    return Summary(
        num_failed=sum(bool(side.num_wrong) for side in sides),
        num_sides=len(sides),
        busbw=statistics.fmean(side.busbw for side in sides) if sides else 0.0,
        required=required,
    )


def _slowest(of: Sequence[Sequence[float]]) -> list[float]:
    return [max(each) for each in zip(*of, strict=True)]


def _nearest_rank(ascending: Sequence[float], percent: int) -> float:
    return ascending[max(0, math.ceil(len(ascending) * percent / 100) - 1)]
