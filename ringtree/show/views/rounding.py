"""Figures as the page carries them.

For: rounding, and samples in few numbers. Not for: statistics (ringtree.stats).
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

NUM_QUANTILES = 41
_DIGITS = 6


def rounded(value: float | None) -> float | None:
    """Six digits: more than any figure here is known to, and half of the page's size."""
    if value is None or not math.isfinite(value):
        return None
    return float(f"{value:.{_DIGITS}g}")


def quantiles(samples: NDArray[np.float64] | Sequence[float]) -> list[float | None]:
    """Quantiles of all samples, from the least to the largest, evenly spaced; empty without samples."""
    if len(samples) == 0:
        return []
    return [rounded(float(value)) for value in np.quantile(np.asarray(samples), np.linspace(0, 1, NUM_QUANTILES))]
