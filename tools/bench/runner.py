"""Parts, measured by the lab one after another and stored as they end.

For: `run` of the bench, and what goes on where it was interrupted. Not for: plans (parts.py), hosts (across.py), or the
page (page.py).
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable
from pathlib import Path
from subprocess import TimeoutExpired

from bench.across import made_hosts, require_hosts, run_on_ranks, starter
from bench.parts import NATIVE, Choices, Part, plan_of
from bench.stored import PACKED, RAW, keep
from ringtree.errors import RingtreeError, UsageError
from ringtree.measure.crew import Crew
from ringtree.measure.launch import run_launch
from ringtree.measure.probe import usable_cores
from ringtree.measure.recording import LaunchBy, resume_comparison, run_comparison
from ringtree.results import StoredRun, read_run
from ringtree.results.files import RUN_FILE

NUM_CORES = 2
UNDER_WAY = "under-way"
Say = Callable[[str], None]


def run(choices: Choices, directory: Path, root: Path, say: Say) -> None:
    """Measures what `directory` lacks of the parts. A part that fails keeps the launches that it has, and the others go
    on. Raises UsageError for what can't be done; KeyboardInterrupt says how to go on."""
    if not 0 < choices.budget < float("inf"):
        raise UsageError(f"--budget must be above 0, not {choices.budget:g} s")
    if any(part.hosts > 1 for part in choices.parts):
        require_hosts()
    choose_cores()
    for part in choices.parts:
        runs = directory / UNDER_WAY / part.name
        if (directory / RAW / part.name / PACKED).exists():
            continue
        say(f"{part.name}: about {choices.seconds(part):.0f} s")
        try:
            _measure(part, choices, runs)
        except (RingtreeError, OSError, TimeoutExpired) as error:
            say(f"{part.name}: {error}")
        except KeyboardInterrupt:
            raise KeyboardInterrupt(f"stopped; go on with the same options and --out {directory}") from None
        begun = newest(runs)
        found = None if begun is None else read_run(begun)
        if found is not None and any(cell.times for launch in found.launches for cell in launch.cells):
            keep(found, directory, part.name, root)
    shutil.rmtree(directory / UNDER_WAY, ignore_errors=True)


def choose_cores() -> None:
    """Leaves this process and its ranks NUM_CORES cores: where two ranks share one is part of the question. Raises
    UsageError if there are fewer."""
    cores = usable_cores()
    if len(cores) < NUM_CORES:
        raise UsageError(f"the bench needs {NUM_CORES} cores, and {len(cores)} may be used")
    os.sched_setaffinity(0, cores[:NUM_CORES])


def newest(runs: Path) -> Path | None:
    """Returns the run that was begun last in a folder."""
    return max((file.parent for file in runs.glob(f"*/{RUN_FILE}")), default=None)


def measured(
    part: Part, choices: Choices, runs: Path, crew: Crew | None = None, launch_by: LaunchBy = run_launch
) -> StoredRun:
    """Runs a part, or what it lacks of the run that was begun in the folder `runs`. Raises RingtreeError."""
    begun, quietly = newest(runs), lambda launch, report: None
    if begun is not None:
        return resume_comparison(begun, quietly, crew, launch_by)
    return run_comparison(plan_of(part, choices), runs, quietly, crew=crew, launch_by=launch_by)


def _measure(part: Part, choices: Choices, runs: Path) -> None:
    if part.hosts == 1:
        measured(part, choices, runs)
        return
    with made_hosts(part) as hosts:
        if part.name.startswith(NATIVE):
            with starter(hosts) as launch_by:
                measured(part, choices, runs, launch_by=launch_by)
            return
        seconds = choices.seconds(part)
        options = {"parts": part.name, "budget": f"{seconds}s", "launches": choices.launches, "seed": choices.seed}
        options["out"] = runs.absolute()
        run_on_ranks(hosts, ["-m", "bench", "rank", *(f"--{name}={is_}" for name, is_ in options.items())], seconds)
