"""The effect of one launch: how an arm's time compares with the reference's, taken round by round.

For: one number a launch and cell, log(time of the arm / time of the reference).
Not for: anything over several launches (typical.py, family.py).

In a round each arm is visited once, shortly after the others, so what the machine does for a second or two (placement
of its cores, a neighbour) meets both. The ratio is therefore taken inside a round first; the median over rounds then
drops the rounds in which only one of the two was disturbed. Measured on shared virtual machines this scatters clearly
less from launch to launch than the ratio of the two arms' medians over the whole launch.
"""

from __future__ import annotations

import math
import statistics
from collections.abc import Sequence

import numpy as np

_FEW = 64
_NO_RATIO = "times must be positive and finite to have a ratio"


def round_effect(arm: Sequence[Sequence[float]], reference: Sequence[Sequence[float]]) -> float:
    """Returns the median over rounds of log(median of the arm's samples / median of the reference's samples).

    `arm[round]` and `reference[round]`: samples in seconds of that round's visit, empty where there was none; such
    rounds are left out. Raises ValueError if the two have different numbers of rounds, no round has both, or a time is
    not positive and finite.
    """
    if len(arm) != len(reference):
        raise ValueError(f"arms are paired by round: {len(arm)} and {len(reference)} rounds don't pair")
    effects = [
        math.log(_median(mine) / _median(other))
        for mine, other in zip(arm, reference, strict=True)
        if len(mine) and len(other)
    ]
    if not effects:
        raise ValueError("in no round were both the arm and the reference visited")
    return statistics.median(effects)


def _median(samples: Sequence[float]) -> float:
    if len(samples) > _FEW:
        values = np.asarray(samples, dtype=np.float64)
        if not (np.all(np.isfinite(values)) and np.all(values > 0)):
            raise ValueError(_NO_RATIO)
        return float(np.median(values))
    # A visit has a handful of samples, and a run thousands of visits: NumPy's median takes 20 times as long for these.
    ordered = sorted(samples)
    if not all(0 < value < math.inf for value in ordered):  # NaN is neither
        raise ValueError(_NO_RATIO)
    return (ordered[(len(ordered) - 1) // 2] + ordered[len(ordered) // 2]) / 2
