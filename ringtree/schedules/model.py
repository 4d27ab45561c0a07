"""The models: what a schedule costs in closed form on this machine, and by the sliced recurrence on an emulated
cluster.

For: predictions that measurements are held against. Not for: measuring.
"""

from __future__ import annotations

from collections.abc import Sequence

from ringtree._core import Machine, default_machine, estimate_seconds, machine_here
from ringtree._core import choose as core_choose
from ringtree._core import choose_on_hosts as core_choose_on_hosts
from ringtree._core import time_on_cluster as core_time_on_cluster
from ringtree.schedules.emulation import Emulation
from ringtree.schedules.schedule import Schedule


def machine(probed: bool = True) -> tuple[Machine, str]:
    """The constants by which a communicator on this host chooses without a profile, and one line about where they come
    from: built in, or with RINGTREE_PROBE=1 kept from an earlier probe or probed now. `probed` False: those that are
    built in. Raises UsageError for a RINGTREE_PROBE that is neither 0 nor 1."""
    return machine_here() if probed else (default_machine(), "constants built in")


def choose(collective: str, num_ranks: int, num_bytes: int, constants: Machine) -> tuple[str, str]:
    """(algorithm, reason) that the closed-form model takes for `num_bytes` bytes of the whole vector."""
    return core_choose(collective, num_ranks, num_bytes, constants)


def choose_on_hosts(
    collective: str, hosts: Sequence[int], num_bytes: int, links: tuple[float, float] | None = None
) -> tuple[str, str, dict[str, float]]:
    """(algorithm, reason, seconds by algorithm) for ranks on several hosts, by the sliced recurrence.

    `hosts`: the host of each rank, as of ringtree.schedule. `links`: latency in seconds and bytes per second between
    hosts; None: what ranks assume where they don't probe them.
    """
    names, seconds, index, reason = core_choose_on_hosts(collective, list(hosts), num_bytes, links)
    return names[index], reason, dict(zip(names, seconds, strict=True))


def estimate(schedule: Schedule, num_bytes: int, constants: Machine) -> float:
    """Seconds by the closed-form model."""
    return estimate_seconds(schedule.cost(), schedule.num_ranks, num_bytes, constants)


def time_on_cluster(schedule: Schedule, count: int, item_size: int, emulation: Emulation) -> float:
    """Seconds by the sliced recurrence on an emulated cluster, for `count` elements of `item_size` bytes."""
    return core_time_on_cluster(
        schedule.core, count, item_size, emulation.hosts, emulation.ranks_per_host, emulation.alpha, emulation.beta
    )
