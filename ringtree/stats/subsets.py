"""Subsets of launches and flips of their signs: the enumeration that intervals and tests share.

For: all 2^n of them where that is little work, and a seeded sample of them where it is not.
Not for: what is computed on them (typical.py, signflip.py, crossover.py).

A subset and a flip are the same thing: with errors symmetric about the centre c, mean(subset) < c exactly if flipping
the signs of the subset's errors makes their sum larger. That is why the typical values of Hartigan's interval and the
sign-flip test agree with each other.
"""

from __future__ import annotations

import math
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

EXACT_LAUNCHES = 14  # 16,384 flips: above that a sample of as many
NUM_SAMPLED = 2**EXACT_LAUNCHES


@lru_cache(maxsize=8)
def sign_flips(num_launches: int, seed: int = 0) -> NDArray[np.float64]:
    """Returns flips as rows of +1 and -1, shape (flips, launches); the first row is the identity.

    All 2^n of them up to EXACT_LAUNCHES launches, above that NUM_SAMPLED seeded random ones, the identity among them
    (without it the test would be anticonservative: Phipson & Smyth 2010, Stat. Appl. Genet. Mol. Biol. 9:39).
    """
    if num_launches < 1:
        raise ValueError(f"there is at least one launch to flip, not {num_launches}")
    if num_launches <= EXACT_LAUNCHES:
        bits = (np.arange(2**num_launches)[:, np.newaxis] >> np.arange(num_launches)) & 1
    else:
        bits = np.random.default_rng(seed).integers(0, 2, size=(NUM_SAMPLED, num_launches))
        bits[0] = 0
    flips = np.asarray(1.0 - 2.0 * bits, dtype=np.float64)
    flips.flags.writeable = False  # kept for the next call
    return flips


@lru_cache(maxsize=8)
def subsets(num_launches: int, seed: int = 0) -> NDArray[np.bool_]:
    """Returns the non-empty subsets of launches, (subsets, launches): all 2^n - 1 of them, or NUM_SAMPLED - 1 sampled.

    A sampled subset that came out empty is replaced by that of all launches; above 14 launches fewer than one is.
    """
    members = sign_flips(num_launches, seed)[1:] < 0
    members[~members.any(axis=1)] = True
    members.flags.writeable = False
    return members


def order_statistic(num_subsets: int, level: float) -> tuple[int, float, bool]:
    """Returns k of the narrowest interval that covers `level`, its coverage, and whether that reaches `level`.

    The interval goes from the k-th smallest of the subsets' values to the k-th largest. The values part the line into
    num_subsets + 1 pieces, each of which holds the centre with the same probability, so the coverage is
    1 - 2k / (num_subsets + 1) (Hartigan 1969, JASA 64:1303). With too few subsets for the level k is 1.
    """
    if not 0.0 < level < 1.0:
        raise ValueError(f"the level lies between 0 and 1, not {level}")
    pieces = num_subsets + 1
    # The small addition keeps 0.05 / 2 * 40 = 1 from becoming 0.999…
    k = math.floor(pieces * (1.0 - level) / 2.0 + 1e-9)
    return max(k, 1), 1.0 - 2.0 * max(k, 1) / pieces, k >= 1
