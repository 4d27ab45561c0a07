"""What a schedule of ringtree's moves over each class of links, counted step by step.

For: the bytes behind `limit` for ringtree's own algorithms, and for one that you wrote. Not for: closed forms, and not
for the engine's shared memory, where one slot serves many readers: between GPUs each reader costs a transfer of its
own, unless a switch multicasts (where that is not known it is taken as possible).
"""

from __future__ import annotations

from collections import defaultdict

from ringtree.errors import UsageError
from ringtree.hardware.limit_records import LinkClass, Traffic, traffic
from ringtree.hardware.topology import Topology
from ringtree.schedules.schedule import Schedule

MAX_RANKS = 512


def count(schedule: Schedule, topology: Topology) -> list[Traffic]:
    """Shares of the size over each class of links, of the busiest rank, pair and host. Ranks lie on hosts in blocks, as
    they are numbered. Raises UsageError for more ranks than can be counted step by step."""
    n, r = schedule.num_ranks, topology.ranks_per_host
    if n != topology.num_ranks:
        raise UsageError(f"the schedule is for {n} ranks, the topology has {topology.num_ranks}")
    if n > MAX_RANKS:
        raise UsageError(f"{n} ranks are too many to count a schedule step by step (at most {MAX_RANKS})")
    # all_to_all has a chunk for each pair of ranks, and its size is what one rank sends.
    chunk = (n if schedule.collective == "all_to_all" else 1) / schedule.num_chunks
    moved: dict[tuple[LinkClass, str, object], float] = defaultdict(float)
    for sender in range(n + len(schedule.switches)):
        for step in schedule.program(sender):
            share = len(step.chunks) * chunk
            if sender >= n:  # a switch: down to each reader
                for reader in step.send_to:
                    moved["intra", "in", reader] += share
            elif step.send_to and step.send_to[0] >= n:  # up to it
                moved["intra", "out", sender] += share
            else:
                _add(moved, sender, step.send_to, share, r, topology.nvls is not False)
    busiest: dict[LinkClass, float] = defaultdict(float)
    for (link, _, _), share in moved.items():
        busiest[link] = max(busiest[link], share)
    classes: tuple[LinkClass, ...] = (
        ("intra", "network") if topology.pair_rate is None else ("intra", "pair", "network")
    )
    name = schedule.name
    return [
        traffic(link, busiest[link], f"counted in the schedule of {name}: {busiest[link]:g} of the size")
        for link in classes
        if busiest[link]
    ]


def _add(
    moved: dict[tuple[LinkClass, str, object], float],
    sender: int,
    readers: tuple[int, ...],
    share: float,
    ranks_per_host: int,
    multicast: bool,
) -> None:
    """Books one send. Inside a host it leaves the rank once if the switch multicasts, else once for each reader."""
    home = sender // ranks_per_host
    near = [reader for reader in readers if reader // ranks_per_host == home]
    if near:
        moved["intra", "out", sender] += share * (1 if multicast else len(near))
    for reader in near:
        moved["intra", "in", reader] += share
        moved["pair", "", (sender, reader)] += share
    for reader in readers:
        if reader // ranks_per_host != home:
            moved["network", "out", home] += share
            moved["network", "in", reader // ranks_per_host] += share
