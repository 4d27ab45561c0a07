"""Which sizes a sentence is about: "below 64 KB", "from 64 KB to 1 MB", "at 64 KB and above", "at 4 KB and 64 KB".

For: choosing rows by size. Not for: sizes without a table (the forms that judge them).

Below, under and less than leave the size itself out, as do above, over and more than; up to, from, at least and "and
above" include it.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise, product

from ringtree.audit.claims.quantities import Quantity

_TOLERANCE = 0.02
_FILL = r"(?:\s+(?:about|around|roughly|approximately|the|an?|message|messages|sizes?|of))*\s*[~≈]?\s*$"
# The first that matches counts: "no less than" before "less than".
_BEFORE = tuple(
    (re.compile(rf"(?:(?<!\w)(?:{words})|(?:{signs})){_FILL}", re.IGNORECASE), side, included)
    for words, signs, side, included in (
        (
            r"(?:less|smaller|lower|shorter)\s+than\s+or\s+equal\s+to|at\s+most|up\s+to|until|till|(?:no|not)\s+(?:more|larger|bigger|greater|longer)\s+than|not\s+(?:above|over)",
            "<=|≤", "most", True,
        ),
        (
            r"(?:more|larger|bigger|greater|higher|longer)\s+than\s+or\s+equal\s+to|at\s+least|from|starting\s+(?:at|with)|upwards\s+of|(?:no|not)\s+(?:less|smaller|shorter)\s+than|"
            r"not\s+(?:below|under)",
            ">=|≥", "least", True,
        ),
        (r"below|under|beneath|before|(?:less|fewer|smaller|shorter|lower)\s+than", "<", "most", False),
        (
            r"above|over|beyond|past|exceeding|(?:more|larger|bigger|greater|longer|higher)\s+than",
            ">", "least", False,
        ),
    )
)  # fmt: skip
_NOT_A_NUMBER = r"(?!\s+than\b)(?!\s*[~<>≈]?\s*\d)"
_AND = r"\s*,?\s*(?:messages\s+)?(?:and|or|&)\s+"
_AFTER = (
    (
        re.compile(
            rf"(?:{_AND}(?:above|over|up(?:wards?)?|larger|bigger|more|greater|beyond|higher|longer)\b|"
            rf"\s+(?:upwards?|onwards?|on)\b(?=\s*(?:[,.;]|$))|\+){_NOT_A_NUMBER}",
            re.IGNORECASE,
        ),
        "least",
    ),
    (
        re.compile(rf"{_AND}(?:below|under|less|smaller|lower|down|shorter)\b{_NOT_A_NUMBER}", re.IGNORECASE),
        "most",
    ),
)
# "Tree below 64 KB, Ring above": a second range, of another subject.
_OTHER_RANGE = re.compile(r"\b(?:above|below|beyond)\b(?=\s*(?:[.,;)]|$|(?:it|that|this)\b))", re.IGNORECASE)
_EXCEPT = re.compile(
    rf"\b(?:except(?:ing)?(?:\s+(?:for|at|from))?|but(?:\s+(?:for|at|not\s+at))?|other\s+than|outside|apart\s+from|not\s+at)"
    rf"(?:\s+(?:between|from))?{_FILL}",
    re.IGNORECASE,
)
_TO = re.compile(r"\s*(?:up\s+to|to|through|until|till|-|–|\.{2,3})\s*[~≈]?", re.IGNORECASE)
_BETWEEN = re.compile(rf"\bbetween{_FILL}", re.IGNORECASE)
_LISTED = re.compile(r"[\s,]*(?:(?:and|or|at|of|for|as well as)\b\s*)*", re.IGNORECASE)
_BOTH = re.compile(r"[\s,]*(?:(?:and|but|yet|up|to|sizes|below|under|above|over|than|at|most|least|less|more|"
                   r"smaller|larger|from)\b\s*)*", re.IGNORECASE)  # fmt: skip


@dataclass(frozen=True)
class _Bound:
    size: tuple[float, ...]  # its readings: powers of 1024 first
    side: str  # most, least
    included: bool


@dataclass(frozen=True)
class SizeRange:
    """`bounds`: all must be kept. `listed`: else the sizes of which a row has one. `unclear`: why neither is known."""

    bounds: tuple[_Bound, ...] = ()
    listed: tuple[Quantity, ...] = ()
    unclear: str = ""

    def reaches(self, low: float, high: float) -> bool:
        """Whether any size from `low` to `high`, in powers of 1024, is in it."""
        return all(bound.size[0] > low if bound.side == "most" else bound.size[0] < high for bound in self.bounds)

    def has(self, sizes: tuple[float, ...]) -> bool | None:
        """Whether a row's size is in it; None if that depends on what K, M and G stand for."""
        if not sizes:
            return False
        if not self.bounds:
            return any(same_size(one.sizes, sizes) for one in self.listed)
        kept = [_keeps(bound, sizes) for bound in self.bounds]
        return False if False in kept else None if None in kept else True


