"""Change in time: drift over the launches of a run, and warm-up within a series.

For: warning that launches are not alike (a machine that heats up, a neighbour that came), finding where a stored series
had settled, deciding on line that it has. Not for: correcting anything: arms are interleaved, so that drift meets all.

The slope is Theil and Sen's: the median of the slopes between all pairs of launches, of the logarithm of the time
(Sen 1968, JASA 63:1379). Its p value is that of Spearman's rank correlation with the order in time, by permutation.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

ERROR = 0.01  # of a single flag; there are as many looks as arms and sizes, so stricter than the usual 5 %
LEAST_CHANGE = 0.05  # over the whole run; less is not worth a warning
EXACT_VALUES = 8  # 40,320 orders
NUM_SAMPLED = 10_000


@dataclass(frozen=True)
class Drift:
    """How a value changed over the launches of a run. `slope`: of its logarithm, per launch."""

    slope: float
    p: float
    num_launches: int

    def __post_init__(self) -> None:
        if not math.isfinite(self.slope) or not 0.0 < self.p <= 1.0 or self.num_launches < 1:
            raise ValueError("a drift has a finite slope, a p value above 0 and up to 1, and at least one launch")

    @property
    def change(self) -> float:
        """Last over first along the slope: 1.1 for 10 % more."""
        return math.exp(self.slope * (self.num_launches - 1))

    @property
    def flagged(self) -> bool:
        """Whether the change is both sure and large enough to say."""
        return self.p < ERROR and abs(self.slope) * (self.num_launches - 1) > math.log1p(LEAST_CHANGE)


def drift(values: Sequence[float], seed: int = 0) -> Drift:
    """Returns the drift of `values`, one a launch in the order of time. `seed` matters above EXACT_VALUES values.

    With fewer than six values no drift is ever flagged: 2 / 5! is above ERROR. Raises ValueError for no values or one
    that is not positive and finite.
    """
    array = np.asarray(values, dtype=np.float64)
    if array.ndim != 1 or array.size == 0 or not (np.all(np.isfinite(array)) and np.all(array > 0)):
        raise ValueError("a drift is looked for in positive, finite values, at least one")
    n = array.size
    if n < 3:
        return Drift(0.0 if n == 1 else float(np.log(array[1] / array[0])), 1.0, n)
    first, second = np.triu_indices(n, k=1)
    logs = np.log(array)
    slope = float(np.median((logs[second] - logs[first]) / (second - first)))
    return Drift(slope, _spearman_p(array, seed), n)


def is_stable(recent: Sequence[float], window: int = 3, tolerance: float = 0.05) -> bool:
    """Whether the values no longer fall.

    The median of the last `window` of them is then not below the median of the `window` before by more than `tolerance`
    (a share). False for fewer than 2 · window values.
    """
    _check_window(recent, window, tolerance)
    if len(recent) < 2 * window:
        return False
    last, before = np.median(recent[-window:]), np.median(recent[-2 * window : -window])
    return bool(last >= before * (1.0 - tolerance))


def _check_window(series: Sequence[float], window: int, tolerance: float) -> None:
    if window < 1 or not 0.0 <= tolerance < 1.0:
        raise ValueError(f"a window holds at least one value, and a tolerance lies in [0, 1): {window}, {tolerance}")
    if not all(0.0 <= value < math.inf for value in series):
        raise ValueError("times must be finite and not negative")


def _ranks(values: NDArray[np.float64]) -> NDArray[np.float64]:
    """Ranks from 0, ties averaged."""
    _, which, counts = np.unique(values, return_inverse=True, return_counts=True)
    last = np.cumsum(counts) - 1
    return np.asarray((last - (counts - 1) / 2)[which], dtype=np.float64)


def _spearman_p(values: NDArray[np.float64], seed: int) -> float:
    """The two-sided permutation p value of Spearman's rank correlation of `values` with their order."""
    n = len(values)
    order, ranks = np.arange(n) - (n - 1) / 2, _ranks(values)
    orders = _orders(n, seed)
    # Under permutation only this sum of the correlation changes.
    reached = np.abs(ranks[orders] @ order)
    return float(np.mean(reached >= abs(float(ranks @ order)) - 1e-9))


@lru_cache(maxsize=4)
def _orders(n: int, seed: int) -> NDArray[np.int64]:
    """Orders of n values as rows: all of them, or a sample with the one that was seen first."""
    if n <= EXACT_VALUES:
        orders = np.array(list(itertools.permutations(range(n))), dtype=np.int64)
    else:
        orders = np.random.default_rng(seed).permuted(np.tile(np.arange(n), (NUM_SAMPLED, 1)), axis=1)
        orders[0] = np.arange(n)
    orders.flags.writeable = False  # kept for the next series
    return orders
