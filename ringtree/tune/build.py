"""From what a tuning measured to the profile.

For: the rules of each collective and number of ranks, with the times that they were found by. Not for: measuring, or
files.
"""

from __future__ import annotations

from ringtree.errors import RingtreeError
from ringtree.profile import own_cores
from ringtree.profile_format import Candidate, MeasuredSize, Profile, Rule, Table, this_machine
from ringtree.tune.history import History, Key
from ringtree.tune.plan import last_launches
from ringtree.tune.records import Header
from ringtree.tune.rules import boundaries, choose_along
from ringtree.tune.scores import CellScores


def build_profile(header: Header, history: History) -> Profile:
    """Returns the profile. Raises RingtreeError if nothing was measured."""
    request, provenance = header.request, header.provenance
    tables = [
        table
        for collective in request.collectives
        for num_ranks in request.ranks
        if (table := _table(history, collective, num_ranks)) is not None
    ]
    if not tables:
        raise RingtreeError("no candidate could be measured, so there is nothing to choose from")
    return Profile(
        created_utc=header.created_utc,
        machine=this_machine(),
        versions=provenance.versions,
        git_commit=provenance.git_commit,
        command=provenance.command,
        dtype=request.dtype,
        seed=request.seed,
        wall_seconds=history.wall_seconds,
        tables=tables,
    )


def _table(history: History, collective: str, num_ranks: int) -> Table | None:
    launches = last_launches(history, num_ranks)
    keys: list[Key] = sorted(
        {(cell.collective, cell.size_bytes) for one in launches for cell in one.cells if cell.collective == collective}
    )
    scores = {key[1]: found for key in keys if (found := history.scores(launches, key)) is not None}
    if not scores:
        return None
    sizes = sorted(scores)
    judged = [scores[size].of_sizes_choice(scores[size].labels) for size in sizes]
    choices = choose_along(sizes, [ratios for ratios, _ in judged], [errors for _, errors in judged])
    by_label = history.configurations()
    rules = [Rule(until_bytes=until, configuration=by_label[label]) for until, label in boundaries(sizes, choices)]
    return Table(
        collective=collective,
        num_ranks=num_ranks,
        own_cores=own_cores(num_ranks),
        rules=rules,
        sizes=[_measured(history, (collective, size), num_ranks, scores[size]) for size in sizes],
    )


def _measured(history: History, key: Key, num_ranks: int, scores: CellScores) -> MeasuredSize:
    by_label = history.configurations()
    tried = {
        one.label
        for launch in history.launches
        if launch.num_ranks == num_ranks
        for cell in launch.cells
        if (cell.collective, cell.size_bytes) == key
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
