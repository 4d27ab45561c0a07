"""Helpers of the ladder's tests: a pilot and a run with chosen times, without any process.

For: runs whose steps, worths and interactions are known. Not for: assertions.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from comparison_support import noise
from lab_support import make_cell, make_launch, make_plan, make_run, make_visits

from ringtree.results import CopyRate, Launch, MachineLimits, Plan, StoredRun, Visit

PRESET = "explain"
SIZE = 1 << 20
PILOT_ID, RUN_ID = "20260101T000000Z-aaaaaa", "20260101T000100Z-bbbbbb"
# Seconds of a call. Steps from the bottom: 4, 2, 2.5, 1.25, 2, then (no protocol) 1.25 and 2.
TIMES = {
    "send-recv:ring": 8e-3,
    "textbook-tcp:ring": 2e-3,
    "textbook-shm:ring": 1e-3,
    "textbook-spin:ring": 4e-4,
    "textbook-fused:ring": 3.2e-4,
    "ring/simple": 1.6e-4,
    "auto": 1.28e-4,
    "auto/shared": 6.4e-5,
    # Without one thing: folding apart costs 1.05 where its rung brought 1.25, the ring as much as its rung, private
    # buffers 2 as well.
    "auto/shared/unfused": 6.72e-5,
    "ring/shared/as-auto": 8e-5,
    "auto/for-shared": 1.28e-4,
}
TOP_RAN: dict[str, Any] = {
    "through": "torch",
    "algorithm": "two_shot",
    "protocol": "simple",
    "slice_bytes": 65536,
    "streaming": False,
    "num_chunks": 2,
}
Seconds = Callable[[int, str], float]


def times_of(times: Mapping[str, float]) -> Seconds:
    """Seconds of an arm in a launch: the given ones, with half a per cent of noise."""
    return lambda launch, arm: times[arm] * noise(launch, arm)


def executed_by(arm: str, top: Mapping[str, Any]) -> dict[str, Any]:
    """What an arm says that it executed."""
    if arm.startswith("auto"):
        return dict(top)
    return {"through": "torch", "algorithm": "ring", "protocol": "simple", "slice_bytes": 65536, "num_chunks": 2}


def made_up_pilot(protocols: Mapping[str, float] | None = None, top: Mapping[str, Any] = TOP_RAN) -> StoredRun:
    """A pilot in which the ring's protocols take these times."""
    seconds = {"simple": 1.6e-4, "ll": 9e-4, "ll128": 5e-4} if protocols is None else protocols
    times = {**{f"ring/{name}": value for name, value in seconds.items()}, "auto/shared": 6.4e-5}
    plan = make_plan(list(times), [SIZE], 2, preset=PRESET).model_copy(update={"purpose": "pilot"})
    return _stored(plan, PILOT_ID, times_of(times), top, lambda launch, arm, round_: None)


def made_up_run(
    seconds: Seconds | None = None,
    arms: list[str] | None = None,
    num_launches: int = 8,
    top: Mapping[str, Any] = TOP_RAN,
    wrong: str | None = None,
    handoff: Callable[[int, str, int], tuple[float, float] | None] = lambda launch, arm, round_: None,
    num_rounds: int = 3,
    left_out: Mapping[str, str] | None = None,
) -> StoredRun:
    """A ladder's run; by default with TIMES. `wrong`: an arm that is never verified; `handoff(launch, arm, round)`."""
    names = list(TIMES) if arms is None else arms
    plan = make_plan(names, [SIZE], num_launches, preset=PRESET, max_rounds=num_rounds)
    plan = plan.model_copy(update={"pilot": PILOT_ID, "reference": names[0], "left_out": dict(left_out or {})})
    return _stored(plan, RUN_ID, seconds or times_of(TIMES), top, handoff, wrong, num_rounds)


def _stored(
    plan: Plan,
    run_id: str,
    seconds: Seconds,
    top: Mapping[str, Any],
    handoff: Callable[[int, str, int], tuple[float, float] | None],
    wrong: str | None = None,
    num_rounds: int = 3,
) -> StoredRun:
    labels = [arm.label for arm in plan.arms]

    def visits(launch: int, place: int, arm: str) -> list[Visit]:
        made = make_visits(num_rounds, first_position=place, stride=len(labels))
        return [visit.model_copy(update={"handoff": handoff(launch, arm, visit.round)}) for visit in made]

    launches: list[Launch] = [
        make_launch(
            launch,
            [
                make_cell(
                    arm,
                    SIZE,
                    1.0,
                    plan.num_ranks,
                    times=[[seconds(launch, arm)] * num_rounds] * plan.num_ranks,
                    visits=visits(launch, place, arm),
                    executed=executed_by(arm, top),
                    verified=arm != wrong,
                )
                for place, arm in enumerate(labels)
            ],
        )
        for launch in range(plan.num_launches)
    ]
    limits = MachineLimits(
        num_copying=2, copy_rates=[CopyRate(size_bytes=SIZE // 2, bytes_per_second=5e10)], handoff=3e-8
    )
    run = make_run(plan, num_cores=2, run_id=run_id).model_copy(update={"limits": limits})
    return StoredRun(Path("runs") / run_id, run, launches, [])
