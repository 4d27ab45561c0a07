"""One launch of a comparison: the process sets that host its arms, and the cells that come of them.

For: which sets a launch needs. Not for: what runs when (visit_loop.py), or storing (recording.py).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial

from ringtree.arms import Native, Program, boundary_of, native_of
from ringtree.arms.mpi import told_of
from ringtree.arms.own_launcher import launched_by
from ringtree.measure.crew import Crew
from ringtree.measure.environment import memory_for
from ringtree.measure.giving_up import given_up, patience
from ringtree.measure.messages import Memory, ProgressReport, SetSpec, SetUp
from ringtree.measure.plan import PlannedLaunch, by_environment, data_seed, memory_to_keep, sizes_of
from ringtree.measure.probe import Handoff, usable_cores
from ringtree.measure.process_set import ProcessSet
from ringtree.measure.rank_group import STALL_LIMIT, LaunchFailed
from ringtree.measure.rank_set import RankSet
from ringtree.measure.visit_loop import Probe, RoundOrder, VisitLoop
from ringtree.measure.worker_set import Deadlines, Moved, NativeCalls, WorkerSet
from ringtree.results import ON_GPU, ArmPlan, Cell, Launch, Plan


def run_launch(
    plan: Plan,
    launch: PlannedLaunch,
    on_progress: Callable[[ProgressReport], None],
    stall_limit: float = STALL_LIMIT,
    crew: Crew | None = None,
    before: Sequence[Launch] = (),
) -> tuple[list[int], list[Cell]]:
    """Runs one launch; returns the ranks' pids and its cells: sizes ascending, arms as in the plan.

    `on_progress` is called with each visit. `stall_limit`: seconds that one of them may take. `crew`: who starts the
    ranks where a launcher has started processes. `before`: earlier launches, so that what they gave up is not tried
    again. Call it from the main thread. Raises LaunchFailed if no process is left.
    """
    hopeless = given_up(before)
    tried = [
        arm
        for arm in launch.arms
        if any((size.size_bytes, arm.label) not in hopeless for size in sizes_of(plan, launch))
    ]
    boundary = boundary_of(plan)
    if boundary == "native":
        cores = usable_cores()[: plan.num_ranks]
        start = partial(launched_by, plan.native_launcher)
        sets = worker_sets(plan, launch, tried, cores, patient(stall_limit), start)
        return run_sets(plan, launch, sets, on_progress, hopeless, Handoff(cores) if len(cores) > 1 else None)
    if boundary in ON_GPU:  # what NCCL was waited for in vain would be waited for by all
        stall_limit = min(stall_limit, 1.5 * patience(plan) + 30)
    ranks = partial(rank_set, plan, tried, spec_of(plan, launch), crew, stall_limit)
    # What NCCL says is read by the readers of logs, whose import takes as long as all else of a launch: every agent of
    # a job would wait for it.
    if boundary == "cuda_native":
        from ringtree.measure.tests_set import tests_sets

        return run_sets(plan, launch, tests_sets(plan, launch, stall_limit), on_progress, hopeless)
    if boundary == "cuda":
        from ringtree.measure.proven_set import proven_sets

        return run_sets(plan, launch, proven_sets(plan, launch, ranks, before), on_progress, hopeless)
    groups = by_environment(tried or launch.arms)
    return run_sets(plan, launch, [ranks(arms, {}) for arms in groups], on_progress, hopeless)


def spec_of(plan: Plan, launch: PlannedLaunch) -> SetSpec:
    """Returns what all ranks of a launch are told. Made once, before the first of them takes memory."""
    boundary = boundary_of(plan)
    # Half of what is free: the other half is for what arms and libraries take besides.
    keep = memory_to_keep(plan, launch) <= memory_for(boundary, plan.num_ranks) // 2
    return SetSpec(
        num_ranks=plan.num_ranks,
        seed=data_seed(plan, launch.launch),
        boundary=boundary,
        memory=Memory(keep=keep),
        emulation=plan.emulation,
        timeout=patience(plan),
    )


def rank_set(
    plan: Plan,
    tried: Sequence[ArmPlan],
    spec: SetSpec,
    crew: Crew | None,
    stall_limit: float,
    arms: Sequence[ArmPlan],
    more: Mapping[str, str],
) -> RankSet:
    """Returns the ranks that host those of `arms` that are `tried`. `arms` share their variables; the ranks get `more`
    besides."""
    set_ups = [
        SetUp(arm=arm.label, name=arm.name, collective=plan.collective, op=plan.op, dtype=plan.dtype)
        for arm in arms
        if arm in tried
    ]
    return RankSet(set_ups, spec, {**arms[0].environment, **more}, crew, stall_limit)


def patient(stall_limit: float) -> Deadlines:
    """Returns the deadlines of native processes where no visit may take longer than `stall_limit` seconds."""
    usual = Deadlines()
    return Deadlines(min(usual.start, stall_limit), min(usual.first, stall_limit), min(usual.visit, stall_limit))


def worker_sets(
    plan: Plan,
    launch: PlannedLaunch,
    arms: Sequence[ArmPlan],
    cores: Sequence[int],
    deadlines: Deadlines,
    started_as: Callable[[Program], Program] = lambda program: program,
) -> list[WorkerSet]:
    """Returns the native processes that host `arms`: those of one library with the same variables are one set. All sets
    share the launch, so that all arms are paired. Ranks are pinned to `cores` in turn. `started_as`: the program that
    starts a library's ranks otherwise than ringtree does on this host."""
    natives = {arm.label: native_of(arm, plan.collective) for arm in arms}
    groups: dict[tuple[Program, tuple[tuple[str, str], ...]], list[ArmPlan]] = {}
    for arm in arms:
        native = natives[arm.label]
        variables = {**dict(native.controls.variables), **arm.environment}
        groups.setdefault((native.program, tuple(sorted(variables.items()))), []).append(arm)
    moved = Moved(plan.collective, plan.dtype, plan.op, data_seed(plan, launch.launch))
    return [
        WorkerSet(
            started_as(program),
            {arm.label: calls_of(natives[arm.label]) for arm in of_set},
            moved,
            plan.num_ranks,
            cores,
            deadlines,
            dict(variables),
            {**told_of(of_set[0].environment), **dict(natives[of_set[0].label].controls.wanted)},
        )
        for (program, variables), of_set in groups.items()
    ]


def calls_of(native: Native) -> NativeCalls:
    """Returns how workers call an arm."""
    return NativeCalls(shared=native.shared, algorithm=native.words)


def run_sets(
    plan: Plan,
    launch: PlannedLaunch,
    sets: Sequence[ProcessSet],
    on_progress: Callable[[ProgressReport], None],
    hopeless: Mapping[tuple[int, str], str],
    probe: Probe | None = None,
    order: RoundOrder | None = None,
) -> tuple[list[int], list[Cell]]:
    """As run_launch(), of arms that `sets` host; `hopeless`: cells that are not tried; the others as VisitLoop's."""
    try:
        cells = VisitLoop(plan, launch, sets, on_progress, hopeless, probe, order).run()
    except LaunchFailed as failed:
        raise LaunchFailed(f"launch {launch.launch + 1} failed {failed}") from None
    return [pid for one in sets for pid in one.pids], cells
