"""Form: a rate that was reached, on hardware that is named. "Tree reaches 864 GB/s at 268 MB on 8 x A100".

The highest algbw and busbw that the GPUs' links permit any algorithm, NVLS included where the switch can do it. A rate
without a label falls only if it is above both.
"""

from __future__ import annotations

import re

from ringtree.audit.claims import lookup, physics
from ringtree.audit.claims.claim import Claim
from ringtree.audit.claims.forms.part import Says
from ringtree.audit.claims.forms.table_values import label_of
from ringtree.audit.claims.quantities import Quantity
from ringtree.audit.claims.records import Part
from ringtree.hardware import Limit

_SAYS = Says("rate against the links")
_NOT_REACHED = re.compile(
    r"theoretical|advertised|nominal|line[- ]rate|link[- ]rate|spec|peak of|NVLink bandwidth|link bandwidth|"
    r"unidirectional|bidirectional",
    re.IGNORECASE,
)


def judge(claim: Claim) -> list[Part]:
    """One part for each rate above the limits; nothing is said of those below."""
    rates = [one for one in claim.of_kind("rate") if not _is_nominal(claim, one)]
    limit = physics.ceiling(claim, claim.collective or "all_reduce") if rates else None
    if limit is None:
        return []
    return [part for rate in rates if (part := _check(claim, rate, limit)) is not None]


def _is_nominal(claim: Claim, rate: Quantity) -> bool:
    """A rate of the hardware, not one that was reached."""
    after = re.split(r"[,;(%]", claim.text[rate.span[1] : rate.span[1] + 25])[0]
    return _NOT_REACHED.search(f"{claim.text[max(0, rate.span[0] - 25) : rate.span[0]]} {after}") is not None


def _check(claim: Claim, rate: Quantity, limit: Limit) -> Part | None:
    label = label_of(claim, rate)
    tops = {"algbw": limit.algbw or 0.0, "busbw": limit.busbw or 0.0}
    top = tops[label] if label else max(tops.values())
    if rate.low - rate.place / 2 <= top:
        return None
    which = label or "rate, algbw or busbw,"
    return _SAYS.falls(
        f"{rate.text} can't have been measured: no {which} of any {limit.collective} passes {lookup.gigabytes(top)} "
        "GB/s there "
        f"(algbw {lookup.gigabytes(tops['algbw'])}, busbw {lookup.gigabytes(tops['busbw'])})",
        limit.arithmetic,
        [rate, *claim.of_kind("count", "ranks")],
        "how the rate was computed from which size and time",
    )
