"""One launch of a training: the ranks that host its arms, and the cells that come of them.

For: what stands in for measure/launch.py where steps are timed. Not for: the ranks (program.py), or the order of
visits, which is the visit loop's.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from ringtree.arms import boundary_of
from ringtree.errors import UsageError
from ringtree.measure.crew import Crew
from ringtree.measure.launch import run_sets
from ringtree.measure.messages import ProgressReport, SetSpec, SetUp
from ringtree.measure.plan import PlannedLaunch, by_environment, data_seed
from ringtree.measure.rank_group import STALL_LIMIT
from ringtree.measure.rank_set import RankSet
from ringtree.results import ArmPlan, Cell, Launch, Plan
from ringtree.train.script_set import ScriptSet

PROGRAM = "ringtree.train.program"
SCRIPT_LIMIT = 24 * 3600.0  # seconds of a whole script, which may be a real training


class NoProbe:
    """Steps take so long that the placement of cores changes inside of them: it is not probed."""

    def measure(self) -> None:
        """Returns that nothing was probed."""


def run_training_launch(
    plan: Plan,
    launch: PlannedLaunch,
    on_progress: Callable[[ProgressReport], None],
    crew: Crew | None = None,
    before: Sequence[Launch] = (),
    stall_limit: float = STALL_LIMIT,
) -> tuple[list[int], list[Cell]]:
    """As run_launch() of ringtree.measure. Raises LaunchFailed if a rank dies."""
    training = plan.training
    assert training is not None, "it is a training's plan"
    size, num_ranks = plan.workloads[launch.workload]
    model = training.models[size]
    hosts = [0] * num_ranks if crew is None else crew.hosts_of(num_ranks)
    spec = SetSpec(
        num_ranks=num_ranks,
        seed=data_seed(plan, launch.block),  # the same data for all launches of a block
        boundary=boundary_of(plan),
        program=PROGRAM,
        job={"training": training.model_dump(mode="json"), "model": model.model_dump(mode="json"), "hosts": hosts},
    )
    # What is forced on NCCL is a variable: arms on GPUs share a launch, and those of each environment have processes.
    sets = [
        RankSet([_set_up(arm) for arm in arms], spec, arms[0].environment, crew, stall_limit)
        for arms in by_environment(launch.arms)
    ]
    pids, cells = run_sets(plan, launch, sets, on_progress, {}, NoProbe())
    return pids, stored(cells, training.alone)


def _set_up(arm: ArmPlan) -> SetUp:
    return SetUp(arm=arm.label, name=arm.name, collective="all_reduce", op="sum", dtype="float32")


def run_script_launch(
    plan: Plan,
    launch: PlannedLaunch,
    on_progress: Callable[[ProgressReport], None],
    crew: Crew | None = None,
    before: Sequence[Launch] = (),
) -> tuple[list[int], list[Cell]]:
    """As run_training_launch(), of a user's script, of one arm. Raises LaunchFailed if it fails."""
    training = plan.training
    assert training is not None, "it is a training's plan"
    if crew is not None:
        raise UsageError("a script is started by ringtree itself, on one host: run this without a launcher")
    [arm] = launch.arms
    one = ScriptSet(
        arm.label,
        arm.name,
        training.command,
        training.metric,
        plan.workloads[launch.workload][1],
        boundary_of(plan),
        arm.environment,
        SCRIPT_LIMIT,
    )
    return run_sets(plan, launch, [one], on_progress, {}, NoProbe())


def stored(cells: Sequence[Cell], alone: str | None) -> list[Cell]:
    """Returns the cells as they are stored: losses of an arm that moves nothing mean nothing, and may be no numbers."""
    return [
        cell.model_copy(update={"trained": cell.trained.model_copy(update={"losses": []})})
        if cell.arm == alone and cell.trained is not None
        else cell
        for cell in cells
    ]
