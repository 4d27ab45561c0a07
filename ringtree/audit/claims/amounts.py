"""A stated number: "482 GB/s", "~40 %", "25-50 %", "2.6 times", "at most 50 us", "64 MB".

For: every figure of a claim, checked when the file is read. Not for: formulas (formulas.py), cells of tables (grid.py).

A person who writes 83 % for 83.57 % has cut it off instead of rounding it; that is honest: a stated number agrees with
what gives it when rounded or when cut off; with "about" before it, with what differs by up to 5 %.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Annotated, Any

from pydantic import GetPydanticSchema
from pydantic_core import core_schema

from ringtree.logs.quantities import PERCENT, RATE, SIZE, TIME, quantity

ABOUT = 0.05
_SIGNS = (
    ("about", r"~|≈|about|around|roughly|nearly|almost|approximately"),
    ("most", r"<=?|≤|at most|up to|no more than|less than|below|under"),
    ("least", r">=?|≥|at least|no less than|more than|above|over"),
)
_AMOUNT = re.compile(
    rf"(?:{'|'.join(rf'(?P<{name}>{words})' for name, words in _SIGNS)})?\s*"
    r"(?:(?P<low>\d[\d,]*(?:\.\d+)?)\s*(?:-|–|to)\s*)?(?P<high>\d.*)",
    re.IGNORECASE,
)


@dataclass(frozen=True)
class Amount:
    """`low` and `high` differ for a range, in seconds, bytes, bytes/s or parts of one. `place`: one unit of the last
    printed place. `unit`: time, rate, size, percent, factor; empty for a bare number. `thousands`: what a size is in
    powers of 1000, over what it is in powers of 1024 ("64 MB" may be either)."""

    text: str
    low: float
    high: float
    place: float
    unit: str
    relation: str
    thousands: float = 1.0

    @property
    def value(self) -> float:
        """The number, the middle of a range."""
        return (self.low + self.high) / 2

    @property
    def sizes(self) -> tuple[float, ...]:
        """Bytes: in powers of 1024 first, as people mostly mean them here, then of 1000."""
        return (self.low,) if self.thousands == 1 else (self.low, self.low * self.thousands)

    def agrees(self, value: float, other: float | None = None) -> bool:
        """Whether somebody who saw `value` (or anything from `value` to `other`) could have written this number."""
        least, most = sorted((value, value if other is None else other))
        about = ABOUT * self.high if self.relation == "about" else 0.0
        above = most >= self.low - max(self.place / 2, about) - 1e-9 * self.low
        below = least < self.high + max(self.place, about)
        return below if self.relation == "most" else above if self.relation == "least" else above and below


def amount(text: str) -> Amount:
    """The amount that `text` is. Raises ValueError for anything else, and for nothing in no time."""
    match = _AMOUNT.fullmatch(text.strip())
    found = None if match is None else quantity(re.sub(r"\s*\btimes$", "x", match["high"].strip()))
    if match is None or found is None:
        raise ValueError(f"invalid amount {text!r}: write e.g. 140 GB/s, ~40 %, 25-50 %, 2.6 times, 50 us, 64 MB")
    unit = found.unit
    scale, kind, thousands = (1.0, "", 1.0) if unit is None else (unit.scale, unit.kind, 1.0)
    high = float(found.text) * scale
    if kind in (TIME, RATE, SIZE) and not high > 0:
        raise ValueError(f"{text!r}: nothing is done in no time, or moved at no rate")
    if unit is not None and kind == SIZE and scale > 1 and "i" not in unit.word.lower():
        thousands = next(1000.0**power / scale for power in range(1, 6) if scale == 1024.0**power)
    low = high if match["low"] is None else float(match["low"].replace(",", "")) * scale
    digits = max(len(one.partition(".")[2]) for one in (found.text, match["low"] or ""))
    relation = next((name for name, _ in _SIGNS if match[name]), "")
    return Amount(text.strip(), low, high, 10.0**-digits * scale, kind, relation, thousands)


def parsed(parse: Callable[[str], Any], described: str) -> GetPydanticSchema:
    """Makes a field of a record of a text (or a number) that `parse` takes, for Annotated."""
    schema = core_schema.no_info_plain_validator_function(lambda given: parse(str(given)))
    return GetPydanticSchema(
        lambda _source, _handler: schema,
        lambda _schema, _handler: {"type": ["string", "number"], "description": described},
    )


def _field(example: str, *units: str) -> GetPydanticSchema:
    """Of an amount in one of `units`; none: in any."""

    def parse(text: str) -> Amount:
        found = amount(text)
        if units and (found.unit not in units or not found.low > 0):
            raise ValueError(f"invalid {units[0]} {text!r}: write for example {example}")
        return found

    return parsed(parse, f"as it was stated, with its unit and doubt: {example}")


Stated = Annotated[Amount, _field("140 GB/s, ~40 %, 2.6 times, at most 50 us")]
Size = Annotated[Amount, _field("64 MB", SIZE, "")]
Time = Annotated[Amount, _field("1.2 ms, ~50 us", TIME)]
Rate = Annotated[Amount, _field("482 GB/s", RATE)]
Share = Annotated[Amount, _field("98 %, 25-50 %", PERCENT)]
