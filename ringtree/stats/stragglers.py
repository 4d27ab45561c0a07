"""Stragglers: which rank is slow, and how often.

For: a rank that holds the others up launch after launch (a busy core, a throttled machine, a worse place in the
network).
Not for: a rank that was slow once (outliers.py), or why it is slow.

A collective is over when its slowest rank is, so times of ranks differ by little even if one causes all of it: what is
seen here is a lower bound of how slow a rank is.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from ringtree.stats.signflip import sign_flip_p

EXCESS = 0.05  # a rank that takes less than this longer than the others is not a straggler


@dataclass(frozen=True)
class Straggler:
    """One rank against the others. Every rank gets one; `flagged` says whether it is a straggler.

    `share`: of the iterations in which the rank was the slowest (ties shared out); 1 / ranks if all are alike.
    `excess`: median over launches of log(its median time / median of the other ranks' median times).
    `p`: of "the excess is beyond EXCESS" over the launches, adjusted for all ranks.
    """

    rank: int
    share: float
    excess: float
    p: float
    num_launches: int
    level: float = 0.95

    def __post_init__(self) -> None:
        if self.rank < 0 or self.num_launches < 1 or not math.isfinite(self.excess):
            raise ValueError("a straggler is a rank with an excess in at least one launch")
        if not 0.0 <= self.share <= 1.0 or not 0.0 < self.p <= 1.0 or not 0.0 < self.level < 1.0:
            raise ValueError("a share lies in [0, 1], a p value above 0 and up to 1, the level between 0 and 1")

    @property
    def flagged(self) -> bool:
        """Whether the launches show that the rank is slow."""
        return self.p <= (1.0 - self.level) * (1.0 + 1e-12)


def stragglers(launches: Sequence[ArrayLike], level: float = 0.95, seed: int = 0) -> list[Straggler]:
    """Returns what the launches say about every rank, by rank; [] with a single rank, which waits for nobody.

    `launches`: one array of positive times in seconds a launch, shape (ranks, iterations), for one arm at one size.
    Raises ValueError for no launches, launches of different numbers of ranks, no iterations, or times that are none.
    """
    arrays = [np.asarray(times, dtype=np.float64) for times in launches]
    if not arrays or any(times.ndim != 2 or times.size == 0 for times in arrays):
        raise ValueError("each launch has times of the shape (ranks, iterations), and there is at least one")
    num_ranks = arrays[0].shape[0]
    if any(len(times) != num_ranks for times in arrays):
        raise ValueError("launches of different numbers of ranks don't compare")
    if not all(np.all(np.isfinite(times)) and np.all(times > 0) for times in arrays):
        raise ValueError("times must be positive and finite")
    if num_ranks == 1:
        return []
    is_slowest = np.concatenate([times == times.max(axis=0) for times in arrays], axis=1)
    shares = (is_slowest / is_slowest.sum(axis=0)).mean(axis=1)
    medians = np.stack([np.median(times, axis=1) for times in arrays])
    others = np.stack([np.median(np.delete(medians, rank, axis=1), axis=1) for rank in range(num_ranks)], axis=1)
    excess = np.log(medians / others)
    p = sign_flip_p(excess - math.log1p(EXCESS), seed)
    return [
        Straggler(rank, float(shares[rank]), float(np.median(excess[:, rank])), float(p[rank]), len(arrays), level)
        for rank in range(num_ranks)
    ]
