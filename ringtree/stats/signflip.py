"""The test of a family of cells by flipping the signs of whole launches.

For: p values that hold for all cells together. Not for: which null is asked (family.py, crossover.py, stragglers.py).

If a cell's effects are symmetric about a centre that is not above 0, the signs of its launches may be exchanged. A
launch is flipped as a whole, in all cells at once, so that whatever ties the cells of a launch together is kept. Each
cell has the statistic T = sum(s_i x_i) / sqrt(sum(x_i^2)): it grows with Student's t, and its denominator is the same
under every flip. The p values are adjusted for all cells by the step-down max-T procedure (max_t.py). With n launches
no p can be below 2^-n, whatever the number of cells; that is what lets 8 launches suffice.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ringtree.stats.max_t import step_down_p
from ringtree.stats.subsets import sign_flips


def sign_flip_p(values: ArrayLike, seed: int = 0) -> NDArray[np.float64]:
    """Returns each cell's p value of "the centre is at most 0" against "above 0", adjusted for all cells; (cells,).

    `values`: shape (launches, cells), NaN where a launch lacks a cell, which counts as 0: under the null that is
    symmetric too, and says nothing. Every flip is taken up to 14 launches, above that 16,384 of them made from `seed`,
    the identity among them. A cell of nothing but zeros gets p = 1. Raises ValueError for another shape or infinity.
    """
    x = as_launches_by_cells(values)
    x = np.where(np.isnan(x), 0.0, x)
    # Scaled first: squares of tiny effects must not vanish.
    largest = np.abs(x).max(axis=0)
    x = x / np.where(largest > 0, largest, 1.0)
    norms = np.sqrt((x * x).sum(axis=0))
    z = x / np.where(norms > 0, norms, 1.0)
    return step_down_p(sign_flips(len(z), seed), z)


def as_launches_by_cells(values: ArrayLike) -> NDArray[np.float64]:
    """Returns `values` as an array of shape (launches, cells). Raises ValueError for another shape or infinity."""
    x = np.asarray(values, dtype=np.float64)
    if x.ndim != 2 or x.size == 0:
        raise ValueError(f"the values have the shape (launches, cells), at least one of each, not {x.shape}")
    if np.any(np.isinf(x)):
        raise ValueError("values are finite, or NaN where a launch lacks a cell")
    return x
