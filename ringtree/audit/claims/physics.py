"""What hardware permits, as far as a sentence or its table names the hardware.

For: the forms that hold rates against ringtree.hardware. Not for: the limits themselves (there).

Where a name leaves several GPUs ("H100": SXM, PCIe, NVL) the fastest counts, and where nothing is known of the network
only the links inside the host do: a limit here is never too low.
"""

from __future__ import annotations

import re
from functools import lru_cache

from ringtree.audit.claims.claim import Claim
from ringtree.errors import UsageError
from ringtree.hardware import Catalogue, Gpu, Limit, Topology, highest, load_catalogue, match_gpu

_GPU_WORD = re.compile(
    r"\b(?:(?:NVIDIA|AMD)\s+)?((?:[AHVBP]\d{2,3}|GH200|GB\d{3}|MI\d{3}X?)"
    r"(?:[- ](?:SXM\d?|PCIe|NVL|\d{2,3} ?GB|HBM\d\w?))*)(?:s\b|\b)"
)


@lru_cache(maxsize=1)
def _catalogue() -> Catalogue:
    return load_catalogue()


def gpus(claim: Claim) -> tuple[Gpu, ...]:
    """The GPUs that the sentence names, else those of the table."""
    stated = _GPU_WORD.search(claim.text)
    name = stated[1] if stated else claim.around.gpu
    if not name:
        return ()
    found = match_gpu(name.upper() if name.islower() else name, _catalogue())
    return (found.gpu,) if found.gpu is not None else found.candidates


def both_ways_sums(rate: float, claim: Claim) -> list[tuple[str, float]]:
    """(name, rate of one direction) of GPUs whose two directions are `rate` together: the claim's own if known."""
    known = gpus(claim)
    found = []
    for gpu in known or tuple(_catalogue().gpus.values()):
        one_way = _catalogue().link_rate(gpu)
        if one_way and abs(2 * one_way - rate) <= 0.02 * rate:
            found.append((gpu.name, one_way))
    return found


def is_link_rate(rate: float, claim: Claim) -> bool:
    """Whether `rate` is what one of the claim's GPUs can send in one direction."""
    rates = [_catalogue().link_rate(gpu) for gpu in gpus(claim)]
    return any(one is not None and abs(one - rate) <= 0.02 * rate for one in rates)


def ceiling(claim: Claim, collective: str = "all_reduce") -> Limit | None:
    """The highest rates that any algorithm can reach on the claim's GPUs; None where too little is known."""
    num_ranks = claim.num_ranks or claim.around.num_ranks
    if num_ranks is None or num_ranks < 2:
        return None
    num_hosts = claim.num_hosts or 1
    if num_ranks % num_hosts:
        return None
    limits = []
    for gpu in gpus(claim):
        rate = _catalogue().link_rate(gpu)
        if rate is None:
            return None
        topology = Topology(
            num_hosts=num_hosts, ranks_per_host=num_ranks // num_hosts, intra_rate=rate, nvls=gpu.nvls, name=gpu.name
        )
        try:
            limits.append(highest(collective, topology))
        except UsageError:
            return None
    known = [one for one in limits if one.algbw is not None]
    return max(known, key=lambda one: one.algbw or 0.0) if known and len(known) == len(limits) else None


def one_way_rate(claim: Claim) -> float | None:
    """Bytes/s that the claim's GPU can send over its links; None if it is not one GPU, or it has none."""
    rates = {_catalogue().link_rate(gpu) for gpu in gpus(claim)}
    return rates.pop() if len(rates) == 1 else None
