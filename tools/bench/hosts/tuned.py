"""`ringtree tune` between the hosts of the bench, and which rules of the profile are for such hosts.

For: what `auto` and the engine choose by in the parts. Not for: tuning (ringtree.tune).
"""

from __future__ import annotations

import sys
from collections.abc import Callable

from bench.hosts.network import made_hosts, patience_for, require_hosts, run_on_ranks
from bench.hosts.worlds import WORLDS
from bench.parts import ALL_REDUCE
from ringtree.comm import profile

LARGEST = "16M"  # that the parts measure


def _shapes() -> list[tuple[int, int]]:
    """Hosts and ranks on each, of all parts."""
    return sorted({(world.hosts, world.ranks_per_host) for world in WORLDS})


def tune_worlds(budget: float, say: Callable[[str], None]) -> None:
    """Tunes all_reduce for the hosts of all parts over bare links, in `budget` seconds. Raises RingtreeError."""
    require_hosts()
    seconds = budget / len(_shapes())
    for count, each in _shapes():
        say(f"tuning {count}x{each}: about {seconds:.0f} s")
        command = [sys.executable, "-m", "ringtree", "tune", "--sizes", f"8:{LARGEST}", "--budget", f"{seconds:.0f}s"]
        with made_hosts(count, each) as hosts:
            say(run_on_ranks(hosts, command, patience_for(seconds)))


def rules_for_hosts() -> list[str]:
    """The worlds of several hosts for which the profile has rules of all_reduce: ["2x1"]."""
    found = profile.load(None).profile
    tables = [] if found is None else [table for table in found.tables if table.collective == ALL_REDUCE]
    return [f"{t.num_hosts}x{t.num_ranks // t.num_hosts}" for t in tables if t.num_hosts > 1]
