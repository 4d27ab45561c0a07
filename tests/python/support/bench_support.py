"""Helpers of the tests of tools/bench: arms that run the fake worker, and parts of runs whose ratios are known.

For: the tests of bench. Not for: assertions.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from bench.bars import Judged
from bench.parts import ALL_REDUCE
from comparison_support import NUM_NEAR, Handoff, near_then_far, noise, placed_run
from lab_support import make_plan

from ringtree.results import StoredRun

FAKE_WORKER = Path(__file__).with_name("fake_worker.py")


@dataclass(frozen=True)
class FakeArm:
    """An arm whose calls take `factor` times those of a factor of 1; `behaviour` as in fake_worker.py."""

    name: str
    factor: float = 1.0
    behaviour: str = "good"

    def command(self, num_ranks: int, socket: Path, pin: Sequence[int]) -> list[str]:
        return [sys.executable, str(FAKE_WORKER), str(num_ranks), str(socket), str(self.factor), self.behaviour]

    def environment(self) -> dict[str, str]:
        return {}


def made_up(
    seconds: Callable[[int, int, str, int], float],
    labels: Sequence[str] = ("auto", "mpich5"),
    sizes: Sequence[int] = (8, 64 << 10, 4 << 20),
    handoff: Callable[[int, str, int], Handoff | None] = near_then_far,
    name: str = "native-2",
) -> Judged:
    """A part whose visits took `seconds(launch, size, label, round)`; four rounds of a launch are near, three far."""
    return Judged(made_up_part(seconds, labels, sizes, handoff, name))


def made_up_part(
    seconds: Callable[[int, int, str, int], float],
    labels: Sequence[str],
    sizes: Sequence[int],
    handoff: Callable[[int, str, int], Handoff | None] = near_then_far,
    name: str = "native-2",
    num_launches: int = 8,
) -> StoredRun:
    """The same, as it is stored."""
    _, shape, *collective = name.split("-")
    plan = make_plan(labels, sizes, num_launches, math.prod(map(int, shape.split("x"))))
    plan = plan.model_copy(update={"reference": labels[0], "collective": "".join(collective) or ALL_REDUCE})
    stored = placed_run(plan, seconds, handoff)
    return replace(stored, run=stored.run.model_copy(update={"run_id": name}))


def times_of(factors: Mapping[str, float]) -> Callable[[int, int, str, int], float]:
    """Times of 1 µs and 1 ns a byte, times the label's factor, with half a per cent of noise; far twice as long."""

    def seconds(launch: int, size: int, label: str, round_: int) -> float:
        far = 2.0 if round_ >= NUM_NEAR else 1.0
        return factors[label] * far * (1e-6 + 1e-9 * size) * noise(launch, size, label, round_)

    return seconds
