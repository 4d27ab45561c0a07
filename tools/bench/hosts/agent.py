"""A rank of the lab's crew: `python -m bench.hosts.agent PLAN RUNS`, one for each rank, on its host.

For: running a plan of the lab between hosts. Rank 0's agent measures, stores the run in the folder RUNS and prints its
path; the others do what it says (ringtree.measure.crew). Not for: choosing the plan (worlds.py).

Launches that the time does not hold are left out, but for as many as a verdict needs; one that fails is left out, too.
"""

from __future__ import annotations

import sys
import time
from functools import partial
from pathlib import Path

from ringtree.errors import RingtreeError, UsageError
from ringtree.measure.crew import Crew
from ringtree.measure.environment import capture
from ringtree.measure.joining import crew_of_the_launcher
from ringtree.measure.launch import run_launch
from ringtree.measure.plan import planned_launches
from ringtree.measure.rank_group import LaunchFailed
from ringtree.measure.recording import measure_launch
from ringtree.results import Launch, Plan, Run, RunWriter
from ringtree.stats import least_launches


def measure(plan: Plan, runs: Path, crew: Crew) -> Path:
    """Runs the plan and returns the stored run's path. Raises LaunchFailed if no launch worked."""
    started = time.monotonic()
    now = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())
    run = Run(run_id="hosts", created_utc=now, plan=plan, provenance=capture(emulated=False, rank_defaults={}))
    failures: list[LaunchFailed] = []
    stored: list[Launch] = []
    with RunWriter(runs, run) as writer:
        for number, launch in enumerate(planned_launches(plan)):
            spent = time.monotonic() - started
            if plan.time_budget is not None and spent > plan.time_budget and number >= least_launches(plan.level):
                break
            try:
                do = partial(run_launch, plan, launch, lambda _: None, crew=crew, before=stored)
                stored.append(measure_launch(plan, launch, do))
                writer.append(stored[-1])
            except LaunchFailed as failed:
                failures.append(failed)
        if failures and not writer.stored:
            raise failures[-1]
        return writer.path


def main(plan_file: str, runs: str) -> int:
    """Returns the exit code; 1: what went wrong is on standard error."""
    try:
        crew = crew_of_the_launcher()
        if crew is None:
            raise UsageError("no launcher has started several processes: RANK and WORLD_SIZE must be set")
        with crew:
            if not crew.is_lab:
                crew.serve()
                return 0
            plan = Plan.model_validate_json(Path(plan_file).read_bytes())
            print(measure(plan.model_copy(update={"hosts": crew.agent_hosts}), Path(runs), crew))
    except RingtreeError as error:
        print(f"agent: {error}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
