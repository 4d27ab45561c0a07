"""How far each candidate of a cell is from the fastest, from rounds.

For: ratios by placement of the cores, and who is kept. Not for: several sizes (rules.py), what is measured (plan.py).
Pure functions.

In a round all candidates run within moments of each other, so what the machine does for a while meets all of them: each
time is taken relative to its round's median over the candidates first, as a logarithm; the median over rounds then
drops the rounds in which one candidate was disturbed. Rounds under near and far placements are kept apart. A candidate
is judged by the placement in which it is worst: virtual cores move while a program runs, and a choice made when it
starts must hold under all of them.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ringtree.stats import Placements

MIN_ROUNDS = 3  # of a placement that counts
SURE = 2.0  # standard errors by which something must be worse to be called so
# Of normal values: standard deviation over median absolute deviation; standard error of a median over that of a mean.
_PER_MAD, _OF_MEDIAN = 1.4826, 1.2533


@dataclass(frozen=True)
class TimedRound:
    """One round: seconds of each candidate by label, and the probes beside its visits."""

    seconds: Mapping[str, float]
    handoffs: Sequence[float] = ()

    def __post_init__(self) -> None:
        if not all(0.0 < each < math.inf for each in self.seconds.values()):
            raise ValueError("times are positive and finite")


@dataclass(frozen=True)
class CellScores:
    """`ratios[placement][label]`: time relative to the fastest there, at least 1. `errors`: standard errors of their
    logarithms, as far as rounds tell. `seconds`: of one call in a typical round, with the same ratios."""

    ratios: Mapping[str, Mapping[str, float]]
    errors: Mapping[str, Mapping[str, float]]
    seconds: Mapping[str, Mapping[str, float]]
    num_rounds: Mapping[str, int]

    @property
    def labels(self) -> list[str]:
        """All candidates, the one that is least bad in its worst placement first."""
        return sorted(next(iter(self.ratios.values()), {}), key=lambda label: (self.worst(label), label))

    def worst(self, label: str) -> float:
        """Returns the ratio of a candidate under the placement in which it is furthest from the fastest."""
        return max(of[label] for of in self.ratios.values())

    def error(self, label: str) -> float:
        """Returns the standard error of the logarithm of `worst`."""
        return max((of[label], self.errors[name][label]) for name, of in self.ratios.items())[1]

    def of_sizes_choice(self, labels: Sequence[str]) -> tuple[dict[str, float], dict[str, float]]:
        """Returns what choosing along the sizes takes of these candidates: worst ratios and their errors."""
        return {label: self.worst(label) for label in labels}, {label: self.error(label) for label in labels}

    def at_least(self, label: str) -> float:
        """Returns the ratio, in the placement where it is nearest to the fastest, that a candidate surely has."""
        return min(ratio_that_is_sure(of[label], self.errors[name][label]) for name, of in self.ratios.items())

    def kept(self, factor: float, most: int) -> list[str]:
        """Returns at most `most` candidates, the best first, that may be within `factor` of the fastest somewhere.

        A placement's fastest is always kept: which of them is chosen is decided with more rounds.
        """
        first = [label for label in self.labels if min(of[label] for of in self.ratios.values()) == 1.0]
        rest = [label for label in self.labels if label not in first and self.at_least(label) <= factor]
        return [*first, *rest][: max(most, len(first))]


def ratio_that_is_sure(ratio: float, error: float) -> float:
    """Returns what is left of a ratio after SURE standard errors, at least 1."""
    return max(1.0, ratio * math.exp(-SURE * error))


def score(rounds: Sequence[TimedRound], labels: Sequence[str], placements: Placements) -> CellScores | None:
    """Returns the scores of `labels` from the rounds that hold all of them; None if there is no such round.

    Rounds in which the cores moved, or whose probes failed, count only where no placement has MIN_ROUNDS of its own.
    """
    whole = [one for one in rounds if all(label in one.seconds for label in labels)]
    if not whole or not labels:
        return None
    by_placement: dict[str, list[TimedRound]] = {}
    for one in whole:
        names = {placements.of(handoff) for handoff in one.handoffs}
        if len(names) == 1 or not placements.names:
            by_placement.setdefault(names.pop() if names else "", []).append(one)
    counted = {name: by_placement[name] for name in sorted(by_placement) if len(by_placement[name]) >= MIN_ROUNDS}
    if not counted:
        counted = {"": whole}
    ratios, errors, seconds = {}, {}, {}
    for name, of in counted.items():
        logs = np.log(np.array([[one.seconds[label] for label in labels] for one in of]))
        level = np.median(logs, axis=1, keepdims=True)
        inside = logs - level
        effects = np.median(inside, axis=0)
        error = _standard_errors(inside - effects)
        best = int(np.argmin(effects))
        ratios[name] = {label: float(np.exp(effects[i] - effects[best])) for i, label in enumerate(labels)}
        errors[name] = {label: math.hypot(error[i], error[best]) * (i != best) for i, label in enumerate(labels)}
        seconds[name] = {label: float(np.exp(np.median(level) + effects[i])) for i, label in enumerate(labels)}
    return CellScores(ratios, errors, seconds, {name: len(of) for name, of in counted.items()})


def _standard_errors(residuals: NDArray[np.float64]) -> NDArray[np.float64]:
    """Of the median over rounds of each candidate; `residuals[round, candidate]`.

    Few rounds may agree by chance: no candidate is taken to scatter less than is usual for all of them.
    """
    spread = np.median(np.abs(residuals), axis=0)
    scatter = np.maximum(spread, np.median(spread))
    return np.asarray(scatter * _PER_MAD * _OF_MEDIAN / math.sqrt(len(residuals)))
