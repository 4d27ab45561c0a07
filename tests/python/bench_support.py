"""Helpers of the tests of tools/bench: arms that run the fake driver, and parts of runs whose ratios are known.

For: the tests of bench. Not for: assertions.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from bench.cases import ALL_REDUCE
from bench.crew import Limits
from bench.effects import World
from bench.plans import NATIVE
from bench.plans import World as PlannedWorld
from comparison_support import NUM_NEAR, Handoff, near_then_far, noise, placed_run
from lab_support import make_plan

from ringtree.results import StoredRun

ROOT = Path(__file__).resolve().parents[2]
FAKE_DRIVER = Path(__file__).with_name("bench_fake_driver.py")
QUICK = Limits(first=10.0, goodbye=2.0)
IMPATIENT = Limits(first=2.0, visit=2.0, goodbye=2.0)  # where something hangs on purpose


@dataclass(frozen=True)
class FakeArm:
    """An arm whose calls take `factor` times those of a factor of 1; `behaviour` as in bench_fake_driver.py."""

    name: str
    factor: float = 1.0
    behaviour: str = "good"
    why_missing: str | None = None

    def missing(self) -> str | None:
        return self.why_missing

    def command(self, num_ranks: int, socket: Path, pin: Sequence[int]) -> list[str]:
        return [sys.executable, str(FAKE_DRIVER), str(num_ranks), str(socket), str(self.factor), self.behaviour]

    def environment(self) -> dict[str, str]:
        return {"I_MPI_THREAD_YIELD": "2"}


def small_world(num_ranks: int = 2, largest: int = 4096, step: int = 3, collective: str = ALL_REDUCE) -> PlannedWorld:
    """A native part of few sizes."""
    return PlannedWorld(NATIVE, num_ranks, 1.0, largest, step, collective=collective)


def made_up_world(
    seconds: Callable[[int, int, str, int], float],
    labels: Sequence[str] = ("engine", "mpich5"),
    sizes: Sequence[int] = (8, 64 << 10, 4 << 20),
    handoff: Callable[[int, str, int], Handoff | None] = near_then_far,
    name: str = "native-2",
    num_launches: int = 8,
) -> World:
    """A part whose visits took `seconds(launch, size, label, round)`; four rounds of a launch are near, three far."""
    return World(made_up_part(seconds, labels, sizes, handoff, name, num_launches))


def made_up_part(
    seconds: Callable[[int, int, str, int], float],
    labels: Sequence[str],
    sizes: Sequence[int],
    handoff: Callable[[int, str, int], Handoff | None] = near_then_far,
    name: str = "native-2",
    num_launches: int = 8,
) -> StoredRun:
    """The same, as it is stored."""
    _, num_ranks, *collective = name.split("-")
    plan = make_plan(labels, sizes, num_launches, int(num_ranks))
    plan = plan.model_copy(update={"reference": labels[0], "collective": "".join(collective) or ALL_REDUCE})
    stored = placed_run(plan, seconds, handoff)
    return replace(stored, run=stored.run.model_copy(update={"run_id": name}))


def times_of(factors: Mapping[str, float]) -> Callable[[int, int, str, int], float]:
    """Times of 1 µs and 1 ns a byte, times the label's factor, with half a per cent of noise; far twice as long."""

    def seconds(launch: int, size: int, label: str, round_: int) -> float:
        far = 2.0 if round_ >= NUM_NEAR else 1.0
        return factors[label] * far * (1e-6 + 1e-9 * size) * noise(launch, size, label, round_)

    return seconds
