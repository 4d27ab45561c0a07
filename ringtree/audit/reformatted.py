"""How exactly figures are known that someone put into a table, whatever the program printed.

For: CSV and Markdown, where pandas, Excel or a hand has padded zeros, rounded once more or converted units, so that
the digits of a figure say too much. Not for: a benchmark's own print, whose last digit counts (Interval.of).
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from decimal import Decimal

from ringtree.audit.intervals import Interval
from ringtree.logs import Printed

_TOLD = 3  # a step that fewer values than this have in common is chance
_COARSER = 4  # and so is one that is not this much coarser than what is printed
_SINGLE = 5e-7  # of a value: arithmetic in single precision
# What a step of 10^k of another unit is in the one that is printed: bits from bytes, bytes from bits, 10^9 and 2^30.
_RATES = (1.0, 8.0, 1.25, 2**30 / 1e9, 1e9 / 2**30)
# Units that no benchmark of collectives prints: the rates were GB/s or MB/s before, and GB/s in steps of 0.01.
_CONVERTED = (1e9 / 8, 1e6 / 8, 2.0**30, 2.0**20)
_GIGA = 1e8  # bytes/s: units above are Gbit/s and GiB/s
_STEP_BEFORE = 0.01e9


def half_width(column: Iterable[Printed | None], is_rate: bool) -> float:
    """Returns how far each figure of a column may be off, at least: half of the step that all of them have in common.

    That is a power of ten, or one of another unit: 0.08 Gbit/s are 0.01 GB/s. 0 for an empty column.
    """
    found = [one for one in column if one is not None and math.isfinite(one.value) and one.value > 0]
    if not found:
        return 0.0
    unit = found[0].unit
    if any(one.unit != unit for one in found):
        return 0.0
    values = [(float(one.text), max(one.resolution / unit / 2, float(one.text) * _SINGLE)) for one in found]
    finest = max(one.resolution for one in found) / unit
    # Another rounding came before this one: of a place more, or in another unit.
    before = 0.1 * finest
    if is_rate and unit in _CONVERTED:
        before = max(finest, _STEP_BEFORE / unit if unit > _GIGA else 0.0)
    steps = [before]
    if len(values) >= _TOLD:
        least = _COARSER * 2 * max(slack for _, slack in values)
        most = max(value for value, _ in values)
        for factor in _RATES if is_rate else _RATES[:1]:
            power = math.ceil(math.log10(least / factor) - 1e-9)
            while (step := factor * 10.0**power) <= most and _divides(step, values):
                steps.append(step)
                power += 1
    return max(steps) * unit / 2


def interval(printed: Printed | None, half: float) -> Interval | None:
    """Returns what a figure can have been, in a column whose figures are off by `half` and their own last place.

    Zeros after the point say nothing: 1402.000 may be 1402.0 or 1402 that was padded.
    """
    exact = Interval.of(printed)
    if exact is None or printed is None:
        return exact
    own = max(printed.resolution, _last_place(float(printed.text)) * printed.unit) / 2
    half = max(own, half + printed.resolution / 2)
    return Interval(min(exact.low, max(0.0, printed.value - half)), max(exact.high, printed.value + half))


def _divides(step: float, values: list[tuple[float, float]]) -> bool:
    return all(abs(value - step * round(value / step)) <= slack * (1 + 1e-6) for value, slack in values)


def _last_place(value: float) -> float:
    """Returns the place of the last digit after the point that is not 0, 1 if there is none, 0 for the number 0."""
    if value == 0:
        return 0.0
    exponent = Decimal(f"{value:.12g}").normalize().as_tuple().exponent
    return float(10.0 ** min(0, exponent)) if isinstance(exponent, int) else 0.0
