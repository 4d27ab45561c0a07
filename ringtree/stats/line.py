"""A straight line through measured times, with intervals, and which of two kinds of growth the points show.

For: latency and rate of time = α + β·size, and time over the number of hosts. Not for: choosing points or naming what
grows.

Errors of times are relative, so each point counts with 1/time²: the residual is a share of the time. Two lines with as
many parameters can't be told apart by the fit alone (AICc differs by n·ln of the residuals' ratio, which chance makes
large where few points are): each is taken for true in turn, points are drawn from it with its own residual, and counted
is how often the other one does as well against it as it did (Williams 1970; Cox 1962).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
MIN_POINTS = 3
_DRAWS = 4000
_EXACT = 1e-9  # a residual below is rounding


@dataclass(frozen=True)
class Line:
    """y = intercept + slope·x, each with its interval (low, high). `residual`: standard deviation, a share of y;
    `worst`: the largest deviation, a share of y."""

    intercept: float
    slope: float
    intercept_interval: tuple[float, float]
    slope_interval: tuple[float, float]
    residual: float
    worst: float


@dataclass(frozen=True)
class ToldApart:
    """`delta`: AICc of the second kind less that of the first: above 0 the first fits better. `p_first`, `p_second`:
    how often such a delta would come if that kind were true."""

    first: Line
    second: Line
    delta: float
    p_first: float
    p_second: float


def fit_line(x: Sequence[float], y: Sequence[float], level: float = 0.95) -> Line | None:
    """Returns the line of least relative squares; None below three different x: two points leave nothing over."""
    if len(set(x)) < MIN_POINTS:
        return None
    from scipy.special import stdtrit  # late: it takes a second to load

    unit = np.array([1.0, max(map(abs, x))])  # sizes are up to 1e11 beside times of 1e-5
    a, b = _design(x) / unit, np.asarray(y, dtype=float)
    weighted = a / b[:, None]
    inverse = np.linalg.inv(weighted.T @ weighted)
    found = inverse @ weighted.T @ np.ones(len(b))
    deviation = weighted @ found - 1
    variance = float(deviation @ deviation) / (len(b) - 2)
    half = float(stdtrit(len(b) - 2, (1 + level) / 2)) * np.sqrt(variance * np.diag(inverse))
    (low, steep), (wide, wider) = found / unit, half / unit
    worst = float(np.abs(deviation).max())
    between = (float(low - wide), float(low + wide)), (float(steep - wider), float(steep + wider))
    return Line(float(low), float(steep), *between, math.sqrt(variance), worst)


def tell_apart(first: Sequence[float], second: Sequence[float], y: Sequence[float], seed: int = 1) -> ToldApart | None:
    """Holds y as a line over `first` against y as a line over `second`; None below three different points."""
    one, other = fit_line(first, y), fit_line(second, y)
    if one is None or other is None:
        return None
    designs = _design(first), _design(second)
    times = np.asarray(y, dtype=float)
    delta = float(_delta(designs, times[None])[0])
    random = np.random.default_rng(seed)
    p = []
    for line, design in zip((one, other), designs, strict=True):
        true = design @ np.array([line.intercept, line.slope])
        drawn = _delta(designs, true * (1 + max(line.residual, _EXACT) * random.standard_normal((_DRAWS, len(times)))))
        beyond = drawn <= delta if design is designs[0] else drawn >= delta
        p.append((1 + int(beyond.sum())) / (1 + _DRAWS))
    return ToldApart(one, other, delta, *p)


def _design(x: Sequence[float]) -> Floats:
    return np.column_stack([np.ones(len(x)), np.asarray(x, dtype=float)])


def _delta(designs: tuple[Floats, Floats], times: Floats) -> Floats:
    """n·ln(residual of the second / that of the first) of each row of times."""
    squares = []
    for design in designs:
        weighted = design[None] / times[:, :, None]
        gram = np.einsum("dni,dnj->dij", weighted, weighted)
        found = np.linalg.solve(gram, weighted.sum(axis=1)[:, :, None])
        left = (weighted @ found)[:, :, 0] - 1
        squares.append(np.maximum((left**2).sum(axis=1), _EXACT**2))
    return np.asarray(times.shape[1] * np.log(squares[1] / squares[0]))
