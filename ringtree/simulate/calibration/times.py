"""Simulated times of measured cells as a function of constants, in logarithms, and the constants that fit them best.

For: calibrate(). Not for: which of them the times tell (telling.py).
"""

from __future__ import annotations

import copy
import math
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from ringtree.simulate.calibration.constants import changed, constant_like, value_of
from ringtree.simulate.calibration.evidence import TimedCall
from ringtree.simulate.cluster import Cluster, Constant
from ringtree.simulate.on_core import CoreSimulator
from ringtree.simulate.sweep import call_seconds

Floats = NDArray[np.float64]

_STEP = 0.02  # of a logarithm, for derivatives: beyond the ripples of slices that start or stop fitting a slot
_SOFT = 0.1  # residuals beyond 10 % count linearly
_MOST = math.log(1e4)  # how far a constant may go from its start
_PULL = 1e-3  # towards the start: what the times don't tell stays near it instead of going anywhere


class Fit:
    """Times of the cells as a function of constants, in logarithms."""

    def __init__(self, cluster: Cluster, cells: Sequence[TimedCall]) -> None:
        self.cluster, self.cells = cluster, cells
        self.measured = np.log([one.median for one in cells])
        self._simulators: dict[tuple[object, ...], CoreSimulator] = {}

    @staticmethod
    def values(free: dict[str, Constant]) -> dict[str, float]:
        return {key: math.log(value_of(constant)) for key, constant in free.items()}

    def fixed(self, free: dict[str, Constant], values: dict[str, float]) -> Fit:
        """Returns the same with other values, logarithms, of constants that are given none."""
        found = copy.copy(self)
        fixed = {key: constant_like(free[key], math.exp(one)) for key, one in values.items()}
        found.cluster = changed(self.cluster, fixed)
        return found

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

    def off(self, free: dict[str, Constant], keys: list[str], values: dict[str, float]) -> float:
        """Returns what the fit makes least: the sum of squared residuals, of which wild ones count linearly."""
        residuals = self.residuals(free, keys, values) / _SOFT
        return float(2 * _SOFT**2 * np.sum(np.sqrt(1 + residuals**2) - 1))

    def _seconds(self, cluster: Cluster, cell: TimedCall) -> float:
        call = cell.call
        simulator = self._simulators.setdefault((call.collective, call.algorithm, call.hosts), CoreSimulator())
        return call_seconds(simulator, cluster, call, cell.ranks_per_node, cell.protocol)
