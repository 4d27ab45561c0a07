"""Which constants measured times tell: those whose change shows, and that no other constant can make up for.

For: calibrate(). Not for: the fit itself (times.py), intervals (fitting.py).

A constant is not told if doubling it changes no time by 1 %, or if the others can make up for it: if the part of its
column of the Jacobian, at the fit, that no other column explains is smaller than the noise in which a factor of two
would be seen. It keeps the description's value if that fits as well. If it does not, the times bound it: they say "at
least" or "at most" so much, as of a core so fast that something else limits, and it gets the bound.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from ringtree.simulate.calibration.times import Fit, Floats
from ringtree.simulate.cluster import Constant

_NO_EFFECT = 0.01 / math.log(2)
_LEAST_NOISE = 0.01  # times are never trusted to better than 1 %
_WIDE = 1.96  # standard errors: a 95 % interval reaches so far
_ALIKE = 0.03  # share of a column that others leave; below it noise of derivatives is all that there is
_HALVINGS = 8  # of the way from the description's value to the fit's


class Told(NamedTuple):
    """Constants that the times tell, with `values` (logarithms) and `jacobian` where `fit` ends; `bounds`: values of
    those that they only bound, which `fit` has; why others, and these, are not told."""

    fit: Fit
    keys: list[str]
    values: dict[str, float]
    jacobian: Floats
    bounds: dict[str, float]
    lost: dict[str, str]


def tell(fit: Fit, free: dict[str, Constant], keys: list[str], start: dict[str, float]) -> Told:
    """Fits `keys`, again without those that the times don't tell, until all that are left are told."""
    held, bounds = dict[str, str](), dict[str, float]()
    values, jacobian = dict[str, float](), np.zeros((len(fit.cells), 0))
    while keys:
        values = fit.solve(free, keys, start)
        jacobian, residuals = fit.jacobian(free, keys, values), fit.residuals(free, keys, values)
        flat = with_effect(keys, jacobian)[1]
        alike, noisy = ({}, {}) if flat else _told_apart(keys, jacobian, residuals)
        limit = (_WIDE * _noise(residuals, len(keys))) ** 2
        for key in flat or noisy:
            bound = _bound(fit, free, values, key, start, limit)
            if bound is not None:
                bounds[key] = bound
        fit = fit.fixed(free, {key: bounds[key] for key in (flat or noisy) if key in bounds})
        lost = flat | alike | noisy
        held |= lost
        if not lost:
            break
        keys = [key for key in keys if key not in lost]
    return Told(fit, keys, values, jacobian, bounds, held)


def with_effect(keys: list[str], jacobian: Floats) -> tuple[list[str], dict[str, str]]:
    """Returns the keys whose column shows in some time, and why each other is not told."""
    effect = np.abs(jacobian).max(axis=0, initial=0.0)
    lost = {key: "no measured time depends on it" for key, one in zip(keys, effect, strict=True) if one < _NO_EFFECT}
    return [key for key in keys if key not in lost], lost


def _noise(residuals: Floats, num_keys: int) -> float:
    """As one would from the median deviation of normal noise: a wild cell is not noise of the others."""
    spare = len(residuals) - num_keys
    typical = 1.4826 * float(np.median(np.abs(residuals)))
    return max(_LEAST_NOISE, typical * math.sqrt(len(residuals) / spare) if spare > 0 else 0.0)


def _told_apart(keys: list[str], jacobian: Floats, residuals: Floats) -> tuple[dict[str, str], dict[str, str]]:
    """Why keys are not told: all of a group that goes together, or else the one that noise hides most."""
    noise = _noise(residuals, len(keys))
    lost, noisy = {}, {}
    for index, key in enumerate(keys):
        others = np.delete(jacobian, index, axis=1)
        column = jacobian[:, index]
        weights = np.linalg.lstsq(others, column, rcond=1e-6)[0]
        left = float(np.linalg.norm(column - others @ weights))
        names = [one for one in keys if one != key]
        if left < _ALIKE * float(np.linalg.norm(column)) or len(residuals) < len(keys):
            rival = names[int(np.argmax(np.abs(weights) * np.linalg.norm(others, axis=0)))] if names else ""
            lost[key] = f"not separable from {rival} by these sizes and algorithms"
        elif _WIDE * noise / left > math.log(2):
            noisy[key] = left
    if lost or not noisy:
        return lost, {}
    # The worst alone: without it the others may be told well.
    worst = min(noisy, key=lambda key: noisy[key])
    return {}, {worst: f"a factor of two in it is within the noise of these times ({noise:.0%})"}


def _bound(
    fit: Fit, free: dict[str, Constant], values: dict[str, float], key: str, start: dict[str, float], limit: float
) -> float | None:
    """Returns the logarithm nearest to the start's at which others can still make up for it: the fit is worse by
    `limit` there. None if it is not even at the start."""
    others = [one for one in values if one != key]
    least = fit.off(free, list(values), values)

    def refuted(value: float) -> bool:
        there = fit.fixed(free, {key: value})
        return there.off(free, others, there.solve(free, others, start) if others else {}) - least > limit

    wrong, right = start[key], values[key]
    if not refuted(wrong):
        return None
    for _ in range(_HALVINGS):
        middle = (wrong + right) / 2
        if refuted(middle):
            wrong = middle
        else:
            right = middle
    return right
