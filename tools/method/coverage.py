"""How often an interval holds the truth, on links whose truth is known.

For: the coverage of ratios and crossovers over emulated runs, and the bias that it includes. Not for: measuring
(emulated.py), the truth (shaped.py).

Run r is the launches 8r … 8r + 7 of an experiment. Each launch drew its own latency and rate around the centres; the
truth that an interval must hold is the closed form at the centres, so what the engine needs beyond it counts against
the intervals.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from method.counts import Share
from method.error_rate import LEVEL
from method.shaped import Design, times
from ringtree.stats import find_crossovers, round_effect, typical_interval


@dataclass(frozen=True)
class RatioCoverage:
    """At one size. bias: mean over launches of the measured log ratio minus that of the links which the launch drew."""

    size: int
    true_ratio: float
    covered: Share
    bias: float
    deviation: float


@dataclass(frozen=True)
class Coverage:
    """Of one experiment. `crossings`: runs that reported one crossing; a run that reports none counts as not covering.

    arm_bias: for each arm, median over launches and sizes of measured / closed form - 1. width: median of
    (high - low) / estimate. wrong: runs that claimed the wrong arm at some size. all_ratios: over all sizes; those of a
    run share its launches, so this is worth little more draws than one size.
    """

    all_ratios: Share
    crossover: Share
    crossings: int
    crossover_truth: float
    crossover_median: float
    width: float
    wrong: int
    arm_bias: tuple[float, ...]
    ratios: tuple[RatioCoverage, ...]


def launch_effects(seconds: NDArray[np.float64]) -> NDArray[np.float64]:
    """(launches, sizes): log(arms[0] / arms[1]) by round_effect; seconds: (launches, sizes, arms, rounds)."""
    effects = [
        [round_effect([[t] for t in first], [[t] for t in second]) for first, second in launch] for launch in seconds
    ]
    return np.array(effects)


def coverage(design: Design, seconds: NDArray[np.float64], links: NDArray[np.float64]) -> Coverage:
    """`links`: (launches, 2), what each launch drew."""
    effects, truth = launch_effects(seconds), design.log_ratios()
    own = [[times(arm, design.sizes, alpha, beta) for arm in design.arms] for alpha, beta in links]
    expected = np.array(own).transpose(0, 2, 1)  # (launches, sizes, arms)
    measured = np.median(seconds, axis=-1)
    bias = (effects - np.log(expected[..., 0] / expected[..., 1])).mean(axis=0)
    runs = effects.reshape(design.num_runs, design.launches_per_run, len(design.sizes))
    held = np.zeros((design.num_runs, len(design.sizes)), bool)
    found = []
    for number, run in enumerate(runs):
        for place, true in enumerate(truth):
            interval = typical_interval(list(run[:, place]), LEVEL)
            held[number, place] = interval.low <= true <= interval.high
        launches = slice(number * design.launches_per_run, (number + 1) * design.launches_per_run)
        reference = np.median(measured[launches, :, 1], axis=0)
        found.append(find_crossovers(design.sizes, run, list(reference), LEVEL))
    ends = [
        (at.low, at.estimate, at.high) for at in found if at.low is not None and at.estimate and at.high is not None
    ]
    truly_faster = {size: "A" if true < 0 else "B" for size, true in zip(design.sizes, truth, strict=True)}
    wrong = sum(
        any(truly_faster[size] != "A" for size in at.a_faster_at)
        or any(truly_faster[size] != "B" for size in at.b_faster_at)
        for at in found
    )
    return Coverage(
        all_ratios=Share(int(held.sum()), held.size),
        ratios=tuple(
            RatioCoverage(
                size=size,
                true_ratio=float(np.exp(truth[place])),
                covered=Share(int(held[:, place].sum()), design.num_runs),
                bias=float(bias[place]),
                deviation=float(effects[:, place].std(ddof=1)),
            )
            for place, size in enumerate(design.sizes)
        ),
        crossover=Share(sum(low <= design.crossover <= high for low, _, high in ends), design.num_runs),
        crossings=len(ends),
        crossover_truth=design.crossover,
        crossover_median=float(np.median([estimate for _, estimate, _ in ends])) if ends else float("nan"),
        width=float(np.median([(high - low) / estimate for low, estimate, high in ends])) if ends else float("nan"),
        wrong=wrong,
        arm_bias=tuple(
            float(np.median(measured[..., arm] / expected[..., arm]) - 1) for arm in range(len(design.arms))
        ),
    )
