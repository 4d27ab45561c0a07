"""From what a tuning measured to the profile.

For: the rules of each collective in each world, with the times that they were found by. Not for: measuring, or files.
"""

from __future__ import annotations

from ringtree.comm.profile import own_cores
from ringtree.comm.profile_format import Candidate, MeasuredSize, Profile, ProfileRule, ProfileTable, this_machine
from ringtree.errors import RingtreeError
from ringtree.tune.history import History, Key, key_of
from ringtree.tune.measured import Header, TuneRequest
from ringtree.tune.plan import last_launches
from ringtree.tune.rules import boundaries, choose_along
from ringtree.tune.scores import CellScores
from ringtree.tune.world import World


def build_profile(header: Header, history: History) -> Profile:
    """Returns the profile. Raises RingtreeError if nothing was measured."""
    request, provenance = header.request, header.provenance
    tables = [
        table
        for collective in request.collectives
        for world in request.worlds
        if (table := _table(request, history, collective, world)) is not None
    ]
    if not tables:
        raise RingtreeError("no candidate could be measured, so there is nothing to choose from")
    return Profile(
        created_utc=header.created_utc,
        machine=this_machine(),
        **provenance.model_dump(include={"versions", "git_commit", "command"}),
        dtype=request.dtype,
        seed=request.seed,
        wall_seconds=history.wall_seconds,
        tables=tables,
    )


def _table(request: TuneRequest, history: History, collective: str, world: World) -> ProfileTable | None:
    scores = _scores(history, collective, world)
    if not scores:
        return None
    measured_in = dict.fromkeys(scores, world)
    # One way through all sizes, the small ones of private buffers included: so no rule changes there for nothing.
    for size, found in _scores(history, collective, world.private).items():
        if world.leaves_to_private(size, request.worlds):
            scores[size], measured_in[size] = found, world.private
    sizes = sorted(scores)
    judged = [scores[size].of_sizes_choice(scores[size].labels) for size in sizes]
    choices = choose_along(sizes, [ratios for ratios, _ in judged], [errors for _, errors in judged])
    by_label = history.configurations()
    bounds = boundaries(sizes, choices)
    rules = [ProfileRule(until_bytes=until, configuration=by_label[label]) for until, label in bounds]
    return ProfileTable(
        collective=collective,
        num_ranks=world.num_ranks,
        num_hosts=world.num_hosts,
        own_cores=own_cores(world.num_ranks) if request.own_cores is None else request.own_cores,
        shared_buffers=world.shared_buffers,
        rules=rules,
        sizes=[_measured(history, (collective, size), measured_in[size], scores[size]) for size in sizes],
    )


def _scores(history: History, collective: str, world: World) -> dict[int, CellScores]:
    """The scores of a collective in a world by size, as far as the launches that decide measured any."""
    launches = last_launches(history, world)
    keys: set[Key] = {key_of(cell) for one in launches for cell in one.cells if cell.collective == collective}
    return {key[1]: found for key in keys if (found := history.scores(launches, key)) is not None}


def _measured(history: History, key: Key, world: World, scores: CellScores) -> MeasuredSize:
    by_label = history.configurations()
    tried = {
        one.label
        for launch in history.launches
        if launch.world == world
        for cell in launch.cells
        if key_of(cell) == key
        for one in cell.candidates
    }
    return MeasuredSize(
        size_bytes=key[1],
        num_rounds=dict(scores.num_rounds),
        candidates=[
            Candidate(
                configuration=by_label[label],
                seconds={name: of[label] for name, of in scores.seconds.items()},
                ratio=scores.worst(label),
            )
            for label in scores.labels
        ],
        num_dropped=len(tried) - len(scores.labels),
    )
