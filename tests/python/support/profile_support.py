"""A measured profile with one small table, made up.

For: tests of profiles and of what reads one. Not for: assertions.
"""

from __future__ import annotations

from typing import Any

from ringtree.comm.profile_format import (
    Candidate,
    Configuration,
    MeasuredSize,
    Profile,
    ProfileRule,
    ProfileTable,
    this_machine,
)

SMALL = Configuration(algorithm="one_shot", protocol="ll128")
LARGE = Configuration(algorithm="two_shot", protocol="simple", slice_bytes=32768, streaming=True, channels=2)


def make_table(**changes: Any) -> ProfileTable:
    fields: dict[str, Any] = {
        "collective": "all_reduce",
        "num_ranks": 2,
        "own_cores": True,
        "rules": [
            ProfileRule(until_bytes=4096, configuration=SMALL),
            ProfileRule(until_bytes=None, configuration=LARGE),
        ],
        "sizes": [
            MeasuredSize(
                size_bytes=size,
                num_rounds={"": 9},
                num_dropped=1,
                candidates=[Candidate(configuration=SMALL, seconds={"": 1e-6}, ratio=1.0)],
            )
            for size in (8, 1 << 20)
        ],
    }
    return ProfileTable.model_validate({**fields, **changes})


def make_profile(**changes: Any) -> Profile:
    fields: dict[str, Any] = {
        "created_utc": "2026-11-21T10:00:00Z",
        "machine": this_machine(),
        "versions": {"ringtree": "0"},
        "git_commit": None,
        "command": ["ringtree", "tune"],
        "dtype": "float32",
        "seed": 1,
        "wall_seconds": 2.0,
        "tables": [make_table()],
    }
    return Profile.model_validate({**fields, **changes})
