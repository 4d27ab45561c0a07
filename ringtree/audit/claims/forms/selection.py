"""Form: NCCL picks this below such a size and that above. "NCCL picks Tree with LL below 128 KB, Ring with Simple
above".

NCCL has no thresholds of size: it models the time of each algorithm and protocol from nodes, GPUs and links, and takes
the least. A rule by size alone can't be told; where the model contradicts it, that is said.
"""

from __future__ import annotations

import re

from ringtree.audit.claims import nccl_choice
from ringtree.audit.claims.claim import Claim
from ringtree.audit.claims.forms.part import Says
from ringtree.audit.claims.quantities import Quantity
from ringtree.audit.claims.records import Part

_SAYS = Says("NCCL's choice by size")
_PICKS = re.compile(
    r"\bNCCL\b.{0,40}?\b(?:picks?|chooses?|selects?|uses?|prefers?|switch(?:es)?|takes?|runs?|defaults? to)\b",
    re.IGNORECASE,
)
_NAME = re.compile(r"\b(NVLSTree|NVLS|Tree|Ring)\b", re.IGNORECASE)
_SHOWN = 3


def judge(claim: Claim) -> list[Part]:
    """One part for the sentence."""
    sizes = claim.of_kind("size")
    if not _PICKS.search(claim.text) or not _NAME.search(claim.text) or not sizes:
        return []
    contradicted = _contradictions(claim, sizes)
    arithmetic = "; ".join(contradicted[:_SHOWN])
    reason = (
        "NCCL has no thresholds of size: it takes the least of times that it models from the nodes, the GPUs and "
        "their links, which the "
        "sentence does not name"
    )
    if contradicted:
        reason += f"; in the model of NCCL {nccl_choice.RELEASE} it is otherwise on {contradicted[0].partition(':')[0]}"
    return [
        _SAYS.open(
            reason,
            "the choice itself: NCCL_DEBUG=INFO NCCL_DEBUG_SUBSYS=TUNING on the machine, size by size",
            arithmetic,
            [*sizes, *claim.of_kind("count")],
        )
    ]


def _contradictions(claim: Claim, sizes: list[Quantity]) -> list[str]:
    """Machines and sizes where the model's choice is not among what the sentence has for the smallest sizes."""
    first = sizes[0]
    below = (
        re.search(r"\b(?:below|under|up to|less than|smaller than|<)\s*$", claim.text[: first.span[0]], re.I)
        or first.relation == "most"
    )
    if not below:
        return []
    following = [
        match.start()
        for match in re.finditer(r",|;", claim.text)
        if match.start() > first.span[1] and _NAME.search(claim.text[first.span[1] : match.start()])
    ]
    before = _NAME.search(claim.text[: first.span[0]]) is not None
    text = (
        claim.text[: first.span[0]]
        if before
        else claim.text[first.span[1] : following[0] if following else len(claim.text)]
    )
    allowed = {match[1].lower() for match in _NAME.finditer(text)}
    found = []
    for machine in nccl_choice.MACHINES:
        for size in (1 << 10, 8 << 10, 64 << 10):
            if size > first.sizes[0]:
                continue
            times = nccl_choice.times(machine, size)
            best = min(times, key=lambda one: times[one])
            if best.algorithm.lower() not in allowed:
                rival = min(
                    (one for one in times if one.algorithm.lower() in allowed), key=lambda one: times[one], default=None
                )
                if rival is not None:
                    found.append(
                        f"{machine.name}: {size >> 10} KB {best.algorithm} {best.protocol} {times[best]:.1f} us, "
                        f"{rival.algorithm} {rival.protocol} {times[rival]:.1f} us"
                    )
    return found
