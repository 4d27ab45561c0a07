"""An algorithm forced on the torch.distributed backend: a profile whose every rule names it.

For: `ringtree:ring` in a training, by the one way in which the backend is told what to run (RINGTREE_PROFILE). Not for:
profiles that were measured (ringtree.tune).
"""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime, timezone

from ringtree.comm.profile_format import Configuration, Profile, ProfileRule, ProfileTable, this_machine
from ringtree.schedules import algorithms as builtin
from ringtree.traits import COLLECTIVES

SIMPLE_FROM = 64 << 10  # bytes above which ll's flags, as large as the data, cost more than they save


def forced_profile(algorithm: str, worlds: Iterable[tuple[int, int]]) -> Profile:
    """Returns the profile for groups of these (ranks, hosts): the algorithm for every collective that has it. Several
    hosts have equal, consecutive ranks: there are no rules for others."""
    tables = [
        ProfileTable(
            collective=collective,
            num_ranks=size,
            num_hosts=hosts,
            own_cores=own,
            rules=_rules(algorithm, hosts),
            sizes=[],
        )
        for collective in COLLECTIVES
        if algorithm in builtin.names(collective, several_hosts=True)
        for size, hosts in dict.fromkeys(worlds)
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


def _rules(algorithm: str, hosts: int) -> list[ProfileRule]:
    rest = ProfileRule(until_bytes=None, configuration=Configuration(algorithm=algorithm, protocol="simple"))
    if hosts > 1:
        return [rest]  # the flags of ll lie in shared memory
    small = Configuration(algorithm=algorithm, protocol="ll")
    return [ProfileRule(until_bytes=SIMPLE_FROM, configuration=small), rest]
