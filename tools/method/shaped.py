"""Algorithms on shaped links whose time, and so whose crossover, is known in closed form.

For: the truth that intervals are held against. Not for: measuring (emulated.py), clusters in general (core/model).

Four hosts with one rank each; what a host sends leaves through one card at beta bytes per second and arrives alpha
seconds later. With chunks of one slice (S / 4 <= 8 KB) the sliced recurrence of core/model has the closed form

    time = hops · alpha + vectors · S / beta,     vectors: what a card sends, in vectors of S bytes

    one_shot   every rank sends its vector to three others, one after the other:          1 hop,   3 vectors
    two_shot   chunk by chunk to its owner, then each owner its chunk to three others:    2 hops,  1.5 vectors
    ring       three steps of reduce-scatter, three of all-gather, a chunk each:          6 hops,  1.5 vectors

and two of them cross at S* = alpha · beta · (hops_b - hops_a) / (vectors_a - vectors_b). test_method.py
holds both against ringtree.model.time_on_cluster.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

HOSTS = 4
LARGEST_SIZE = 32 << 10  # above it the engine cuts a chunk of S / 4 into slices, and steps overlap

# name -> (hops, vectors that a host's card sends)
COST = {"one_shot": (1.0, 3.0), "two_shot": (2.0, 1.5), "ring": (6.0, 1.5)}


@dataclass(frozen=True)
class Design:
    """One emulated experiment: `arms[0]` against the reference `arms[1]`.

    alpha: seconds; beta: bytes/s; both are centres: each launch draws its own, lognormal with standard deviation
    `spread` of the logarithm, because emulated links repeat themselves better than any network and an interval from
    launches must have launches that differ. sizes: bytes, ascending, none at the crossover.
    """

    name: str
    arms: tuple[str, str]
    alpha: float
    beta: float
    sizes: tuple[int, ...]
    num_rounds: int
    num_runs: int
    launches_per_run: int
    spread: float
    seed: int

    def __post_init__(self) -> None:
        if set(self.arms) - set(COST) or self.arms[0] == self.arms[1]:
            raise ValueError(f"two different arms of {sorted(COST)}, not {self.arms}")
        if (
            list(self.sizes) != sorted(set(self.sizes))
            or self.sizes[-1] > LARGEST_SIZE
            or any(s % 16 for s in self.sizes)
        ):
            raise ValueError(f"sizes ascend, split into four chunks of float32 and stay within {LARGEST_SIZE} bytes")
        if (
            min(self.alpha, self.beta, self.spread) <= 0
            or min(self.num_rounds, self.num_runs, self.launches_per_run) < 1
        ):
            raise ValueError("latency, rate and spread are positive; rounds, runs and launches at least one")
        if not self.sizes[0] < self.crossover < self.sizes[-1] or self.crossover in self.sizes:
            raise ValueError("the crossover lies within the sizes and at none of them")

    @property
    def num_launches(self) -> int:
        return self.num_runs * self.launches_per_run

    @property
    def crossover(self) -> float:
        """S* in bytes, at the centres of alpha and beta."""
        (hops_a, vectors_a), (hops_b, vectors_b) = (COST[arm] for arm in self.arms)
        return self.alpha * self.beta * (hops_b - hops_a) / (vectors_a - vectors_b)

    def log_ratios(self) -> NDArray[np.float64]:
        """The true log(time of arms[0] / time of arms[1]) at each size, at the centres of alpha and beta."""
        first, second = (times(arm, self.sizes, self.alpha, self.beta) for arm in self.arms)
        return np.log(first / second)

    def links_of(self, launch: int) -> tuple[float, float]:
        """(alpha, beta) of one launch; a pure function of the seed and the launch's number."""
        draws = np.random.default_rng([self.seed, launch]).standard_normal(2)
        return self.alpha * float(np.exp(self.spread * draws[0])), self.beta * float(np.exp(self.spread * draws[1]))


def times(arm: str, sizes: tuple[int, ...], alpha: float, beta: float) -> NDArray[np.float64]:
    """Seconds of one call of `arm` at each of `sizes` (bytes) by the closed form."""
    hops, vectors = COST[arm]
    return hops * alpha + vectors * np.asarray(sizes, dtype=np.float64) / beta


# Two experiments. one_shot against ring is the question people ask; its arms differ by five hops, each of which costs
# the emulation some 25 µs beyond alpha, so alpha is large. one_shot against two_shot differs by one hop.
DESIGNS = (
    Design("one-shot-ring", ("one_shot", "ring"), 2.5e-3, 2e6, (6144, 10240, 14336, 22528, 32768), 3, 200, 8, 0.05, 31),
    Design(
        "one-shot-two-shot",
        ("one_shot", "two_shot"),
        5e-3,
        5e6,
        (8192, 11264, 15360, 21504, 32768),
        3,
        200,
        8,
        0.05,
        32,
    ),
)
