"""Values far from the others, to be pointed at.

For: "launch 5 took far longer than the others". Not for: removing anything: outliers are flagged and kept, because on a
shared machine they are part of what its user gets (Hoefler & Belli, SC'15).

Tukey's outer fences, three interquartile ranges beyond the quartiles, on logarithms, since times are skewed.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

FENCE = 3.0  # interquartile ranges; about one normal value in 425,000 lies beyond
LEAST_VALUES = 5  # fewer have no quartiles to speak of


def outliers(values: Sequence[float]) -> tuple[int, ...]:
    """Returns the indices of the outliers among `values`, ascending; () for fewer than LEAST_VALUES values.

    Raises ValueError for a value that is not positive and finite.
    """
    array = np.asarray(values, dtype=np.float64)
    if array.ndim != 1 or not (np.all(np.isfinite(array)) and np.all(array > 0)):
        raise ValueError("outliers are looked for among positive, finite values")
    if array.size < LEAST_VALUES:
        return ()
    logs = np.log(array)
    first, third = np.quantile(logs, [0.25, 0.75])
    # Equal but for rounding is not outside, even if the quartiles coincide.
    reach = FENCE * (third - first) + 1e-9
    return tuple(int(i) for i in np.flatnonzero((logs < first - reach) | (logs > third + reach)))
