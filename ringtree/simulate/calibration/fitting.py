"""Fits constants of a description to measured times: robust, in logarithms, and only those that the times tell.

For: values, intervals, and why other constants were left as they are. Not for: which times (evidence.py), stored
clusters (describing.py).

The fit is least squares of log(simulated / measured), soft-L1, so that one wild cell does not bend it. Whether a
constant is identifiable is read off the Jacobian J at the fit: constant j is not if doubling it changes no time by 1 %,
or if the other constants can make up for it, that is, if the part of J's column j that no other column explains is
smaller than the noise in which a factor of two would be seen. Such a constant keeps the description's value and is
named.
Intervals: bootstrap over launches, and signs of the cells' residuals (wild bootstrap), each linear about the fit.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ringtree.errors import UsageError
from ringtree.simulate.calibration.constants import candidates, changed, constant_like, value_of
from ringtree.simulate.calibration.evidence import Evidence, TimedCall
from ringtree.simulate.cluster import Cluster, Constant
from ringtree.simulate.on_core import CoreSimulator
from ringtree.simulate.sweep import call_seconds
from ringtree.stats.wild import wild_intervals

Floats = NDArray[np.float64]

LEVEL = 0.95
_STEP = 0.02  # of a logarithm, for derivatives: beyond the ripples of slices that start or stop fitting a slot
_SOFT = 0.1  # residuals beyond 10 % count linearly
_MOST = math.log(1e4)  # how far a constant may go from its start
_PULL = 1e-3  # towards the start: what the times don't tell stays near it instead of going anywhere
_NO_EFFECT = 0.01 / math.log(2)
_LEAST_NOISE = 0.01  # times are never trusted to better than 1 %
_WIDE = 1.96  # standard errors: a 95 % interval reaches so far
_ALIKE = 0.03  # share of a column that others leave; below it noise of derivatives is all that there is


class Fitted(NamedTuple):
    """A constant by its key: what it was and what it is, and the interval, bytes/s or seconds; None: not known, as
    there are no more cells than constants."""

    key: str
    before: Constant
    value: float
    interval: tuple[float, float] | None


class Held(NamedTuple):
    """A constant that the times don't tell, which stays as it was, and why."""

    key: str
    value: Constant
    why: str


@dataclass(frozen=True)
class Calibration:
    """What was fitted. `errors`: simulated / measured − 1 of each cell of `evidence`, after the fit."""

    cluster: Cluster
    evidence: Evidence
    fitted: list[Fitted]
    held: list[Held]
    errors: list[float]


def calibrate(
    cluster: Cluster,
    evidence: Evidence,
    *,
    hold: Collection[str] = (),
    seed: int = 0,
    num_resamples: int = 999,
) -> Calibration:
    """Fits the constants of `cluster` that `evidence` tells, but those of the keys `hold`; `seed`: of the bootstrap.

    Raises UsageError if it tells none of them, in a line that says why.
    """
    fit = _Fit(cluster, evidence.cells)
    every = candidates(cluster, {one.protocol for one in evidence.cells})
    free = {key: constant for key, constant in every.items() if key not in hold}
    keys, held = list(free), dict[str, str]()
    start = fit.values(free)
    # What a first look says of constants that nothing uses holds; the rest is looked at where the fit ends.
    keys, idle = _with_effect(keys, fit.jacobian(free, keys, start))
    held |= idle
    while keys:
        values = fit.solve(free, keys, start)
        jacobian = fit.jacobian(free, keys, values)
        kept, lost = _with_effect(keys, jacobian)
        if not lost:
            kept, lost = _told_apart(keys, jacobian, fit.residuals(free, keys, values))
        held |= lost
        if not lost:
            break
        keys = kept
    if not keys:
        told = "; ".join(f"{key}: {why}" for key, why in held.items() if key not in idle) or "no constant matters"
        raise UsageError(f"{evidence.covers()} tell no constant: {told}")
    return Calibration(
        cluster=changed(cluster, {key: constant_like(free[key], math.exp(values[key])) for key in keys}),
        evidence=evidence,
        fitted=[
            Fitted(key, free[key], math.exp(values[key]), interval)
            for key, interval in zip(
                keys, _intervals(fit, free, keys, values, jacobian, seed, num_resamples), strict=True
            )
        ],
        held=[Held(key, free[key], why) for key, why in held.items()],
        errors=[math.exp(one) - 1 for one in fit.residuals(free, keys, values)],
    )


