"""The shape of a curve: latency floor, saturation, plateau, and α and β with their intervals.

For: three numbers and a line that stand for a curve. Not for: whether they are good (judging.py).
"""

from __future__ import annotations

import statistics

from ringtree.health.curve import Curve
from ringtree.health.records import AlphaBeta, CurveShape
from ringtree.stats import fit_line

FLOOR = 4 << 10  # a call of up to this size is latency
_SATURATED, _RISING = 0.9, 1.03


def shape_of(curve: Curve) -> CurveShape:
    """Returns the shape of a curve."""
    sizes = list(curve.seconds)
    rates = {size: curve.busbw(size, seconds) for size, seconds in curve.seconds.items()}
    small = [size for size in sizes if size <= FLOOR]
    best = max(sizes, key=lambda size: rates[size])
    half = [size for size in sizes if size <= sizes[-1] / 2]
    return CurveShape(
        floor=floor_of(curve) if small else None,
        floor_sizes=(small[0], small[-1]) if small else None,
        plateau=rates[best],
        plateau_at=best,
        rising=not half or rates[sizes[-1]] > _RISING * rates[half[-1]],
        saturation=next(size for size in sizes if rates[size] >= _SATURATED * rates[best]),
        fit=_fit(curve),
    )


def floor_of(curve: Curve) -> float:
    """Returns the median time of the sizes that are latency. Raises ValueError if there are none."""
    return statistics.median(seconds for size, seconds in curve.seconds.items() if size <= FLOOR)


def _fit(curve: Curve) -> AlphaBeta | None:
    line = fit_line(list(curve.seconds), list(curve.seconds.values()))
    if line is None:
        return None
    slow, fast = line.slope_interval[1], line.slope_interval[0]
    return AlphaBeta(
        alpha=line.intercept,
        alpha_interval=line.intercept_interval,
        rate=1 / line.slope if line.slope > 0 else 0.0,
        rate_interval=(1 / slow if slow > 0 else 0.0, 1 / fast if fast > 0 else None),
        worst=line.worst,
    )
