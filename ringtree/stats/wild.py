"""Intervals of a robust fit, by a bootstrap that is linear about the fit.

For: parameters of a model whose residuals come from noise between launches and from the model's own error. Not for: the
fit itself, or straight lines (line.py).
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]

_SOFT = 0.1
_ROUNDS = 5


def wild_intervals(
    jacobian: Floats, residuals: Floats, deviations: Floats, level: float, seed: int, num_resamples: int
) -> list[tuple[float, float]]:
    """Returns for each parameter how far (low, high) it may be from its fitted value.

    `jacobian`: derivatives of n predictions by p < n parameters at the fit; `residuals`: predictions less what was
    measured; `deviations`: what each of L launches measured less the median of its row, n×L, NaN where it has none.

    Each resample draws launches with replacement, takes the rows' medians, and adds the residuals with signs by chance
    (Wu 1986; Davidson and Flachaire 2008), inflated by √(n/(n − p)) for what the fit has swallowed. It then solves for
    the parameters by soft-L1 least squares, linear about the fit. Percentiles, mirrored about the fit: the error of a
    resample is the error of the fit with its sign reversed. Both ends are moved out by t/z for n − p degrees of
    freedom, and deviations by √(L/(L − 1)), L being the launches that their row has, since few of them spread less than
    what they are drawn from.
    """
    cells, parameters = jacobian.shape
    from scipy.special import ndtri, stdtrit  # late: it takes a second to load

    random = np.random.default_rng(seed)
    launches = deviations.shape[1]
    own = np.isfinite(deviations).sum(axis=1, keepdims=True)
    deviations = deviations * np.sqrt(own / np.maximum(1, own - 1))
    model = residuals * np.sqrt(cells / (cells - parameters))
    moved = np.zeros((num_resamples, parameters))
    for resample in range(num_resamples):
        drawn = deviations[:, random.integers(launches, size=launches)]
        known = np.isfinite(drawn).any(axis=1)
        noise = np.zeros(cells)
        noise[known] = np.nanmedian(drawn[known], axis=1)
        moved[resample] = _solve(jacobian, noise + model * random.choice((-1.0, 1.0), size=cells))
    tail = (1 - level) / 2
    low, high = np.quantile(moved, [tail, 1 - tail], axis=0)
    wider = float(stdtrit(cells - parameters, 1 - tail) / ndtri(1 - tail))
    return [(-wider * float(above), -wider * float(below)) for below, above in zip(low, high, strict=True)]


def _solve(jacobian: Floats, target: Floats) -> Floats:
    """The parameters by which `jacobian` comes nearest to `target`, each row weighted as soft-L1 weights it."""
    found = np.asarray(np.linalg.lstsq(jacobian, target, rcond=None)[0], dtype=np.float64)
    for _ in range(_ROUNDS):
        left = (jacobian @ found - target) / _SOFT
        weight = (1 + left**2) ** -0.25  # the root of rho'(z) = (1 + z)^(-1/2), z = left²
        weighted = np.linalg.lstsq(jacobian * weight[:, None], target * weight, rcond=None)[0]
        found = np.asarray(weighted, dtype=np.float64)
    return found
