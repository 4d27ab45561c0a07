"""Words of sentences and what they stand for: algorithms, collectives, protocols, links; denials and causes.

For: recognising who a sentence is about. Not for: numbers (quantities.py), what the names cost (counting.py).
"""

from __future__ import annotations

import re
from typing import NamedTuple

# What people call an algorithm -> its name in ringtree's table. Longer names first.
_ALGORITHMS = (
    (r"double[- ](?:binary[- ])?tree", "double_tree"),
    (r"(?:binary |binomial )?tree", "tree"),
    (r"ring", "ring"),
    (r"chain", "chain"),
    (r"recursive[- ]doubling", "recursive_doubling"),
    (r"(?:recursive[- ])?halving[- /]doubling|rabenseifner", "halving_doubling"),
    (r"(?:direct )?one[- ]shot", "one_shot"),
    (r"(?:direct )?two[- ]shot", "two_shot"),
    (r"naive|naïve", "naive"),
)
ALGORITHM_NAMES = tuple(name for _, name in _ALGORITHMS)
_ALGORITHM = re.compile("|".join(rf"(?P<_{i}>\b(?:{p})s?\b)" for i, (p, _) in enumerate(_ALGORITHMS)), re.IGNORECASE)

_COLLECTIVES = (
    (r"all[- _]?reduc(?:e|es|ing|tion)", "all_reduce"),
    (r"reduce[- _]?scatter", "reduce_scatter"),
    (r"all[- _]?gather", "all_gather"),
    (r"all[- _]?to[- _]?all", "all_to_all"),
    (r"broadcast", "broadcast"),
)
_COLLECTIVE = re.compile("|".join(rf"(?P<_{i}>\b(?:{p})s?\b)" for i, (p, _) in enumerate(_COLLECTIVES)), re.IGNORECASE)

_DENIAL = re.compile(
    r"\b(?:do|does|did|is|are|was|were|has|have|can|could|will|would|should|need)(?: not\b|n't\b|n’t\b)|"
    r"\bcannot\b|\bnever\b|"
    r"\bno longer\b|\bneither\b|\bwrong(?:ly)?\b|\bfalse(?:ly)?\b|\bmyth\b",
    re.IGNORECASE,
)
_CAUSE = re.compile(
    r"\b(?:from|by|through|with|thanks to|due to|because of|only by|just by)\s+"
    r"(?:the\s+)?(?:\w+\s+){0,3}?(?:alone|only)\b"
    r"|\b(?:thanks|due|owing) to\b|\bbecause\b|\bcaused by\b",
    re.IGNORECASE,
)
_CLAUSES = re.compile(r"[;,:]\s+|\s+(?:and|while|but|whereas|versus|vs\.?|against)\s+", re.IGNORECASE)


class Mention(NamedTuple):
    """A name and where it stands."""

    name: str
    span: tuple[int, int]


class Clause(NamedTuple):
    """A stretch of a sentence between commas, semicolons and conjunctions."""

    text: str
    start: int


def algorithms(text: str) -> list[Mention]:
    """The algorithms of ringtree's table that `text` names, in order. NCCL's NVLSTree and the like are none of them."""
    return _mentions(_ALGORITHM, _ALGORITHMS, text)


def collectives(text: str) -> list[Mention]:
    """The collectives that `text` names, in order."""
    return _mentions(_COLLECTIVE, _COLLECTIVES, text)


def denies(text: str) -> bool:
    """Whether the sentence says that something is not so."""
    return _DENIAL.search(text) is not None


def cause(text: str) -> str:
    """The words that name a cause for what was measured, empty for none."""
    match = _CAUSE.search(text)
    return match[0] if match else ""


def clauses(text: str) -> list[Clause]:
    """The clauses of `text`; a conjunction inside a list of numbers cuts too, so forms that want lists don't use it."""
    found, start = [], 0
    for match in _CLAUSES.finditer(text):
        found.append(Clause(text[start : match.start()], start))
        start = match.end()
    found.append(Clause(text[start:], start))
    return [clause for clause in found if clause.text.strip()]


def tokens(text: str) -> frozenset[str]:
    """Words in lower case, cut between letters and digits, for matching labels: "Qwen2.5-7B" has qwen, 2.5 and 7b."""
    return frozenset(re.findall(r"[a-z]+|\d+(?:\.\d+)*[a-z]*", text.lower()))


def _mentions(pattern: re.Pattern[str], names: tuple[tuple[str, str], ...], text: str) -> list[Mention]:
    return [Mention(names[int((match.lastgroup or "_0")[1:])][1], match.span()) for match in pattern.finditer(text)]
