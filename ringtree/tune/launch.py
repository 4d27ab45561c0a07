"""One launch of a tuning: fresh ranks that host every candidate as an arm of the engine.

For: which arms and operands the ranks have. Not for: what runs when (rounds.py), what is measured (plan.py) or stored
(state.py).
"""

from __future__ import annotations

from collections.abc import Callable

from ringtree.comm.profile_format import AUTO, Configuration
from ringtree.measure.crew import Crew
from ringtree.measure.messages import Memory, SetSpec, SetUp
from ringtree.measure.process_set import SetFailed
from ringtree.measure.rank_group import LaunchFailed
from ringtree.measure.rank_set import RankSet
from ringtree.tune.measured import TuneLaunch, TuneRequest
from ringtree.tune.rounds import OnMeasured, TuneRounds, arm_of
from ringtree.tune.visits import visit_of

# Every candidate keeps its links, so more of them than one program needs exist at the same time.
MEMORY_CAP = 2 << 30
MeasureLaunch = Callable[[TuneRequest, TuneLaunch, int, OnMeasured], None]


def measure_launch(
    request: TuneRequest, launch: TuneLaunch, first_sweep: int, on_measured: OnMeasured, crew: Crew | None = None
) -> None:
    """Runs a launch; `on_measured` gets what was measured at once. `crew`: who starts the ranks where they run on
    several hosts. Raises LaunchFailed."""
    world = launch.world
    arms = {
        arm_of(cell.collective, one.label): (engine_name(one, world.shared_buffers), cell.collective)
        for cell in launch.cells
        for one in cell.candidates
    }
    sizes = sorted(cell.size_bytes for cell in launch.cells)
    ranks = RankSet(
        [SetUp(arm=arm, name=name, collective=of, op="sum", dtype=request.dtype) for arm, (name, of) in arms.items()],
        SetSpec(
            num_ranks=world.num_ranks,
            seed=request.seed,
            boundary="numpy",
            # Private buffers are mostly reduced in place; shared ones can be read in place out of place.
            memory=Memory(in_place=not world.shared_buffers, largest={visit_of(size).batch: size for size in sizes}),
            profile=request.profile,
            memory_cap=MEMORY_CAP,
        ),
        crew=crew,
    )
    try:
        ranks.start()
        TuneRounds(request, launch, first_sweep, ranks, on_measured).run()
        ranks.close()
    except (SetFailed, LaunchFailed) as failed:
        raise LaunchFailed(f"{launch.stage} with {world.words} failed: {failed}") from None
    finally:
        ranks.kill()


def engine_name(candidate: Configuration, shared_buffers: bool) -> str:
    """Returns the name of the engine's arm that runs a candidate with such buffers, and leaves nothing to the engine
    unless the candidate is auto."""
    copies = [] if candidate.algorithm == AUTO or candidate.streaming else ["ordinary"]
    return "/".join([candidate.label, *copies, *(["shared"] if shared_buffers else [])])
