"""Form: an algorithm takes so many steps. "With 16 GPUs a ring takes 30 steps and a tree takes 8"; "2(N-1) steps".

A step is counted in one of two ways, and sentences rarely say which: messages that wait for one another (hops: 2(n-1)
for a ring's all_reduce), which is what costs time, or calls of one rank's program (2n-1 for the same ring: the first
only sends, the last only receives), which is what the source code shows. The sentence holds if it is right in either.
"""

from __future__ import annotations

import math
import re
from dataclasses import dataclass

from ringtree.audit.claims import counting, words
from ringtree.audit.claims.claim import Claim
from ringtree.audit.claims.expressions import Formula
from ringtree.audit.claims.forms.part import Says
from ringtree.audit.claims.quantities import Quantity
from ringtree.audit.claims.records import Part

_SAYS = Says("steps of an algorithm")
_BARE = re.compile(
    r"(?:takes|needs|requires|uses|has|makes|is|tree|ring|doubling|shot|chain|only)\s*:?\s*$", re.IGNORECASE
)
_WORDS = {"hops": "hops", "steps": "steps"}
# Whose kernels people read, so that the calls of a program are counted: one chunk a call, in one loop.
_COUNTED_BY_CALLS = frozenset(("ring",))


@dataclass(frozen=True)
class _Stated:
    count: Quantity | Formula
    algorithm: words.Mention
    by_hops: bool  # the sentence says hops, so only those count


def judge(claim: Claim) -> list[Part]:
    """One part for each number or formula of steps beside an algorithm's name."""
    if not claim.says(r"\b(?:steps?|hops?|rounds?)\b") or claim.says(r"\bcross\b|\bcrosses\b"):
        return []
    return [_check(claim, stated) for stated in _stated(claim)]


def _stated(claim: Claim) -> list[_Stated]:
    found: list[_Stated] = []
    by_hops = claim.says(r"\bsteps?\b") is None and claim.says(r"\brounds?\b") is None
    counts: list[Quantity | Formula] = [*_counts(claim), *_formulas(claim)]
    for count in sorted(counts, key=lambda one: one.span):
        algorithm = _nearest(claim, count)
        if algorithm is not None:
            found.append(_Stated(count, algorithm, by_hops))
    return found


def _counts(claim: Claim) -> list[Quantity]:
    named = [
        one
        for one in claim.quantities
        if one.kind == "count"
        and one.noun in _WORDS
        and not re.match(r"\s*(?:of|at|à)\s*[~≈]?\s*(?:about\s*)?\d", claim.text[one.span[1] :])
    ]
    if not named and not _formulas(claim):
        return []
    # "a ring takes 30 steps and a tree takes 8", "the tree 8": the noun is left out the second time.
    bare = [
        one
        for one in claim.of_kind("number")
        if _BARE.search(claim.text[: one.span[0]])
        and re.match(r"\s*(?:$|[.,;)]|and\b|with\b|for\b)", claim.text[one.span[1] :])
    ]
    return named + bare


def _formulas(claim: Claim) -> list[Formula]:
    return [
        one
        for one in claim.formulas
        if one.names == {"ranks"}
        and re.match(r"\s*(?:\w+\s+){0,2}(?:steps?|hops?|rounds?)\b", claim.text[one.span[1] :])
    ]


def _nearest(claim: Claim, count: Quantity | Formula) -> words.Mention | None:
    """The algorithm last named before the number, else the first one after it."""
    before = [one for one in claim.algorithms if one.span[0] < count.span[0]]
    after = [one for one in claim.algorithms if one.span[0] >= count.span[1]]
    return before[-1] if before else after[0] if after else None


def _collective(claim: Claim) -> str:
    return claim.collective or "all_reduce"


