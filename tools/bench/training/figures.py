"""Launches -> what communication costs a step, and how two backends compare.

For: pure arithmetic on times. A launch gives one number an arm, its median over rounds; intervals are over launches.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from statistics import median

from bench.training.worker import ALONE, CALLS, SMALL_BYTES
from ringtree.stats import MedianInterval, median_interval

Times = Mapping[str, Sequence[float]]  # by arm, the times of a launch's rounds
KINDS = ("ddp", "fsdp2")


def step_time(launches: Sequence[Times], arm: str) -> MedianInterval:
    """Returns the time of a step in seconds."""
    return median_interval([median(times[arm]) for times in launches])


def exposed(times: Times, kind: str, backend: str) -> float:
    """Returns what a step of `backend` takes longer than one without communication, in seconds, in one launch."""
    return median(
        with_it - without for with_it, without in zip(times[f"{kind} {backend}"], times[f"{kind} {ALONE}"], strict=True)
    )


def exposed_interval(launches: Sequence[Times], kind: str, backend: str) -> MedianInterval:
    return median_interval([exposed(times, kind, backend) for times in launches])


def exposed_ratio(launches: Sequence[Times], kind: str) -> MedianInterval:
    """Returns this backend's exposed communication over Gloo's."""
    return median_interval([exposed(times, kind, "ringtree") / exposed(times, kind, "gloo") for times in launches])


def call_time(launches: Sequence[Times], size: int, backend: str) -> MedianInterval:
    """Returns the time of one small all_reduce in seconds."""
    return median_interval([median(times[f"all_reduce {size} {backend}"]) / CALLS for times in launches])


def sizes() -> tuple[int, ...]:
    return SMALL_BYTES
