"""Numbers with their units in a sentence, and what they can mean.

For: finding "482 GB/s", "~40%", "25-50 %", "4.9x", "16 GPUs", "15 steps" in a sentence. Not for: formulas
(expressions.py), numbers in tables (grid.py).

A person who writes 83 % for 83.57 % has cut it off instead of rounding it, and that is no lie: a stated number agrees
with what gives it when rounded or when cut off; with "about" before it, with what differs by up to 5 %.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace

ABOUT = 0.05

_NUMBER = r"\d{1,3}(?:,\d{3})+(?:\.\d+)?|\d+(?:\.\d+)?"
# What one of a unit is in bytes, seconds, bytes/s or as a share. Sizes in K, M and G may be powers of 1024 too.
_UNITS: dict[str, tuple[str, float]] = {
    **{f"{p}{b}/s": ("rate", f) for p, f in (("T", 1e12), ("G", 1e9), ("M", 1e6)) for b in ("B",)},
    **{f"{p}Bps": ("rate", f) for p, f in (("T", 1e12), ("G", 1e9), ("M", 1e6))},
    **{f"{p}i{b}/s": ("rate", f) for p, f in (("G", 2.0**30), ("M", 2.0**20)) for b in ("B",)},
    **{f"{p}{b}": ("rate", f / 8) for p, f in (("T", 1e12), ("G", 1e9), ("M", 1e6)) for b in ("b/s", "bps", "bit/s")},
    **{f"{p}iB": ("size", f) for p, f in (("K", 2.0**10), ("M", 2.0**20), ("G", 2.0**30), ("T", 2.0**40))},
    **{f"{p}B": ("size", f) for p, f in (("k", 1e3), ("K", 1e3), ("M", 1e6), ("G", 1e9), ("T", 1e12))},
    "bytes": ("size", 1.0),
    "byte": ("size", 1.0),
    "us": ("time", 1e-6),
    "µs": ("time", 1e-6),
    "μs": ("time", 1e-6),
    "microseconds": ("time", 1e-6),
    "ms": ("time", 1e-3),
    "milliseconds": ("time", 1e-3),
    "seconds": ("time", 1.0),
    "s": ("time", 1.0),
    "%": ("percent", 0.01),
    "percent": ("percent", 0.01),
    "per cent": ("percent", 0.01),
    "times": ("factor", 1.0),
    "x": ("factor", 1.0),
    "×": ("factor", 1.0),
}
_BINARY = {"k": 2.0**10, "K": 2.0**10, "M": 2.0**20, "G": 2.0**30, "T": 2.0**40}
# Nouns that are counted; the word that they stand for.
_NOUNS = {
    "gpu": "ranks", "rank": "ranks", "process": "ranks", "processe": "ranks", "worker": "ranks", "device": "ranks",
    "accelerator": "ranks", "participant": "ranks",
    "node": "hosts", "host": "hosts", "server": "hosts", "machine": "hosts",
    "step": "steps", "hop": "hops", "round": "steps", "slot": "slots", "run": "runs", "link": "links",
    "port": "ports", "nic": "ports", "hca": "ports", "rail": "ports", "adapter": "ports",
}  # fmt: skip
_UNIT = "|".join(sorted((re.escape(unit) for unit in _UNITS), key=len, reverse=True))
_NOUN = "|".join(sorted(_NOUNS, key=len, reverse=True))
_GPU = r"(?:NVIDIA\s+|AMD\s+)?(?:[ABHVLPT]\d{1,4}S?|G[HB]\d{3}|MI\d{3}X?|RTX)\b"
_ABOUT = r"about|approximately|around|roughly|nearly|almost|circa|~|≈"
_MOST = r"at\smost|up\sto|no\smore\sthan|less\sthan|fewer\sthan|under|below"
_LEAST = r"at\sleast|no\sless\sthan|more\sthan|over|above"
_QUANTITY = re.compile(
    rf"""(?:(?P<about>{_ABOUT})\s*(?:the\s+)?|(?P<most>\b(?:{_MOST})\b)\s*|(?P<least>\b(?:{_LEAST})\b)\s*)?
    (?<![\w.\-/^])(?P<low>{_NUMBER})
    (?:\s*(?:-|–|\bto\b)\s*(?P<high>{_NUMBER}))?
    (?:(?:[ \-]|\s*[x×]\s+|\s*×)(?P<gpu>{_GPU})
      |(?:\s*(?P<unit>{_UNIT})|\s+(?P<bytes>B))(?![\w/])
      |[ \-](?:[A-Za-z][\w\-]*\s+){{0,2}}?(?P<noun>{_NOUN})s?\b
      |(?![\w]|\.\d))""",
    re.VERBOSE | re.IGNORECASE,
)
_WORDS = {"two": 2, "three": 3, "four": 4, "five": 5, "six": 6, "seven": 7, "eight": 8, "nine": 9, "ten": 10}
_WORD = re.compile(rf"\b(?P<word>{'|'.join(_WORDS)})[ -](?P<noun>{_NOUN}|times)s?\b", re.IGNORECASE)
_LISTED = re.compile(r"\s*(?:,|,?\s*(?:and|or)\b|\bas\b)\s*(?:(?:for|on|at|with|of|in)\b\s*)?")
_TWICE = re.compile(r"\b(twice|double the|half (?:of )?(?:the )?)\b", re.IGNORECASE)


@dataclass(frozen=True)
class Quantity:
    """`kind`: size, time, rate, percent, factor, number, or count (then `noun` says of what). `low` and `high` differ
    for a range. `place`: one unit of the last printed place. Values in bytes, seconds, bytes/s, shares. `binary`:
    what one unit of a size is if K means 1024, over what it is if K means 1000. `unit`: what one of the unit is."""

    kind: str
    low: float
    high: float
    place: float
    span: tuple[int, int]
    text: str
    noun: str = ""
    relation: str = ""
    binary: float = 1.0
    unit: float = 1.0

    @property
    def value(self) -> float:
        """The number, the middle of a range."""
        return (self.low + self.high) / 2

    @property
    def count(self) -> int:
        """The number as a whole one."""
        return round(self.low)

    @property
    def sizes(self) -> tuple[float, ...]:
        """Bytes: as powers of 1024 first, as people mostly mean them here, then of 1000."""
        return (self.low * self.binary, self.low) if self.binary > 1 else (self.low,)

    def agrees(self, value: float, other: float | None = None) -> bool:
        """Whether somebody who saw `value` (or anything from `value` to `other`) could have written this number."""
        least, most = sorted((value, value if other is None else other))
        about = ABOUT * self.high if self.relation == "about" else 0.0
        above = most >= self.low - max(self.place / 2, about) - 1e-9 * self.low
        below = least < self.high + max(self.place, about)
        return below if self.relation == "most" else above if self.relation == "least" else above and below

    def is_exactly(self, value: float) -> bool:
        """Whether a counted number is `value`, or with "about" and its like, agrees with it."""
        return abs(self.low - value) < 1e-9 if not self.relation else self.agrees(value)


def quantities(text: str) -> list[Quantity]:
    """The quantities of `text` in order."""
    found = [_quantity(match) for match in _QUANTITY.finditer(text)]
    for match in _WORD.finditer(text):
        number = _WORDS[match["word"].lower()]
        noun = _NOUNS.get(match["noun"].lower(), "")
        found.append(Quantity("count" if noun else "factor", number, number, 1.0, match.span(), match[0], noun))
    for match in _TWICE.finditer(text):
        factor = 0.5 if match[0].lower().startswith("half") else 2.0
        found.append(Quantity("factor", factor, factor, 0.05, match.span(), match[0], relation="about"))
    return _with_units_of_lists(text, sorted(found, key=lambda one: one.span))


def _with_units_of_lists(text: str, found: list[Quantity]) -> list[Quantity]:
    """In "512, 32 and 600 KiB" all three are KiB, in "for 2 and for 8 nodes" both are nodes."""
    for index in range(len(found) - 2, -1, -1):
        one, following = found[index], found[index + 1]
        between = text[one.span[1] : following.span[0]].removesuffix("~")
        if one.kind != "number" or following.kind == "number" or _LISTED.fullmatch(between) is None:
            continue
        unit = following.unit
        found[index] = replace(
            following,
            low=one.low * unit,
            high=one.high * unit,
            place=one.place * unit,
            span=one.span,
            text=one.text,
            relation=one.relation or following.relation,
        )
    return found


def _quantity(match: re.Match[str]) -> Quantity:
    low, high = match["low"], match["high"] or match["low"]
    kind, unit, binary, noun = "number", 1.0, 1.0, ""
    if match["bytes"]:
        kind = "size"
    elif match["unit"]:
        kind, unit = _unit(match["unit"])
        if kind == "size" and len(match["unit"]) == 2 and match["unit"][0] in _BINARY:
            binary = _BINARY[match["unit"][0]] / unit
    elif match["gpu"]:
        kind, noun = "count", "ranks"
    elif match["noun"]:
        kind, noun = "count", _NOUNS[match["noun"].lower()]
    if kind in ("size", "time", "rate") and _float(low) == 0:
        kind, unit, binary = "number", 1.0, 1.0  # nothing is done in 0 ms or moved at 0 GB/s: no form divides by it
    relation = "about" if match["about"] else "most" if match["most"] else "least" if match["least"] else ""
    digits = max(_decimals(low), _decimals(high))
    start = match.start("low")
    return Quantity(
        kind,
        _float(low) * unit,
        _float(high) * unit,
        10.0**-digits * unit,
        (start, match.end()),
        match[0].strip(),
        noun,
        relation,
        binary,
        unit,
    )


def _unit(text: str) -> tuple[str, float]:
    if text in _UNITS:
        return _UNITS[text]
    # Matched without regard to case: "gb/s", "Percent".
    return next(entry for unit, entry in _UNITS.items() if unit.lower() == text.lower())


def _float(text: str) -> float:
    return float(text.replace(",", ""))


def _decimals(text: str) -> int:
    return len(text.partition(".")[2])
