"""p values of tests that share nothing, adjusted for all of them.

For: families whose members have no samples in common, so that nothing can be exchanged in all of them at once. Not for:
cells of the same launches (max_t.py gives smaller p values there).
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray


def holm(p: ArrayLike) -> NDArray[np.float64]:
    """Returns the p values, (tests,), adjusted for all of them, whatever ties the tests.

    If those of at most `level` are taken, at most a share `level` of families has an error: the k-th smallest of n,
    times n - k + 1, and no less than the one before it. S. Holm, A simple sequentially rejective multiple test
    procedure, Scand. J. Statist. 6 (1979).
    """
    raw = np.asarray(p, dtype=np.float64)
    order = np.argsort(raw, kind="stable")
    stepped = raw[order] * np.arange(len(raw), 0, -1)
    adjusted = np.empty_like(raw)
    adjusted[order] = np.minimum(np.maximum.accumulate(stepped), 1.0)
    return adjusted
