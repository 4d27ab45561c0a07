"""Which factors a bandwidth column may hold, and which number of ranks explains one.

For: naming the formula behind a column whose heading says something else. Not for: what the factors of a collective
are (ringtree.stats.bandwidth), how exactly a column's factor is known (intervals).
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from ringtree.audit.intervals import Interval, whole_numbers
from ringtree.stats.bandwidth import bus_factor
from ringtree.traits import COLLECTIVES as OF_CORE

MAX_RANKS = 1 << 20
_MAX_NAMES = 3

COLLECTIVES = (*OF_CORE, "send_recv")

# A unit other than the heading's, in words, and what it does to the printed number.
UNITS = (
    (1.0, ""),
    (8.0, "in Gbit/s where GB/s is written"),
    (1 / 8, "in GB/s where Gbit/s is written"),
    (1e9 / 2**30, "in GiB/s where GB/s is written"),
    (1e6 / 2**20, "in MiB/s where MB/s is written"),
    (2**30 / 1e9, "of a size in units of 10^9 that is written in units of 2^30"),
    (1e3, "a thousand times that (time in ms where µs is written?)"),
    (1e-3, "a thousandth of that (time in µs where ms is written?)"),
    (1e6, "a million times that (time in s where µs is written?)"),
    (1e-6, "a millionth of that (time in µs where s is written?)"),
)


@dataclass(frozen=True)
class Formula:
    """`factor`: what a column holds, as a multiple of size/time. `name`: the formula in words."""

    factor: float
    name: str
    is_busbw: bool = False


@dataclass(frozen=True)
class Explanation:
    """What gives a factor, in words. `is_busbw`: the likeliest is a bus bandwidth; `is_other_unit`: not in that of its
    heading."""

    words: str
    is_busbw: bool
    is_other_unit: bool = False


def formulas(num_ranks: int | None, collective: str | None, element_bytes: int | None) -> list[Formula]:
    """Returns the formulas that people print as bandwidth, the likelier ones first."""
    found = [Formula(1.0, "size/time")]
    if num_ranks is not None and num_ranks > 1:
        n = num_ranks
        if collective is not None and collective in COLLECTIVES:
            found.append(Formula(bus_factor(collective, n), f"busbw of {collective}", is_busbw=True))
        found += [
            Formula(2 * (n - 1) / n, f"2(n-1)/n·size/time, n = {n}"),
            Formula((n - 1) / n, f"(n-1)/n·size/time, n = {n}"),
        ]
    found += [Formula(2.0, "2·size/time"), Formula(0.5, "size/time/2")]
    if num_ranks is not None and num_ranks > 2:
        found += [
            Formula(num_ranks - 1.0, f"(n-1)·size/time, n = {num_ranks}"),
            Formula(float(num_ranks), f"n·size/time, n = {num_ranks}"),
            Formula(2.0 * (num_ranks - 1), f"2(n-1)·size/time, n = {num_ranks}"),
            Formula(1 / num_ranks, f"size/n/time, n = {num_ranks}"),
        ]
    if element_bytes is not None and element_bytes > 1:
        found += [
            Formula(1 / element_bytes, f"elements/time, of {element_bytes} bytes each"),
            Formula(float(element_bytes), f"{element_bytes}·size/time, as if the size were in elements"),
        ]
    return found


def explain_factor(found: Interval, candidates: list[Formula], of_any_ranks: str | None = None) -> Explanation | None:
    """Returns what gives a factor in `found`, the likeliest first; None if nothing known does.

    `of_any_ranks`: a collective whose busbw it may be with a number of ranks that nobody states. Another unit is
    thought of only where no formula in the stated one fits.
    """
    for scale, words in UNITS:
        fitting = [formula for formula in candidates if formula.factor * scale in found]
        if fitting:
            names = list(dict.fromkeys(formula.name for formula in fitting))[:_MAX_NAMES]
            return Explanation(" or ".join(names) + (f", {words}" if words else ""), fitting[0].is_busbw, bool(words))
        ranks = ranks_of_factor(of_any_ranks, found) if of_any_ranks is not None and scale == 1.0 else range(0)
        if 0 < len(ranks) < MAX_RANKS // 2:
            return Explanation(f"busbw of {of_any_ranks} with {ranks[0]} to {ranks[-1]} ranks", is_busbw=True)
    return None


def ranks_of_factor(collective: str, factor: Interval) -> range:
    """Returns the numbers of ranks, from 2, for which busbw/algbw of `collective` lies in `factor`; empty for none.

    Where the factor does not depend on it, that is all of them or none.
    """
    least = bus_factor(collective, 2)
    if least == bus_factor(collective, 3):
        return range(2, MAX_RANKS + 1) if least in factor else range(0)
    top = 2.0 if collective == "all_reduce" else 1.0  # factor = top · (n-1)/n, so n = top / (top - factor)
    if factor.low >= top or factor.high < least:
        return range(0)
    high = top / (top - factor.high) if factor.high < top else float("inf")
    return whole_numbers(Interval(max(2.0, top / (top - factor.low)), high), MAX_RANKS)


def nearest_ranks(collective: str, factor: Interval) -> tuple[int, float]:
    """Returns the number of ranks, from 2, whose busbw/algbw is next to the middle of `factor`, and what it gives."""
    top = 2.0 if collective == "all_reduce" else 1.0
    near = top / (top - factor.middle) if factor.middle < top else MAX_RANKS
    numbers = {min(MAX_RANKS, max(2, round_to(near))) for round_to in (math.floor, math.ceil)}
    return min(((n, bus_factor(collective, n)) for n in sorted(numbers)), key=lambda one: abs(one[1] - factor.middle))
