"""Form: each rank sends so many times the size. "Each GPU sends and receives 2 x (N-1)/N x size, 1.875 x for 16
GPUs"."""

from __future__ import annotations

import math
import re

from ringtree.audit.claims import counting, lookup
from ringtree.audit.claims.claim import Claim
from ringtree.audit.claims.expressions import Formula
from ringtree.audit.claims.forms.part import Says
from ringtree.audit.claims.quantities import Quantity
from ringtree.audit.claims.records import Part

_SAYS = Says("bytes that each rank sends")
_WHO = r"\b(?:each|every|per|one|a single|any|all)\s+(?:GPU|rank|process|worker|device|node)s?\b"
_SENDS = r"\b(?:sends?|receives?|transmits?|transfers?|moves?|communicates?|sent|received)\b"


def judge(claim: Claim) -> list[Part]:
    """One part for each formula or factor of the size."""
    if not claim.says(_WHO) or not claim.says(_SENDS):
        return []
    found = [
        _check_formula(claim, one) for one in claim.formulas if one.names in ({"ranks"}, {"ranks", "size"}, {"size"})
    ]
    found += [_check_factor(claim, one) for one in claim.of_kind("factor") if _is_of_size(claim, one)]
    return found


def _is_of_size(claim: Claim, one: Quantity) -> bool:
    after = claim.text[one.span[1] :]
    return bool(
        re.match(
            r"\s*(?:(?:the|its|of the)\s+)?(?:size|data|S\b|message|vector|buffer|for\b|with\b|at\b|[.,;)]|$)",
            after,
            re.I,
        )
    )


def _check_formula(claim: Claim, formula: Formula) -> Part:
    name, collective = _about(claim)
    # "1.75 x the size for 8 GPUs" is meant for those; a formula with n for all n.
    fixed = "ranks" not in formula.names and claim.num_ranks
    samples = (claim.num_ranks or 0,) if fixed else counting.SAMPLES
    said = [formula.value(ranks=n, size=1.0) for n in samples]
    counted = [counting.share(collective, name, n) for n in samples]
    covers: list[Formula | Quantity] = [formula, *(claim.of_kind("count", "ranks") if fixed else [])]
    pairs = [(a, b) for a, b in zip(said, counted, strict=True) if b is not None]
    if not pairs or any(math.isnan(a) for a, _ in pairs):
        return _SAYS.open(f"nothing to hold {formula.text} against", "the algorithm, step by step", covers=[formula])
    last = max(0, len(samples) - 3)
    arithmetic = (
        f"{formula.text} = {said[last]:.4g}·S at n = {samples[last]}, counted in the schedule of {name} "
        f"{counted[last]:.4g}·S"
    )
    if all(math.isclose(a, b, rel_tol=1e-9) for a, b in pairs):
        return _SAYS.holds(
            f"that is what each rank of a {name} {collective} sends, and as much comes in{_least(claim)}",
            arithmetic,
            covers,
        )
    return _SAYS.falls(f"a {name} {collective} sends another share of the size from each rank", arithmetic, covers)


def _check_factor(claim: Claim, factor: Quantity) -> Part:
    name, collective = _about(claim)
    ranks = claim.of_kind("count", "ranks")
    num_ranks = claim.num_ranks
    share = counting.share(collective, name, num_ranks) if num_ranks else None
    covers = [factor, *ranks]
    if share is None:
        return _SAYS.open("the number of ranks is not stated", "the number of ranks", covers=covers)
    arithmetic = (
        f"{name}, {collective}, n = {num_ranks}: {lookup.number(share)} times the size, counted in the schedule"
    )
    if factor.agrees(share):
        return _SAYS.holds(f"each rank sends {lookup.number(share)} times the size{_least(claim)}", arithmetic, covers)
    return _SAYS.falls(f"each rank sends {lookup.number(share)} times the size, not {factor.text}", arithmetic, covers)


def _about(claim: Claim) -> tuple[str, str]:
    return (claim.algorithms[0].name if claim.algorithms else "ring"), claim.collective or "all_reduce"


def _least(claim: Claim) -> str:
    return (
        ""
        if claim.algorithms
        else "; it is a ring's, and the least that any algorithm can do without a switch that adds up"
    )