def _check(claim: Claim, stated: _Stated) -> Part:
    count = stated.count
    if isinstance(count, Formula):
        return _check_formula(claim, stated, count)
    num_ranks = claim.num_ranks
    covers = [count, *claim.of_kind("count", "ranks")]
    name, collective = stated.algorithm.name, _collective(claim)
    if num_ranks is None:
        return _SAYS.open(
            "neither the sentence nor its table says how many ranks there are",
            "the number of ranks",
            covers=covers,
        )
    hops = counting.hops(collective, name, num_ranks)
    calls = counting.calls(collective, name, num_ranks)
    if hops is None or calls is None:
        return _SAYS.open(
            f"there is no {name} schedule of {collective} for {num_ranks} ranks to count in",
            "the algorithm, step by step",
            covers=covers,
        )
    arithmetic = f"{name}, {collective}, n = {num_ranks}: {hops} messages in a row"
    if count.is_exactly(hops):
        return _SAYS.holds(
            f"{_formula_words(name, collective)} messages wait for one another, counted in the schedule"
            + _nccl_note(claim, name, num_ranks),
            arithmetic,
            covers,
        )
    if not stated.by_hops and name in _COUNTED_BY_CALLS and count.is_exactly(calls):
        return _SAYS.holds(
            f"{calls} counts the calls of one rank's program; messages that wait for one another, which cost the time, "
            f"are {hops}",
            f"{arithmetic}, {calls} calls",
            covers,
        )
    return _SAYS.falls(
        f"{name} of {num_ranks} ranks takes {hops} steps, not {count.count}{_half(collective, name, num_ranks, count)}",
        f"{arithmetic}, {_formula_words(name, collective)}",
        covers,
    )


def _check_formula(claim: Claim, stated: _Stated, formula: Formula) -> Part:
    name, collective = stated.algorithm.name, _collective(claim)
    counts = counting.POWERS if "log" in formula.text or "⌈" in formula.text else counting.SAMPLES
    said = [formula.value(ranks=n) for n in counts]
    hops = [counting.hops(collective, name, n) for n in counts]
    calls = [counting.calls(collective, name, n) for n in counts]
    if None in hops or any(math.isnan(one) for one in said):
        return _SAYS.open(f"nothing to count {formula.text} against", "the algorithm, step by step", covers=[formula])
    seen = f"n = {', '.join(map(str, counts[:4]))}: {', '.join(f'{one:g}' for one in said[:4])}"
    arithmetic = f"{formula.text} at {seen}; counted: {', '.join(map(str, hops[:4]))} messages in a row"
    if said == hops:
        return _SAYS.holds("that many messages wait for one another, counted in the schedules", arithmetic, [formula])
    if not stated.by_hops and name in _COUNTED_BY_CALLS and said == calls:
        return _SAYS.holds(
            f"it counts the calls of one rank's program; messages that wait for one another, which cost the time, are "
            f"{_formula_words(name, collective)}",
            f"{arithmetic}, {', '.join(map(str, calls[:4]))} calls",
            [formula],
        )
    return _SAYS.falls(
        f"{name} takes {_formula_words(name, collective) or 'another number of'} steps", arithmetic, [formula]
    )


# Closed forms of what was counted, for people; nothing is computed from them.
_CLOSED = {
    ("ring", "all_reduce"): "2(n-1)",
    ("ring", "reduce_scatter"): "n-1",
    ("ring", "all_gather"): "n-1",
    ("chain", "all_reduce"): "2(n-1)",
    ("tree", "all_reduce"): "2·floor(log2 n)",
    ("double_tree", "all_reduce"): "2·log2 n, rounded,",
    ("recursive_doubling", "all_reduce"): "log2 n (n a power of two)",
    ("halving_doubling", "all_reduce"): "2·log2 n (n a power of two)",
}


def _formula_words(name: str, collective: str) -> str:
    return _CLOSED.get((name, collective), "that many")


def _half(collective: str, name: str, num_ranks: int, count: Quantity) -> str:
    halves = [
        word
        for word, one in (("reduce-scatter", "reduce_scatter"), ("all-gather", "all_gather"))
        if name in _COUNTED_BY_CALLS
        and one != collective
        and (hops := counting.hops(one, name, num_ranks)) is not None
        and count.is_exactly(hops)
    ]
    if halves:
        return f": {count.count} are one half of it, the {' or the '.join(halves)}"
    both = counting.hops(collective, name, num_ranks)
    return ": that is only the way up or the way down" if both is not None and count.is_exactly(both / 2) else ""


def _nccl_note(claim: Claim, name: str, num_ranks: int) -> str:
    """NCCL's tree is one of nodes; inside a node it is a chain (NCCL 2.30.7, src/graph/trees.cc and tuning.cc)."""
    hosts = claim.num_hosts
    if _CLOSED.get((name, "all_reduce"), "").startswith("2·") and hosts and 1 <= hosts < num_ranks:
        inside = num_ranks // hosts
        chain = 2 * (inside - 1 + math.floor(math.log2(hosts)))
        return f" (NCCL's own tree is a chain inside a node: {chain} on {hosts} × {inside})"
    return ""
