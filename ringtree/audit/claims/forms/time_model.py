"""Form: a formula for the time or the bandwidth. "takes (N-1)/N x S / link bandwidth", "effective bandwidth is
N/(N-1) x B".

The formula is computed at several n and sizes and compared with what the schedule sends: share(n)·S/B, plus a latency
for each message in a row if the formula has a latency.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable

from ringtree.audit.claims import counting
from ringtree.audit.claims.claim import Claim
from ringtree.audit.claims.expressions import Formula
from ringtree.audit.claims.forms.part import Says
from ringtree.audit.claims.records import Part

_SAYS = Says("model of a time or a bandwidth")
_SIZES = (1.0, 3.0e6, 1.0e9)
_RATE, _LATENCY = 2.5e9, 3.0e-6
_PER_LINK = {
    ("ring", "all_reduce"): ("2(n-1)/n · S/B", "n/(2(n-1)) · B"),
    ("ring", "reduce_scatter"): ("(n-1)/n · S/B", "n/(n-1) · B"),
    ("ring", "all_gather"): ("(n-1)/n · S/B", "n/(n-1) · B"),
    ("double_tree", "all_reduce"): ("2 · S/B (n > 2)", "B/2 (n > 2)"),
}


def judge(claim: Claim) -> list[Part]:
    """One part for each formula with a bandwidth in it."""
    found = []
    for formula in claim.formulas:
        if not formula.names & {"rate", "beta"}:
            continue
        if "size" in formula.names:
            found.append(_check(claim, formula, _time, 0))
        elif claim.says(r"bandwidth|throughput|rate\b|busbw|algbw"):
            found.append(_check(claim, formula, _bandwidth, 1))
    return found


def _time(share: float, hops: int, size: float, latency: float) -> float:
    return hops * latency + share * size / _RATE


def _bandwidth(share: float, hops: int, size: float, latency: float) -> float:
    return _RATE / share


def _check(claim: Claim, formula: Formula, model: Callable[[float, int, float, float], float], which: int) -> Part:
    name = claim.algorithms[0].name if claim.algorithms else "ring"
    collective = claim.collective or "all_reduce"
    counts = counting.POWERS if "log" in formula.text else counting.SAMPLES
    costs = [(n, counting.share(collective, name, n), counting.hops(collective, name, n)) for n in counts]
    known = [(n, share, hops) for n, share, hops in costs if share is not None and hops is not None]
    if not known:
        return _SAYS.open(
            f"there is no {name} schedule of {collective} to compare with",
            "the algorithm, step by step",
            covers=[formula],
        )
    about = bool(
        re.search(r"(?:about|roughly|approximately|~|≈|tends to|large N)\s*$", claim.text[: formula.span[0]], re.I)
    )
    if about:
        known = [one for one in known if one[0] >= 16]
    latency = _LATENCY if "latency" in formula.names else 0.0
    sizes = _SIZES if latency else _SIZES[1:]
    points = [
        (n, size, _said(formula, n, size, latency, beta_is_time), model(share, hops, size, latency))
        for beta_is_time in (True, False)
        for n, share, hops in known
        for size in sizes
    ]
    half = len(points) // 2
    right = any(all(_same(said, is_, about) for _, _, said, is_ in part) for part in (points[:half], points[half:]))
    closed = _PER_LINK.get((name, collective), ("", ""))[which]
    shown = next(one for one in points if one[0] == known[min(3, len(known) - 1)][0])
    ratio = shown[2] / shown[3] if shown[3] else math.nan
    arithmetic = f"{formula.text} is {ratio:.3g} times what the schedule gives at n = {shown[0]}"
    if right:
        return _SAYS.holds(
            f"it is what the schedule of {name} gives{f', {closed}' if closed else ''}",
            f"{formula.text}: the same at n = {', '.join(str(n) for n, _, _ in known)}",
            [formula],
        )
    half_words = ""
    scatter = counting.share("reduce_scatter", name, shown[0])
    if collective == "all_reduce" and scatter and math.isclose(2 * scatter, known[min(3, len(known) - 1)][1]):
        one_half = all(
            _same(said, model(share / 2, hops, size, latency), about)
            for (n, share, hops) in known
            for size in sizes
            for said in [_said(formula, n, size, latency, True)]
        )
        half_words = (
            ": this is one half of it, the reduce-scatter or the all-gather; an all-reduce is both" if one_half else ""
        )
    return _SAYS.falls(
        f"a {name} {collective} {('takes', 'reaches')[which]} {closed or 'something else'}{half_words}",
        arithmetic,
        [formula],
    )


def _said(formula: Formula, n: int, size: float, latency: float, beta_is_time: bool) -> float:
    """`beta` is the time of a byte for some and a bandwidth for others."""
    beta = 1 / _RATE if beta_is_time else _RATE
    return formula.value(ranks=n, size=size, rate=_RATE, latency=latency, beta=beta)


def _same(said: float, is_: float, about: bool) -> bool:
    return math.isclose(said, is_, rel_tol=0.1 if about else 1e-9)
