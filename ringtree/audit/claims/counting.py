"""What algorithms cost, counted on ringtree's own schedules or, of NCCL's, by ringtree.nccl.

For: steps, shares of the size and calls, and at which numbers of ranks a formula must agree with them. Not for: times
(the kinds put rates in), how they are counted there. All raise UsageError for what can't be counted.
"""

from __future__ import annotations

from functools import lru_cache

from ringtree.audit.claims.formulas import Formula, formula
from ringtree.audit.claims.statement import Whose
from ringtree.errors import UsageError
from ringtree.hardware import Topology, limit
from ringtree.nccl import limit as nccl_limit
from ringtree.nccl import minimum_steps
from ringtree.schedules.schedule import Schedule, schedule

MAX_RANKS = 2048  # more are counted too slowly
# Numbers of ranks at which a formula must agree. Those of the second kind for formulas with a logarithm.
SAMPLES = (2, 3, 4, 5, 8, 12, 16, 17, 32)
POWERS = (2, 4, 8, 16, 32, 64)
_CLOSED = tuple(map(formula, ("2(n-1)", "n-1", "2·floor(log2 n)", "2·ceil(log2 n)", "floor(log2 n)")))


def samples(of: Formula) -> tuple[int, ...]:
    """At which numbers of ranks to compare a formula."""
    return POWERS if "log" in of.text or "⌈" in of.text else SAMPLES


@lru_cache(maxsize=1024)
def hops(
    collective: str, algorithm: str, num_ranks: int, whose: Whose = "textbook", num_hosts: int | None = None
) -> int:
    """Messages on the longest chain in which each waits for the one before. `num_hosts`: for NCCL's, which is a chain
    inside a host; None: each rank is a host of its own."""
    if whose == "textbook":
        return _schedule(collective, algorithm, num_ranks).cost().hops
    hosts = num_hosts or num_ranks
    if num_ranks % hosts:
        raise UsageError(f"{num_ranks} ranks do not lie evenly on {hosts} hosts")
    return minimum_steps(collective, algorithm, num_ranks, num_ranks // hosts)


@lru_cache(maxsize=1024)
def calls(collective: str, algorithm: str, num_ranks: int) -> int:
    """Steps of the busiest rank's program, which is how often a kernel would call a primitive."""
    return _schedule(collective, algorithm, num_ranks).cost().steps


@lru_cache(maxsize=1024)
def share(collective: str, algorithm: str, num_ranks: int, whose: Whose = "textbook", num_hosts: int = 1) -> float:
    """The most that one rank sends inside its host, or receives, as a share of the size; of several hosts, the most
    that one host sends to the others. A multicast counts for each reader."""
    topology = Topology(num_hosts=num_hosts, ranks_per_host=num_ranks // num_hosts, nvls=False)
    of_textbook = whose == "textbook"
    of = limit(collective, algorithm.lower(), topology) if of_textbook else nccl_limit(collective, algorithm, topology)
    link = "network" if num_hosts > 1 else "intra"
    return max((one.traffic.share for one in of.uses if one.traffic.link == link), default=0.0)


@lru_cache(maxsize=256)
def closed_form(collective: str, algorithm: str) -> str:
    """The steps as a formula for people; "that many" where none is known."""
    counted = {n: hops(collective, algorithm, n) for n in (2, 3, 5, 8, 13, 16)}
    found = (one.text for one in _CLOSED if all(one.value(ranks=n) == steps for n, steps in counted.items()))
    return next(found, "that many")


def _schedule(collective: str, algorithm: str, num_ranks: int) -> Schedule:
    if num_ranks > MAX_RANKS:
        raise UsageError(f"{num_ranks} ranks are too many to count a schedule (at most {MAX_RANKS})")
    return schedule(collective, algorithm.lower(), num_ranks)