class _Fit:
    """Times of the cells as a function of constants, in logarithms."""

    def __init__(self, cluster: Cluster, cells: Sequence[TimedCall]) -> None:
        self.cluster, self.cells = cluster, cells
        self.measured = np.log([one.median for one in cells])
        self._simulators: dict[tuple[object, ...], CoreSimulator] = {}

    @staticmethod
    def values(free: dict[str, Constant]) -> dict[str, float]:
        return {key: math.log(value_of(constant)) for key, constant in free.items()}

    def times(self, free: dict[str, Constant], values: dict[str, float]) -> Floats:
        """Logarithms of the simulated seconds, in the order of the cells."""
        cluster = changed(self.cluster, {key: constant_like(free[key], math.exp(one)) for key, one in values.items()})
        return np.array([math.log(self._seconds(cluster, cell)) for cell in self.cells])

    def residuals(self, free: dict[str, Constant], keys: list[str], values: dict[str, float]) -> Floats:
        return self.times(free, {key: values[key] for key in keys}) - self.measured

    def jacobian(self, free: dict[str, Constant], keys: list[str], values: dict[str, float]) -> Floats:
        """Derivatives of the log times by the log constants, a column a key: central differences."""
        columns = []
        for key in keys:
            at = {one: values[one] for one in keys}
            ends = [self.times(free, {**at, key: values[key] + step}) for step in (-_STEP, _STEP)]
            columns.append((ends[1] - ends[0]) / (2 * _STEP))
        return np.column_stack(columns) if columns else np.zeros((len(self.cells), 0))

    def solve(self, free: dict[str, Constant], keys: list[str], start: dict[str, float]) -> dict[str, float]:
        from scipy.optimize import least_squares  # late: it takes a second to load

        first = np.array([start[key] for key in keys])

        def off(at: Floats) -> Floats:
            return np.append(self.residuals(free, keys, dict(zip(keys, at, strict=True))), _PULL * (at - first))

        def slopes(at: Floats) -> Floats:
            at_keys = dict(zip(keys, (float(one) for one in at), strict=True))
            return np.vstack([self.jacobian(free, keys, at_keys), _PULL * np.eye(len(keys))])

        found = least_squares(
            off,
            first,
            jac=slopes,
            bounds=(first - _MOST, first + _MOST),
            loss="soft_l1",
            f_scale=_SOFT,
            max_nfev=40,
            xtol=1e-5,
            ftol=1e-7,
        )
        return dict(zip(keys, (float(one) for one in found.x), strict=True))

    def _seconds(self, cluster: Cluster, cell: TimedCall) -> float:
        call = cell.call
        simulator = self._simulators.setdefault((call.collective, call.algorithm, call.hosts), CoreSimulator())
        return call_seconds(simulator, cluster, call, cell.ranks_per_node, cell.protocol)


def _with_effect(keys: list[str], jacobian: Floats) -> tuple[list[str], dict[str, str]]:
    effect = np.abs(jacobian).max(axis=0, initial=0.0)
    lost = {key: "no measured time depends on it" for key, one in zip(keys, effect, strict=True) if one < _NO_EFFECT}
    return [key for key in keys if key not in lost], lost


def _told_apart(keys: list[str], jacobian: Floats, residuals: Floats) -> tuple[list[str], dict[str, str]]:
    """Those that the others can't make up for, and why the rest is not told: all of a group that goes together."""
    spare = len(residuals) - len(keys)
    # As one would from the median deviation of normal noise: a wild cell is not noise of the others.
    typical = 1.4826 * float(np.median(np.abs(residuals)))
    noise = max(_LEAST_NOISE, typical * math.sqrt(len(residuals) / spare) if spare > 0 else 0.0)
    lost, noisy = {}, {}
    for index, key in enumerate(keys):
        others = np.delete(jacobian, index, axis=1)
        column = jacobian[:, index]
        weights = np.linalg.lstsq(others, column, rcond=1e-6)[0]
        left = float(np.linalg.norm(column - others @ weights))
        names = [one for one in keys if one != key]
        if left < _ALIKE * float(np.linalg.norm(column)) or len(residuals) < len(keys):
            rival = names[int(np.argmax(np.abs(weights) * np.linalg.norm(others, axis=0)))] if names else ""
            lost[key] = f"not told apart from {rival} by these sizes and algorithms"
        elif _WIDE * noise / left > math.log(2):
            noisy[key] = left
    if noisy and not lost:
        # The worst alone: without it the others may be told well.
        worst = min(noisy, key=lambda key: noisy[key])
        lost[worst] = f"a factor of two in it is within the noise of these times ({noise:.0%})"
    return [key for key in keys if key not in lost], lost


def _intervals(
    fit: _Fit,
    free: dict[str, Constant],
    keys: list[str],
    values: dict[str, float],
    jacobian: Floats,
    seed: int,
    num_resamples: int,
) -> list[tuple[float, float] | None]:
    if len(fit.cells) <= len(keys):
        return [None] * len(keys)
    starts = list(dict.fromkeys(key for cell in fit.cells for key in cell.seconds))
    logs = np.full((len(fit.cells), len(starts)), np.nan)
    for row, cell in enumerate(fit.cells):
        for column, key in enumerate(starts):
            if key in cell.seconds:
                logs[row, column] = math.log(cell.seconds[key])
    residuals = fit.residuals(free, keys, values)
    found = wild_intervals(jacobian, residuals, logs - fit.measured[:, None], LEVEL, seed, num_resamples)
    return [
        (math.exp(values[key] + low), math.exp(values[key] + high))
        for key, (low, high) in zip(keys, found, strict=True)
    ]
