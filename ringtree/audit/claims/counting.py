"""What algorithms cost, counted on ringtree's own schedules: messages in a row, calls, bytes sent, links between hosts.

For: holding a sentence's steps, shares and formulas against schedules that were proved right. Not for: times (the
forms put rates in), NCCL's own algorithms where they differ from ringtree's.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache

from ringtree.errors import UsageError
from ringtree.schedule import Schedule, schedule

MAX_RANKS = 1024  # a schedule of more is counted too slowly; what holds up to here is not taken to hold beyond
_MAX_PROGRAMS = 64  # more than that, bytes are counted on every rank's program only here and there

# Numbers of ranks at which a formula must agree. Those of the second kind for formulas with a logarithm.
SAMPLES = (2, 3, 4, 5, 8, 12, 16, 17, 32)
POWERS = (2, 4, 8, 16, 32, 64)


@lru_cache(maxsize=256)
def _schedule(collective: str, algorithm: str, num_ranks: int, hosts: tuple[int, ...] | None = None) -> Schedule | None:
    if not 1 <= num_ranks <= MAX_RANKS:
        return None
    try:
        return schedule(collective, algorithm, num_ranks, hosts=hosts)
    except UsageError:
        return None


@lru_cache(maxsize=1024)
def hops(collective: str, algorithm: str, num_ranks: int) -> int | None:
    """Messages on the longest chain in which each waits for the one before. None: no such schedule."""
    found = _schedule(collective, algorithm, num_ranks)
    return None if found is None else found.cost().hops


@lru_cache(maxsize=1024)
def calls(collective: str, algorithm: str, num_ranks: int) -> int | None:
    """Steps of the busiest rank's program, which is how often NCCL's kernel would call a primitive."""
    found = _schedule(collective, algorithm, num_ranks)
    return None if found is None else found.cost().steps


@lru_cache(maxsize=1024)
def share(collective: str, algorithm: str, num_ranks: int) -> float | None:
    """The most that one rank sends to others, or receives, as a share of the size; a multicast counts for each
    reader."""
    found = _schedule(collective, algorithm, num_ranks)
    if found is None:
        return None
    ranks = range(num_ranks) if num_ranks <= _MAX_PROGRAMS else (0, 1, num_ranks // 2, num_ranks - 1)
    most = 0.0
    for rank in ranks:
        steps = found.program(rank)
        sent = sum(len(step.chunks) * len(step.send_to) for step in steps)
        received = sum(len(step.chunks) * len(step.recv) for step in steps)
        most = max(most, sent / found.num_chunks, received / found.num_chunks)
    return most


@lru_cache(maxsize=256)
def crossings(num_ranks: int, num_hosts: int) -> tuple[int, int] | None:
    """(links of the ring that join two hosts, all links of the ring), ranks placed host by host. None: not countable.

    Counted with at most 4 ranks a host: a ring enters and leaves a host once, however many ranks are inside.
    """
    if num_hosts < 1 or num_ranks % num_hosts or num_hosts > MAX_RANKS // 8:
        return None
    host = _placed(num_hosts * min(4, num_ranks // num_hosts), num_hosts)
    found = _schedule("all_reduce", "ring", len(host))
    if found is None:
        return None
    links = {(rank, peer) for rank in range(len(host)) for step in found.program(rank) for peer in step.send_to}
    return sum(host[a] != host[b] for a, b in links), num_ranks


@lru_cache(maxsize=256)
def host_share(algorithm: str, num_hosts: int, ranks_per_host: int) -> float | None:
    """What one host sends to the others in an all_reduce, as a share of the size; the most of any host."""
    host = _placed(num_hosts * ranks_per_host, num_hosts)
    found = _schedule("all_reduce", algorithm, len(host), tuple(host))
    if found is None or len(host) > _MAX_PROGRAMS:
        return None
    sent = [0.0] * num_hosts
    for rank, here in enumerate(host):
        for step in found.program(rank):
            away = sum(host[peer] != here for peer in step.send_to)
            sent[here] += away * len(step.chunks) / found.num_chunks
    return max(sent)


def _placed(num_ranks: int, num_hosts: int) -> Sequence[int]:
    return [rank * num_hosts // num_ranks for rank in range(num_ranks)]
