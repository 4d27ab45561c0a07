"""Helpers of the lab's tests: hand-made runs, and rank processes found and awaited.

For: building RESULT records whose statistics are known, and looking at processes from outside. Not for: assertions.
"""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import IO, Any, Protocol

from ringtree.measure.messages import Memory, RankSpec
from ringtree.results import (
    ArmPlan,
    Cell,
    EmulatedCluster,
    Launch,
    Plan,
    Provenance,
    Run,
    SizePlan,
    StoredRun,
    Visit,
)

NUM_ROUNDS = 3  # of hand-made cells, one iteration a visit
NEAR = 3e-8  # hand-off between two cores that share a cache, seconds


def make_plan(
    arms: Sequence[str] = ("a", "b"),
    sizes: Sequence[int] = (1024, 4096),
    num_launches: int = 6,
    num_ranks: int = 2,
    emulation: EmulatedCluster | None = None,
    preset: str | None = None,
    max_rounds: int = NUM_ROUNDS,
) -> Plan:
    return Plan(
        collective="all_reduce",
        op="sum",
        dtype="float32",
        num_ranks=num_ranks,
        arms=[ArmPlan(label=arm, name=arm) for arm in arms],
        reference=arms[-1],
        sizes=[
            SizePlan(size_bytes=size, num_launches=num_launches, max_rounds=max_rounds, max_iterations=9, batch=1)
            for size in sizes
        ],
        num_launches=num_launches,
        seed=7,
        cell_budget=0.1,
        emulation=emulation,
        preset=preset,
    )


def make_spec() -> RankSpec:
    return RankSpec(
        process_group=1,
        rank=1,
        num_ranks=2,
        seed=3,
        boundary="numpy",
        memory=Memory(),
        session="s",
        torch_store="nowhere",
        timeout=1.0,
        idle_limit=1.0,
    )


def make_run(plan: Plan, num_cores: int = 8, load: float = 0.0, run_id: str = "20260101T000000Z-abcdef") -> Run:
    provenance = Provenance(
        host_name="host",
        cpu_model="cpu",
        num_cpus=num_cores,
        affinity=list(range(num_cores)),
        kernel="6.1",
        memory_bytes=1 << 30,
        load_average=[load, 0.0, 0.0],
        versions={"python": "3.11", "torch": None},
        git_commit=None,
        command=["ringtree", "compare"],
        environment={},
        emulated=plan.emulation is not None,
    )
    return Run(run_id=run_id, created_utc="2026-01-01T00:00:00Z", plan=plan, provenance=provenance)


def make_visits(
    num_rounds: int = NUM_ROUNDS,
    num_iterations: int = 1,
    handoff: tuple[float, float] | None = (NEAR, NEAR),
    first_position: int = 0,
    stride: int = 1,
) -> list[Visit]:
    """One visit a round, `stride` places apart: the number of cells of a launch that takes them in the same order."""
    return [
        Visit(
            round=round_,
            position=first_position + stride * round_,
            num_iterations=num_iterations,
            handoff=handoff,
        )
        for round_ in range(num_rounds)
    ]


def make_cell(arm: str, size_bytes: int, seconds: float, num_ranks: int = 2, **changes: object) -> Cell:
    """A cell whose every sample is `seconds`; `changes` replace fields. Visits fit the times unless they are given."""
    fields: dict[str, Any] = {
        "arm": arm,
        "size_bytes": size_bytes,
        "executed": {"algorithm": arm},
        "batch": 1,
        "times": [[seconds] * NUM_ROUNDS] * num_ranks,
        "verified": True,
        **changes,
    }
    fields.setdefault("visits", make_visits(len(fields["times"][0]) if fields["times"] else 0))
    return Cell.model_validate(fields)


def make_launch(index: int, cells: Sequence[Cell], **changes: object) -> Launch:
    """A launch of these cells, alone in its block; `changes` replace fields."""
    fields: dict[str, Any] = {
        "launch": index,
        "block": index,
        "arms": list(dict.fromkeys(cell.arm for cell in cells)),
        "seed": 1,
        "pids": [1, 2],
        "started_utc": "2026-01-01T00:00:00Z",
        "wall_seconds": 1.0,
        "load_average": 0.0,
        "cells": list(cells),
        **changes,
    }
    return Launch.model_validate(fields)


def make_stored(
    plan: Plan, seconds: Callable[[int, int, str], float], num_cores: int = 8, load: float = 0.0
) -> StoredRun:
    """A stored run in which `seconds(launch, size, arm)` is every sample of a cell."""
    order = [(size.size_bytes, arm.label) for size in plan.sizes for arm in plan.arms]
    launches = [
        make_launch(
            launch,
            [
                make_cell(
                    arm,
                    size,
                    seconds(launch, size, arm),
                    plan.num_ranks,
                    visits=make_visits(first_position=place, stride=len(order)),
                )
                for place, (size, arm) in enumerate(order)
            ],
        )
        for launch in range(plan.num_launches)
    ]
    return StoredRun(Path("runs/example"), make_run(plan, num_cores, load), launches, [])


class Started(Protocol):
    """A process that says something: as subprocess.Popen[str]."""

    @property
    def stderr(self) -> IO[str] | None: ...


def read_until(process: Started, words: str) -> str:
    """Reads what a process says until there are these words in a line."""
    assert process.stderr is not None
    said = ""
    for line in process.stderr:
        said += line
        if words in line:
            return said
    raise AssertionError(said)


def wait_until(condition: Callable[[], bool], seconds: float) -> float | None:
    """Polls until `condition` holds; returns the seconds that it took, None if it did not hold in time."""
    start = time.monotonic()
    while time.monotonic() - start < seconds:
        if condition():
            return time.monotonic() - start
        time.sleep(0.005)
    return None


def is_running(pid: int) -> bool:
    """True for a process that runs; false for one that is gone or only waits to be reaped."""
    try:
        state = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
    except (FileNotFoundError, ProcessLookupError):
        return False
    return state not in ("Z", "X")


def children_of(pid: int) -> list[int]:
    """Children of a process, zombies included."""
    found = []
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            try:
                fields = (entry / "stat").read_text().rpartition(")")[2].split()
            except (FileNotFoundError, ProcessLookupError):
                continue
            if int(fields[1]) == pid:
                found.append(int(entry.name))
    return found


def start_ringtree(*arguments: str, program: Sequence[str] = ("-m", "ringtree")) -> subprocess.Popen[str]:
    """Starts `python -m ringtree` in a group of its own, finding the same ringtree as this process."""
    path = os.pathsep.join(str(Path(entry or ".").absolute()) for entry in sys.path)
    return subprocess.Popen(
        [sys.executable, *program, *arguments],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        cwd="/",
        start_new_session=True,
        env={**os.environ, "PYTHONPATH": path},
    )


def start_quick_ringtree(*arguments: str) -> subprocess.Popen[str]:
    """As start_ringtree(), of a comparison whose times nobody looks at (quick_ringtree.py)."""
    return start_ringtree(*arguments, program=("-m", "quick_ringtree"))
