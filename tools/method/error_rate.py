"""How often the method claims what is not so.

For: family-wise error from stored launches of an arm against itself. Not for: power (power.py).

A draw takes 8 blocks of a bank without replacement as one run, and judges everything that a run would show. Labels of
whole launches are exchanged at random ("permuted"), which makes "no difference" exactly true whatever the
machine did; "as measured" leaves them, and shows whether real launches are symmetric enough. "At the margin" adds
log(1 + margin) to every permuted effect: the hardest case of the null, in which neither "slower" nor "equivalent"
may be claimed, each anywhere in the family.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from method.cells import Columns
from method.counts import Share
from ringtree.stats import Judged, judge, least_launches

LAUNCHES = 8
MARGIN, LEVEL = 0.02, 0.95
Judge = Callable[[NDArray[np.float64], float, float], list[Judged]]


@dataclass(frozen=True)
class ErrorRates:
    """Runs with a false claim anywhere: of a difference, and at the margin. `cells`: compared in a run, on average.

    quick: the permuted draws with a claim among the first QUICK ones, which a test recomputes."""

    cells: float
    permuted: Share
    as_measured: Share
    disjoint: Share
    slower_at_margin: Share
    equivalent_at_margin: Share
    quick: int


QUICK = 25


Drawn = tuple[NDArray[np.intp], NDArray[np.float64], NDArray[np.float64]]


def draw(columns: Columns, seed: int, index: int) -> Drawn:
    """The columns that the run of draw `index` shows, their effects, (launches, cells), and a sign for each launch."""
    random = np.random.default_rng([seed, index])
    rows = random.choice(len(columns.effects), size=LAUNCHES, replace=False)
    return *_shown(columns, rows), random.choice([-1.0, 1.0], size=LAUNCHES)[:, np.newaxis]


def error_rates(columns: Columns, num_draws: int, seed: int, judging: Judge = judge) -> ErrorRates:
    """`judging`: (effects, margin, level) -> verdicts; tests hand in broken ones."""
    counts = {"permuted": 0, "as_measured": 0, "slower": 0, "equivalent": 0, "quick": 0}
    cells = 0
    for index in range(num_draws):
        _, effects, signs = draw(columns, seed, index)
        cells += effects.shape[1]
        claimed = claims_difference(effects * signs, judging)
        counts["permuted"] += claimed
        counts["quick"] += claimed and index < QUICK
        counts["as_measured"] += claims_difference(effects, judging)
        verdicts = {judged.verdict for judged in judging(effects * signs + np.log1p(MARGIN), MARGIN, LEVEL)}
        counts["slower"] += "slower" in verdicts
        counts["equivalent"] += "equivalent" in verdicts
    parts = np.arange(len(columns.effects) // LAUNCHES * LAUNCHES).reshape(-1, LAUNCHES)
    disjoint = sum(claims_difference(_shown(columns, rows)[1], judging) for rows in parts)
    return ErrorRates(
        permuted=Share(counts["permuted"], num_draws),
        as_measured=Share(counts["as_measured"], num_draws),
        slower_at_margin=Share(counts["slower"], num_draws),
        equivalent_at_margin=Share(counts["equivalent"], num_draws),
        disjoint=Share(disjoint, len(parts)),
        cells=cells / num_draws,
        quick=counts["quick"],
    )


def claims_difference(effects: NDArray[np.float64], judging: Judge = judge) -> bool:
    """Whether anything in the run is claimed to be faster or slower."""
    return any(judged.verdict in ("faster", "slower") for judged in judging(effects, MARGIN, LEVEL))


def _shown(columns: Columns, rows: NDArray[np.int64]) -> tuple[NDArray[np.intp], NDArray[np.float64]]:
    """Raises ValueError if the blocks show nothing, which a bank of real launches must not let happen unseen."""
    shown = columns.shown(rows, least_launches(LEVEL))
    if not len(shown):
        raise ValueError("a run of these blocks has nothing to judge: no cell reaches the least number of launches")
    return shown, columns.effects[np.ix_(rows, shown)]
