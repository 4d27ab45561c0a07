"""How the untimed start of a cell ends.

For: deciding, from the times of its iterations so far, whether a cell is warm. Not for: running them (cell_loop.py).

Warm means that times no longer fall: the median of the last three is not below the median of the three before by more
than 5 % (ringtree.stats.is_stable). A cell that is never warm is measured all the same once the limits of iterations or
time are reached, and the result says so; at large sizes a single iteration already moves more than the caches hold.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

from ringtree.stats import is_stable

LEAST = 2
LEAST_LARGE = 1  # it moves more than the caches hold: what is left to warm is what the first touch makes
LARGE = 4 << 20
MOST = 24
SHARE_OF_BUDGET = 0.25


def warm_up_ends(
    size_bytes: int, seconds: Sequence[float], spent: float, budget: float
) -> Literal["stable", "limit"] | None:
    """Returns how the warm-up ends after these iterations, or None if it goes on.

    `seconds`: times of the iterations so far; `spent`: wall seconds of all of them; `budget`: of the cell, 0 for one.
    """
    if len(seconds) < (LEAST_LARGE if size_bytes > LARGE or not budget else LEAST):
        return None
    if is_stable(seconds):
        return "stable"
    return "limit" if len(seconds) >= MOST or spent > SHARE_OF_BUDGET * budget else None
