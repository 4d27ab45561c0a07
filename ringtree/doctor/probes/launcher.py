"""Who started this process as one of several ranks: what `ringtree launchers` prints, among the other facts.

For: doctor in a job, in each of its processes. Not for: finding it out (ringtree.launchers).
"""

from __future__ import annotations

from collections.abc import Iterator

from ringtree.doctor.host import Host
from ringtree.doctor.records import Fact, fail, told
from ringtree.launchers import Surroundings, describe

_NONE = "none has started this process as one of several ranks"


def launcher(host: Host) -> Iterator[Fact]:
    """The launcher, each fact with the variable that says it, and what would keep ranks from meeting."""
    found = describe(Surroundings(host.environment, host.above))
    if found.launcher is not None or found.problem is None:
        yield told("launcher", found.launcher or _NONE, "environment")
    for what, value, source in found.rows:
        yield told(what, value, source or "environment")
    if found.problem is not None:
        yield fail("start by a launcher", "not possible", "environment", found.problem)
