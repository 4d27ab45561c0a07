"""nccl-tests' own programs as a process set: each visit is a run of one.

For: what they measure, read by the reader of their logs. Not for: finding them (arms/nccl_tests.py).

A run has all ranks in one process (`-g`), loops of BATCH calls (`-n`), and as many of them as a visit has iterations
(`-N`); the time is that of the slowest rank (`-a 3`), out of place as their tables begin. The first run of a cell
is not timed: it is checked (`-c 1`), and NCCL writes what it chose.
"""

from __future__ import annotations

import io
import os
import subprocess
import tempfile
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from ringtree.arms.nccl_tests import program
from ringtree.logs import OUT_OF_PLACE, Side, Table, read_stream
from ringtree.measure.lifeline import Guard
from ringtree.measure.plan import PlannedLaunch
from ringtree.measure.process_set import CellKey, ProcessSet, Visited
from ringtree.measure.proven_set import WRITING, NcclLog, facts_of_lines, other_than_asked
from ringtree.nccl.nccl_tests import DTYPES, NO_OP, OPS
from ringtree.results import Boundary, Plan, WarmUp

BATCH = 20  # as nccl-tests' own default


class TestsSet:
    """The runs of arms that share their variables, in one launch."""

    __test__ = False  # pytest takes any class of such a name for a test
    boundary: Boundary = "cuda_native"
    restarts = 0

    def __init__(self, arms: Sequence[str], plan: Plan, environment: Mapping[str, str], patience: float) -> None:
        """`patience`: seconds of one run."""
        self.arms, self.pids = list(arms), list[int]()
        self._plan, self._environment, self._patience = plan, environment, patience
        self._facts: dict[CellKey, dict[str, Any]] = {}
        self._guard: Guard | None = None

    def start(self) -> None:
        self._guard = Guard()

    def ready(self) -> dict[str, str]:
        return {}

    def warm_up(self, cell: CellKey, budget: float) -> Visited:
        started = time.monotonic()
        with tempfile.TemporaryDirectory(prefix="ringtree-", ignore_cleanup_errors=True) as folder:
            variables = {**WRITING, "NCCL_DEBUG_FILE": f"{folder}/%h.%p"}
            try:
                table, [side] = self._run(cell, 1, 1, variables)
            except _RunFailed as failed:
                return self._nothing(cell, str(failed))
            lines = NcclLog(Path(folder)).new_lines()
        told = {"version": table.library_version}
        self._facts[cell] = facts_of_lines(lines, told, self._plan.collective, self._plan.num_ranks)
        if side.wrong is not None and side.wrong.value:
            return self._nothing(cell, f"wrong result: {side.wrong.value:.0f} elements")
        if (other := other_than_asked(self._facts[cell], self._plan.collective, self._environment)) is not None:
            return self._nothing(cell, other)
        warm_up = WarmUp(num_iterations=1, ended="limit")
        seconds = time.monotonic() - started
        return Visited(self._none(), self._executed(cell), warm_up=warm_up, seconds=seconds, batch=BATCH)

    def visit(self, cell: CellKey, untimed: int, timed: int) -> Visited:
        try:
            _, sides = self._run(cell, timed, 0, {})
        except _RunFailed as failed:
            return self._nothing(cell, str(failed))
        times = [side.time.value * BATCH for side in sides if side.time is not None]
        return Visited([times] * self._plan.num_ranks, self._executed(cell))

    def close(self) -> None:
        self.kill()

    def kill(self) -> None:
        if self._guard is not None:
            self._guard.close()
            self._guard = None

    def _run(self, cell: CellKey, cycles: int, checks: int, more: Mapping[str, str]) -> tuple[Table, list[Side]]:
        plan, guard = self._plan, self._guard
        assert guard is not None, "start() comes first"
        path = program(plan.collective)
        dtype = next(own for own, ours in DTYPES.items() if ours == plan.dtype)
        options = {"-b": cell.size_bytes, "-e": cell.size_bytes, "-g": plan.num_ranks, "-n": BATCH, "-w": 5,
                   "-N": cycles, "-c": checks, "-a": 3, "-d": dtype}  # fmt: skip
        if plan.op != NO_OP:
            options["-o"] = next(own for own, ours in OPS.items() if ours == plan.op)
        command = [str(path), *(str(word) for option in options.items() for word in option)]
        running = subprocess.Popen(
            command,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            env={**os.environ, **self._environment, **more},
            preexec_fn=lambda: os.setpgid(0, guard.group),  # so that nothing of it outlives the lab
        )
        self.pids = [running.pid] * plan.num_ranks
        try:
            output, _ = running.communicate(timeout=self._patience)
        except subprocess.TimeoutExpired:
            running.kill()
            running.communicate()
            raise _RunFailed(f"{command[0]} had not ended after {self._patience:.0f} s") from None
        tables = [item for item in read_stream(io.BytesIO(output), "nccl-tests").items if isinstance(item, Table)]
        sides = [(table, side) for table in tables for row in table.rows for side in row.sides[:1]]
        timed = [(table, side) for table, side in sides if side.place == OUT_OF_PLACE and side.time is not None]
        if len(timed) != cycles:
            lines = [line.strip() for line in output.decode(errors="replace").splitlines() if line.strip()]
            said = next((line for line in lines if "failure" in line or "error" in line.lower()), (lines or [""])[-1])
            raise _RunFailed(f"{Path(command[0]).name} ended with exit code {running.returncode}: {said}")
        return timed[0][0], [side for _, side in timed]

    def _executed(self, cell: CellKey) -> dict[str, Any]:
        return {"backend": "nccl-tests", "through": "C", **self._facts.get(cell, {})}

    def _nothing(self, cell: CellKey, error: str) -> Visited:
        return Visited(self._none(), self._executed(cell), error=error)

    def _none(self) -> list[list[float]]:
        return [[] for _ in range(self._plan.num_ranks)]


class _RunFailed(Exception):
    """A run without its rows; the message is one line."""


def tests_sets(plan: Plan, launch: PlannedLaunch, patience: float) -> list[ProcessSet]:
    """Returns a set for each environment of a launch's arms."""
    of_environment: dict[tuple[tuple[str, str], ...], list[str]] = {}
    for arm in launch.arms:
        of_environment.setdefault(tuple(sorted(arm.environment.items())), []).append(arm.label)
    return [TestsSet(arms, plan, dict(environment), patience) for environment, arms in of_environment.items()]
