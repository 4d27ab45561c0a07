"""From raw times to one number a launch.

For: the two reductions that come before any statistics: a sample is the slowest rank's time of an iteration, and a
launch gives one median a cell, because iterations inside a launch are correlated and must not be counted as
independent.
Not for: anything over several launches (intervals.py, typical.py).
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray


def samples(times: Sequence[Sequence[float]], batch: int) -> NDArray[np.float64]:
    """Returns the samples of one cell in one launch, seconds a call, shape (iterations,).

    `times[rank][iteration]`: seconds of a batch of `batch` calls. The collective is over when its slowest rank is.
    Raises ValueError if times are missing, ragged, negative or not finite.
    """
    if batch < 1:
        raise ValueError(f"a batch has at least one call, not {batch}")
    if len({len(row) for row in times}) != 1:
        raise ValueError("every rank must have timed the same number of iterations, at least one rank")
    array = np.asarray(times, dtype=np.float64)
    if array.size == 0:
        raise ValueError("no iteration was timed")
    if not np.all(np.isfinite(array)) or np.any(array < 0):
        raise ValueError("times must be finite and not negative")
    slowest: NDArray[np.float64] = array.max(axis=0) / batch
    return slowest
