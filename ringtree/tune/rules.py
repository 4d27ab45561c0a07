"""From ratios at measured sizes to few rules.

For: neighbouring sizes that share a choice, and where it changes. Not for: the ratios themselves (scores.py). Pure
functions.

Noise must not make a rule for every size. So nothing is chosen at a size that is surely more than MARGIN slower there
than the best; and of all ways through the sizes that are left, the one with the least sum of losses is taken, where
every change of the choice counts as a loss of MARGIN and what the ratios are uncertain by. A small advantage that
lasts for many sizes is thus used, the same advantage at one size is not.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from statistics import median

from ringtree.tune.scores import SURE, ratio_that_is_sure

MARGIN = 0.02


def choose_along(
    sizes: Sequence[int],
    ratios: Sequence[Mapping[str, float]],
    errors: Sequence[Mapping[str, float]],
    margin: float = MARGIN,
) -> list[str]:
    """Returns the label chosen at each size.

    `ratios[i][label]`: time of a candidate at `sizes[i]` relative to the fastest, `errors` the standard errors of their
    logarithms; what was not measured at a size can't be chosen there. Raises ValueError for sizes that don't ascend or
    a size without candidates.
    """
    if list(sizes) != sorted(set(sizes)) or len(ratios) != len(sizes) or len(errors) != len(sizes):
        raise ValueError(f"sizes ascend and each has its ratios, not {list(sizes)} with {len(ratios)}")
    if not all(ratios):
        raise ValueError("a size without candidates has no choice")
    change = change_loss(errors, margin)
    best: dict[str, tuple[float, tuple[str, ...]]] = {}  # of the ways that end with label: loss, labels so far
    for of, error in zip(ratios, errors, strict=True):
        cheapest = min(best.values(), default=(-change, ()))  # the first choice is not a change
        following = {}
        for label in allowed(of, error, margin):
            lost, path = min([(cheapest[0] + change, cheapest[1]), *([best[label]] if label in best else [])])
            following[label] = (lost + math.log(of[label]), (*path, label))
        best = following
    return list(min(best.values())[1]) if best else []


def allowed(ratios: Mapping[str, float], errors: Mapping[str, float], margin: float) -> list[str]:
    """Returns the candidates of one size that are not surely slower than the best by more than the margin."""
    limit = min(ratios.values()) * (1 + margin)
    return [label for label in ratios if ratio_that_is_sure(ratios[label], errors[label]) <= limit]


def change_loss(errors: Sequence[Mapping[str, float]], margin: float) -> float:
    """Returns what a change of the choice counts: the margin, and what ratios are typically uncertain by."""
    uncertain = [each for of in errors for each in of.values() if each > 0]
    return math.log1p(margin) + SURE * median(uncertain or [0.0])


def boundaries(sizes: Sequence[int], labels: Sequence[str]) -> list[tuple[int | None, str]]:
    """Returns rules (sizes up to and including it, label); the last one is open-ended (None).

    Between two measured sizes with different choices the rule ends at their geometric mean: times are closer to
    straight lines there than over the sizes themselves.
    """
    rules: list[tuple[int | None, str]] = []
    for i, label in enumerate(labels[:-1]):
        if labels[i + 1] != label:
            rules.append((math.isqrt(sizes[i] * sizes[i + 1]), label))
    return [*rules, (None, labels[-1])] if labels else []
