"""Helpers of the tests of tuning: a made-up machine that takes known times, and hand-made lines.

For: launches without ranks, whose right answer is known. Not for: assertions.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

import numpy as np

from ringtree.comm.profile_format import AUTO, Configuration
from ringtree.measure.messages import ProgressReport
from ringtree.tune.measured import CellPlan, Chosen, Round, TuneLaunch, TuneRequest
from ringtree.tune.rounds import OnMeasured
from ringtree.tune.visits import visit_of
from ringtree.tune.world import World

NEAR, FAR = 3e-8, 3e-7  # hand-offs between two cores, seconds
SUPPORT = [
    (collective, algorithm, protocol, "" if (algorithm, protocol) != ("wide", "ll") else "wide has no ll")
    for collective in ("all_reduce", "broadcast")
    for algorithm in ("quick", "wide", "poor")
    for protocol in ("simple", "ll")
]


def configuration(label: str) -> Configuration:
    """The configuration of "algorithm/protocol"."""
    algorithm, protocol = label.split("/")
    return Configuration(algorithm=algorithm, protocol=protocol)


def true_seconds(one: Configuration, size_bytes: int, num_ranks: int) -> float:
    """Quick with ll is best for small sizes, quick from 4 KB, wide from 32 KB, streaming from 4 MB; poor never."""
    alpha = {"quick": 1e-6, "wide": 4e-6, "poor": 3e-6}[one.algorithm] * (0.6 if one.protocol == "ll" else 1.0)
    rate = {"quick": 4e9, "wide": 10e9, "poor": 2e9}[one.algorithm] * (0.7 if one.protocol == "ll" else 1.0)
    if one.slice_bytes:
        rate *= 0.98  # what the plan cuts is best
    if one.streaming:
        alpha, rate = alpha + 6e-5, rate * 1.2
    return math.log2(num_ranks) * alpha + size_bytes / rate


class MadeUpMachine:
    """Measures launches as ranks would: `seconds(configuration, size, ranks)` times scatter.

    `shared`: the same for shared buffers; None: as with private ones. `sigma`: of the logarithm of a time.
    `auto(collective, size, ranks)`: what auto runs. `stop_after`: raise KeyboardInterrupt after so many rounds.
    """

    def __init__(
        self,
        seconds: Callable[[Configuration, int, int], float] = true_seconds,
        sigma: float = 0.03,
        auto: Callable[[str, int, int], Configuration] | None = None,
        seed: int = 1,
        num_sweeps: int = 6,
        shared: Callable[[Configuration, int, int], float] | None = None,
    ) -> None:
        self._shared = shared or seconds
        self._seconds, self._sigma, self._auto, self._num_sweeps = seconds, sigma, auto, num_sweeps
        self._random = np.random.default_rng(seed)
        self.launches: list[TuneLaunch] = []
        self.stop_after: int | None = None
        self.num_rounds = 0

    def __call__(self, request: TuneRequest, launch: TuneLaunch, first_sweep: int, on_measured: OnMeasured) -> None:
        self.launches.append(launch)
        last = max(first_sweep + launch.min_sweeps, min(first_sweep + launch.max_sweeps, self._num_sweeps))
        for sweep in range(first_sweep, last):
            for cell in launch.cells:
                for _ in range(visit_of(cell.size_bytes).num_rounds):
                    if self.stop_after is not None and self.num_rounds >= self.stop_after:
                        raise KeyboardInterrupt
                    on_measured(self._round(launch, cell, sweep))
                    self.num_rounds += 1
        if request.profile:
            for cell in launch.cells:
                on_measured(self._choice(launch, cell))
        on_measured(ProgressReport(done=1, total=1, text="made up"))

    def _round(self, launch: TuneLaunch, cell: CellPlan, number: int) -> Round:
        disturbed = math.exp(self._random.normal(0, 0.3))  # what the machine does meets all candidates of a round
        return Round(
            launch=launch.number,
            collective=cell.collective,
            size_bytes=cell.size_bytes,
            round=number,
            seconds={
                one.label: self._time(one, cell, launch.world) * disturbed * self._scatter() for one in cell.candidates
            },
            handoffs=[NEAR, NEAR],
            wall_seconds=0.001,
        )

    def _time(self, one: Configuration, cell: CellPlan, world: World) -> float:
        if one.algorithm == AUTO:
            assert self._auto is not None
            one = self._auto(cell.collective, cell.size_bytes, world.num_ranks)
        seconds = self._shared if world.shared_buffers else self._seconds
        return seconds(one, cell.size_bytes, world.num_ranks)

    def _scatter(self) -> float:
        return math.exp(self._random.normal(0, self._sigma))

    def _choice(self, launch: TuneLaunch, cell: CellPlan) -> Chosen:
        assert self._auto is not None
        return Chosen(
            launch=launch.number,
            collective=cell.collective,
            size_bytes=cell.size_bytes,
            label=self._auto(cell.collective, cell.size_bytes, launch.world.num_ranks).label,
            reason="made up",
        )


def make_request(ranks: Sequence[int] = (2,), shared: Sequence[int] = (), **changes: object) -> TuneRequest:
    """A tuning of all_reduce with `ranks` ranks and private buffers, `shared` ranks and shared ones; `changes` replace
    fields."""
    fields: dict[str, object] = {
        "purpose": "tune",
        "collectives": ["all_reduce"],
        "worlds": [
            *[World(num_ranks=num_ranks) for num_ranks in ranks],
            *[World(num_ranks=num_ranks, shared_buffers=True) for num_ranks in shared],
        ],
        "sizes": [1 << k for k in range(3, 25, 2)],
        "budget": 60.0,
        "seed": 7,
    }
    return TuneRequest.model_validate({**fields, **changes})
