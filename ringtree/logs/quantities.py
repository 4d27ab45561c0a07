"""Numbers with units as people write them: 1.44GBps, ~12 us, 107%, 98.96±45.08, 6.99 ms (18 GB/s).

For: cells and headings of tables, printed sentences of benchmarks. Not for: sizes, where K may be 1000 or 1024
(sizes.py), columns of programs whose units are known.

A number keeps its digits; thousands separators are dropped. What is not exactly a number with a unit that is listed
here ("< 128 KB", "8 nodes") is none. A cell may hold several: behind the first in brackets, after a slash or a comma.
"""

from __future__ import annotations

import re
from math import isfinite
from typing import NamedTuple

from ringtree.logs.records import Printed

TIME, RATE, SIZE, PERCENT, FACTOR, ITEMS = "time", "rate", "size", "percent", "factor", "items"

MAX_CELL = 80  # characters; no number of anybody's is longer

_NUMBER = r"[-+]?(?:\d+(?:,\d{3})*(?:\.\d*)?|\.\d+)(?:[eE][-+]?\d{1,3})?"
_UNIT = r"[%×]|(?:[kmg] )?[A-Za-zµμ]+(?: ?/ ?[A-Za-z]+){0,2}"
_QUANTITY = re.compile(
    rf"(~|≈|≃|ca\.?|about|approx\.?)?\s*({_NUMBER})\s*({_UNIT})?\s*"
    rf"(?:(?:±|\+/-|\+-)\s*(\d+(?:\.\d*)?)\s*({_UNIT})?)?",
    re.ASCII | re.IGNORECASE,
)
_BETWEEN = re.compile(r"\s*<br ?/?>\s*|\s*[(\[;@]\s*|,\s+|\s+/\s+")
SIMPLE = re.compile(r"[0-9]{1,18}(?:\.[0-9]{1,18})?")
_PRINTED = re.compile(r"-?[0-9]+(?:\.[0-9]+)?(?:[eE][-+]?[0-9]{1,3})?")
_MAX_WORD = 40
_MAX_NUMBERS = 4  # of a cell
_ABOUT = 0.1
_MAX_UNIT = 24
_POWERS = {"": 0, "k": 1, "m": 2, "g": 3, "t": 4, "p": 5}
_RATE = re.compile(r"([kmgtp]?)(i?)(b|bits?|bytes?)(?:/s(?:ec(?:ond)?)?|ps)", re.IGNORECASE)
_SIZE = re.compile(r"(?:([kmgtp])(i?)(?:b|bytes?)?|b|bytes?)", re.IGNORECASE)
_ITEMS = re.compile(
    r"([kmg]?) ?(?:tok(?:en)?|sample|image|img|seq(?:uence)?|it(?:er(?:ation)?)?|step)s?"
    r"/s(?:ec(?:ond)?)?(/[a-z]{1,12})?",
    re.IGNORECASE,
)
_TIMES = {
    1e-9: ("ns", "nsec", "nanoseconds"),
    1e-6: ("us", "µs", "μs", "usec", "usecs", "microsecond", "microseconds"),
    1e-3: ("ms", "msec", "msecs", "millisecond", "milliseconds"),
    1.0: ("s", "sec", "secs", "second", "seconds"),
}
_TIME_WORDS = {word: scale for scale, words in _TIMES.items() for word in words}


class Unit(NamedTuple):
    """`scale`: what one of it is in seconds, bytes/s, bytes, items/s (of a training) or parts of one. Of sizes without
    i: a power of 1024."""

    kind: str
    scale: float
    word: str


class About(Printed):
    """A figure that its author calls approximate (~9): it may be off by a unit of its last place, or by 5 %."""

    @property
    def resolution(self) -> float:
        """As Printed has it: twice as far as it may be off."""
        return max(2 * super().resolution, _ABOUT * self.value)


class Quantity(NamedTuple):
    """`spread`: the digits that follow ±, empty if none. `about`: it is called approximate."""

    text: str
    unit: Unit | None
    spread: str = ""
    about: bool = False

    def printed(self, scale: float = 1.0, factor: float = 1.0) -> Printed:
        """Returns the number with its own unit, or with `scale` where it has none, times `factor`."""
        unit = (self.unit.scale if self.unit is not None else scale) * factor
        return (About if self.about else Printed)(self.text, unit)


def unit_of(word: str) -> Unit | None:
    """Returns what a unit's name means; None for what is not a unit. A small b is a bit, except in sizes."""
    word = word.replace(" /", "/").replace("/ ", "/")
    if not word or len(word) > _MAX_UNIT:
        return None
    if word in ("%", "percent"):
        return Unit(PERCENT, 0.01, word)
    if word in ("x", "X", "×"):
        return Unit(FACTOR, 1.0, word)
    if (seconds := _TIME_WORDS.get(word.lower())) is not None:
        return Unit(TIME, seconds, word)
    if (found := _RATE.fullmatch(word)) is not None:
        prefix, binary, what = found.groups()
        bits = what == "b" or what.lower().startswith("bit")
        return Unit(RATE, (1024.0 if binary else 1000.0) ** _POWERS[prefix.lower()] / (8 if bits else 1), word)
    if (found := _ITEMS.fullmatch(word)) is not None:
        return Unit(ITEMS, 1000.0 ** _POWERS[found.group(1).lower()], word)
    if (found := _SIZE.fullmatch(word)) is not None:
        return Unit(SIZE, 1024.0 ** _POWERS[(found.group(1) or "").lower()], word)
    return None


def is_number(word: str) -> bool:
    """Says whether a word is a finite number without unit, as programs print it."""
    if SIMPLE.fullmatch(word) is not None:
        return True
    return len(word) <= _MAX_WORD and _PRINTED.fullmatch(word) is not None and isfinite(float(word))


def plain(cell: str) -> str:
    """Returns a cell without the marks of Markdown around and in it."""
    if "*" in cell or "`" in cell:
        cell = cell.replace("*", "").replace("`", "")
    return cell.strip()


def quantity(cell: str) -> Quantity | None:
    """Returns the number that a cell is; None if it is anything else, or not finite."""
    if SIMPLE.fullmatch(cell) is not None:
        return Quantity(cell, None)
    cell = plain(cell)
    if not cell or len(cell) > MAX_CELL:
        return None
    found = _QUANTITY.fullmatch(cell)
    if found is None:
        return None
    mark, text, word, spread, last = found.groups()
    unit = unit_of(word or last or "")
    if (unit is None and (word or last)) or (word and last and unit_of(last) != unit):
        return None
    text = text.replace(",", "")
    return Quantity(text, unit, spread or "", mark is not None) if isfinite(float(text)) else None


def quantities(cell: str) -> tuple[Quantity, ...]:
    """Returns the numbers that a cell consists of, the first one first; none if there is anything else in it."""
    one = quantity(cell)
    if one is not None:
        return (one,)
    parts = _BETWEEN.split(plain(cell)[:MAX_CELL])
    if not 1 < len(parts) <= _MAX_NUMBERS:
        return ()
    found = [quantity(part.rstrip(" )]")) for part in parts]
    return tuple(number for number in found if number is not None) if all(found) else ()


def whole_number(cell: str) -> int | None:
    """Returns a count that stands in a cell, up to 18 digits; None if there is none."""
    cell = plain(cell).replace(",", "")
    return int(cell) if cell.isascii() and cell.isdigit() and len(cell) <= 18 else None
