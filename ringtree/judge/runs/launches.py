"""Launches against launches that share nothing with them, in all cells at once: faster, slower, or not shown.

For: two matrices of logarithms. Not for: which cells answer the same question (judging.py), formulas
(ringtree.stats.regression).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ringtree.stats import slower_than_baseline
from ringtree.stats.regression import Regressed

Shown = Literal["faster", "slower", "not shown"]


class JudgedLaunches(NamedTuple):
    """One cell. `slower`: ratio, interval and p of "the second is slower"; `p_faster`: of the other direction."""

    verdict: Shown
    slower: Regressed
    p_faster: float


def judge_launches(
    before: NDArray[np.float64], after: NDArray[np.float64], margin: float = 0.02, level: float = 0.95
) -> list[JudgedLaunches]:
    """Returns for each cell what is shown of `after` against `before`: logarithms of times, (launches, cells), as
    matrix_of() makes them. Raises ValueError as slower_than_baseline() does."""
    half = (1 + level) / 2  # each direction has half of the error
    slower = slower_than_baseline(after, before, margin=margin, level=level)
    faster = slower_than_baseline(before, after, margin=margin, level=level)
    cells = []
    for up, down in zip(slower, faster, strict=True):
        verdict: Shown = "not shown"
        if up.p <= (1 - half) * (1 + 1e-12):
            verdict = "slower"
        elif down.p <= (1 - half) * (1 + 1e-12):
            verdict = "faster"
        cells.append(JudgedLaunches(verdict, up, down.p))
    return cells


def matrix_of(cells: Sequence[Sequence[float]]) -> NDArray[np.float64]:
    """Returns the logarithms of each cell's times, (launches, cells), NaN where one has fewer launches than others."""
    matrix = np.full((max(map(len, cells)), len(cells)), math.nan)
    for column, times in enumerate(cells):
        matrix[: len(times), column] = np.log(times)
    return matrix
