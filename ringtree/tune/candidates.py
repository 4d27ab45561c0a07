"""Which configurations can be the fastest of a cell.

For: the candidates that tuning begins with, and the variants of those that survive. Not for: dropping any (scores.py),
or for what an algorithm is: names come from the engine's own table.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator

from ringtree.comm.communicator import support
from ringtree.comm.profile_format import AUTO, Configuration
from ringtree.errors import UsageError
from ringtree.schedules import algorithms
from ringtree.schedules.schedule import schedule
from ringtree.tune.world import World

SLICES = (16 << 10, 32 << 10, 64 << 10)  # beside the plan's own, which adapts to the size
STREAMING_FROM = 4 << 20  # bytes; what is smaller is read again before it has left the caches
BETWEEN_HOSTS = "simple"  # the protocol whose messages go over a network
LEAVE_TO_ENGINE = Configuration(algorithm=AUTO, protocol=AUTO)


def first_candidates(collective: str, world: World) -> list[Configuration]:
    """Returns every algorithm with every protocol that runs it, with the plan's own slices and ordinary copies.

    Raises UsageError if the engine runs nothing for `collective`.
    """
    if world.num_hosts > 1:
        runs = [(algorithm, BETWEEN_HOSTS) for algorithm in _algorithms_on(collective, world)]
    else:
        runs = [(name, protocol) for of, name, protocol, why in support() if of == collective and not why]
    found = [Configuration(algorithm=algorithm, protocol=protocol) for algorithm, protocol in runs]
    if not found:
        raise UsageError(f"no algorithm runs {collective!r}; `ringtree support` lists what runs")
    return found


def _algorithms_on(collective: str, world: World) -> Iterator[str]:
    """The algorithms that such hosts can run: some want several ranks on each, or as many hosts as a power of two."""
    hosts = [rank // (world.num_ranks // world.num_hosts) for rank in range(world.num_ranks)]
    for name in algorithms.names(collective, several_hosts=True):
        with contextlib.suppress(UsageError):
            schedule(collective, name, ranks=world.num_ranks, hosts=hosts)
            yield name


def variants(configuration: Configuration, size_bytes: int) -> list[Configuration]:
    """Returns `configuration` and what differs from it in slices and streaming only, where that can matter.

    A slice size matters where an operand is longer than it; bulk copies past the caches only at large sizes.
    """
    slices = [0, *(slice_bytes for slice_bytes in SLICES if slice_bytes < size_bytes)]
    ways = [False, True] if size_bytes >= STREAMING_FROM else [False]
    return [
        configuration.model_copy(update={"slice_bytes": slice_bytes, "streaming": streaming})
        for streaming in ways
        for slice_bytes in slices
    ]