def same_size(stated: Sequence[float], sizes: tuple[float, ...]) -> bool:
    """Whether a stated size is the row's, in powers of 1024 or of 1000."""
    return any(abs(a - b) <= _TOLERANCE * b for a in stated for b in sizes if b > 0)


def size_range(text: str, sizes: Sequence[Quantity]) -> SizeRange:
    """What the `sizes` of a sentence `text` mean together."""
    sizes = sorted(sizes, key=lambda one: one.span)
    if not sizes:
        return SizeRange()
    if any(_EXCEPT.search(text[: one.span[0]]) for one in sizes):
        return SizeRange(unclear="it excepts sizes")
    between = [text[a.span[1] : b.span[0]] for a, b in pairwise(sizes)]
    if len(sizes) == 2 and (
        _TO.fullmatch(between[0])
        or (_BETWEEN.search(text[: sizes[0].span[0]]) and re.fullmatch(r"\s*and\s*[~≈]?", between[0], re.IGNORECASE))
    ):
        low, high = sorted(sizes, key=lambda one: one.sizes[0])
        first = _side(text, sizes[0])
        open_end = first is not None and not first[1]  # "above 64 KB to 1 MB"
        return SizeRange((_Bound(low.sizes, "least", not open_end), _Bound(high.sizes, "most", True)))
    sides = [_side(text, one) for one in sizes]
    if all(side is None for side in sides) and all(one.low == one.high for one in sizes):
        if all(_LISTED.fullmatch(one) for one in between):
            return SizeRange(listed=tuple(sizes))
        return SizeRange(unclear="it names several sizes, and not which is meant for what")
    if any(side is not None and side[0] == "both" for side in sides) or _other_range(text, sizes):
        return SizeRange(unclear="it names several ranges of sizes, one for each of two things")
    return _bounds(sizes, sides, between)


def _bounds(sizes: Sequence[Quantity], sides: Sequence[tuple[str, bool] | None], between: Sequence[str]) -> SizeRange:
    several = SizeRange(unclear="it names several sizes and ranges of sizes, and not which is meant for what")
    if len(sizes) == 1:
        (one,), (side,) = sizes, sides
        if one.low != one.high:
            if side is not None and not side[1]:
                return several
            ratio = one.high / one.low
            high = tuple(size * ratio for size in one.sizes)
            return SizeRange((_Bound(one.sizes, "least", True), _Bound(high, "most", True)))
        assert side is not None
        return SizeRange((_Bound(one.sizes, *side),))
    found = [_Bound(one.sizes, *side) for one, side in zip(sizes, sides, strict=True) if side is not None]
    if len(sizes) != 2 or len(found) != 2 or not _BOTH.fullmatch(between[0]):
        return several
    least = [one for one in found if one.side == "least"]
    most = [one for one in found if one.side == "most"]
    if len(least) != 1 or len(most) != 1 or least[0].size[0] >= most[0].size[0]:
        return several
    return SizeRange((least[0], most[0]))


def _other_range(text: str, sizes: Sequence[Quantity]) -> bool:
    own = {match.end() for one in sizes for words, _ in _AFTER if (match := words.match(text, one.span[1])) is not None}
    return any(match.end() not in own for match in _OTHER_RANGE.finditer(text))


def _side(text: str, one: Quantity) -> tuple[str, bool] | None:
    """Most or least, and whether the size itself is included; None for the size alone."""
    before = next(((side, included) for words, side, included in _BEFORE if words.search(text[: one.span[0]])), None)
    after = next(((side, True) for words, side in _AFTER if words.match(text, one.span[1])), None)
    if before is not None and after is not None and before[0] != after[0]:  # "from 4 KB upwards" is one range
        return "both", False
    return before or after


def _keeps(bound: _Bound, sizes: tuple[float, ...]) -> bool | None:
    if same_size(bound.size, sizes):
        return bound.included
    alike = len(bound.size) == len(sizes)
    readings = zip(sizes, bound.size, strict=True) if alike else product(sizes, bound.size)
    below = {size < limit for size, limit in readings}
    return None if len(below) > 1 else below.pop() is (bound.side == "most")
