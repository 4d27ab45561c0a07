"""An algorithm forced on the torch.distributed backend: a profile whose every rule names it.

For: `ringtree:ring` in a training, by the one way in which the backend is told what to run (RINGTREE_PROFILE). Not for:
profiles that were measured (ringtree.tune).
"""

from __future__ import annotations

from datetime import datetime, timezone

from ringtree.comm.profile_format import Configuration, Profile, ProfileRule, ProfileTable, this_machine
from ringtree.schedules import algorithms as builtin
from ringtree.traits import COLLECTIVES

SIMPLE_FROM = 64 << 10  # bytes above which ll's flags, as large as the data, cost more than they save


def forced_profile(algorithm: str, group_sizes: list[int]) -> Profile:
    """Returns the profile for groups of these sizes on one host: the algorithm for every collective that has it."""
    rules = [
        ProfileRule(until_bytes=SIMPLE_FROM, configuration=Configuration(algorithm=algorithm, protocol="ll")),
        ProfileRule(until_bytes=None, configuration=Configuration(algorithm=algorithm, protocol="simple")),
    ]
    tables = [
        ProfileTable(collective=collective, num_ranks=size, own_cores=own, rules=rules, sizes=[])
        for collective in COLLECTIVES
        if algorithm in builtin.names(collective)
        for size in dict.fromkeys(group_sizes)
        for own in (True, False)
    ]
    return Profile(
        created_utc=datetime.now(timezone.utc).isoformat(timespec="seconds"),
        machine=this_machine(),
        versions={},
        git_commit=None,
        command=["ringtree", "train"],
        dtype="float32",
        seed=0,
        wall_seconds=0.0,
        tables=tables,
    )
