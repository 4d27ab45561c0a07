"""Launches against launches that share nothing with them, in all cells at once: faster, slower, or not shown.

For: two matrices of logarithms, and cells whose launches are their own. Not for: which cells answer the same question
(judging.py), formulas (ringtree.stats.regression).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from typing import Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ringtree.stats import holm, slower_than_baseline
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
    slower = slower_than_baseline(after, before, margin=margin, level=level)
    faster = slower_than_baseline(before, after, margin=margin, level=level)
    return [JudgedLaunches(_shown(up.p, down.p, level), up, down.p) for up, down in zip(slower, faster, strict=True)]


def judge_apart(
    cells: Sequence[tuple[Sequence[float], Sequence[float]]], margin: float = 0.02, level: float = 0.95
) -> list[JudgedLaunches]:
    """As judge_launches(), of cells that share no launch: of each the times before and after. Raises ValueError for a
    cell without times."""
    alone = [judge_launches(matrix_of([before]), matrix_of([after]), margin, level)[0] for before, after in cells]
    slower, faster = (holm(p).tolist() for p in ([one.slower.p for one in alone], [one.p_faster for one in alone]))
    return [
        JudgedLaunches(_shown(up, down, level), replace(one.slower, p=up, num_cells=len(alone)), down)
        for one, up, down in zip(alone, slower, faster, strict=True)
    ]


def _shown(p_slower: float, p_faster: float, level: float) -> Shown:
    half = (1 - level) / 2 * (1 + 1e-12)  # each direction has half of the error
    if p_slower <= half:
        return "slower"
    return "faster" if p_faster <= half else "not shown"


def matrix_of(cells: Sequence[Sequence[float]]) -> NDArray[np.float64]:
    """Returns the logarithms of each cell's times, (launches, cells), NaN where one has fewer launches than others."""
    matrix = np.full((max(map(len, cells)), len(cells)), math.nan)
    for column, times in enumerate(cells):
        matrix[: len(times), column] = np.log(times)
    return matrix
