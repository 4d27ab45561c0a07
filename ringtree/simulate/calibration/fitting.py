"""Fits constants of a description to measured times: robust, in logarithms, and only those that the times tell.

For: values, intervals, and why other constants were left as they are. Not for: which times (evidence.py), stored
clusters (describing.py).

The fit is least squares of log(simulated / measured), soft-L1, so that one wild cell does not bend it. Which
constants the times tell: telling.py.
Intervals: bootstrap over launches, and signs of the cells' residuals (wild bootstrap), each linear about the fit.
"""

from __future__ import annotations

import math
from collections.abc import Collection
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from ringtree.errors import UsageError
from ringtree.simulate.calibration.constants import candidates, changed, constant_like, value_of
from ringtree.simulate.calibration.evidence import Evidence
from ringtree.simulate.calibration.telling import Told, tell, with_effect
from ringtree.simulate.calibration.times import Fit
from ringtree.simulate.cluster import Cluster, Constant
from ringtree.stats.wild import wild_intervals

LEVEL = 0.95


class Fitted(NamedTuple):
    """A constant by its key: what it was and what it is, and the interval, bytes/s or seconds; None: not known, as
    there are no more cells than constants."""

    key: str
    before: Constant
    value: float
    interval: tuple[float, float] | None


class Bounded(NamedTuple):
    """A constant of which the times say only that it is at least or at most `value`, bytes/s or seconds, and why."""

    key: str
    before: Constant
    value: float
    why: str

    @property
    def words(self) -> str:
        return "at least" if self.value > value_of(self.before) else "at most"


class Held(NamedTuple):
    """A constant that the times don't tell, which stays as it was, and why."""

    key: str
    value: Constant
    why: str


@dataclass(frozen=True)
class Calibration:
    """What was fitted. `cluster` has the bounds of what is only bounded. `errors`: simulated / measured − 1 of each
    cell of `evidence`, after the fit."""

    cluster: Cluster
    evidence: Evidence
    fitted: list[Fitted]
    bounded: list[Bounded]
    held: list[Held]
    errors: list[float]


def calibrate(
    cluster: Cluster,
    evidence: Evidence,
    *,
    hold: Collection[str] = (),
    seed: int = 0,
    num_resamples: int = 999,
    may_tell_nothing: bool = False,
) -> Calibration:
    """Fits the constants of `cluster` that `evidence` tells, but those of the keys `hold`; `seed`: of the bootstrap.

    Raises UsageError if it tells none of them, in a line that says why, unless it `may_tell_nothing`.
    """
    fit = Fit(cluster, evidence.cells)
    every = candidates(cluster, {one.protocol for one in evidence.cells})
    free = {key: constant for key, constant in every.items() if key not in hold}
    start = fit.values(free)
    # What a first look says of constants that nothing uses holds; the rest is looked at where the fit ends.
    used, idle = with_effect(list(free), fit.jacobian(free, list(free), start))
    told = tell(fit, free, used, start)
    fit, keys, values = told.fit, told.keys, told.values
    if not keys and not may_tell_nothing:
        why = "; ".join(f"{key}: {why}" for key, why in told.lost.items()) or "no constant matters"
        raise UsageError(f"no constant can be fitted to {evidence.covers()}: {why}")
    intervals = _intervals(free, told, seed, num_resamples)
    return Calibration(
        cluster=changed(fit.cluster, {key: constant_like(free[key], math.exp(values[key])) for key in keys}),
        evidence=evidence,
        fitted=[
            Fitted(key, free[key], math.exp(values[key]), interval)
            for key, interval in zip(keys, intervals, strict=True)
        ],
        bounded=[Bounded(key, free[key], math.exp(one), told.lost[key]) for key, one in told.bounds.items()],
        held=[Held(key, free[key], why) for key, why in (idle | told.lost).items() if key not in told.bounds],
        errors=[math.exp(one) - 1 for one in fit.residuals(free, keys, values)],
    )


def _intervals(
    free: dict[str, Constant], told: Told, seed: int, num_resamples: int
) -> list[tuple[float, float] | None]:
    fit, keys, values, jacobian = told.fit, told.keys, told.values, told.jacobian
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
