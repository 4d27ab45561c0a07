"""How often the method finds a difference that is there.

For: power at injected effects in stored launches of an arm against itself, and its curve over the scatter of launches.
Not for: false claims (error_rate.py).

Injected: in one cell of a run the arm's times are multiplied by 1 + effect, labels of whole launches having been
exchanged at random; found means that this cell's verdict is "slower". Every cell takes its turn, the others stay as
they are. Simulated: normal launch effects of a given standard deviation, cells correlated by a half.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from method.cells import Columns
from method.counts import Share
from method.error_rate import LAUNCHES, LEVEL, MARGIN, draw
from ringtree.stats import judge

EFFECTS = (0.05, 0.10, 0.30)


@dataclass(frozen=True)
class Power:
    """At one injected effect. worst: of the cell where it was found least often; `worst_cell` names it."""

    effect: float
    found: Share
    worst: Share
    worst_cell: str
    wrong_direction: int


def injected_power(columns: Columns, effect: float, num_draws: int, seed: int) -> Power:
    """`num_draws` runs; in each, every cell that it shows takes its turn."""
    found: dict[tuple[int, str], list[int]] = {}
    wrong = 0
    for index in range(num_draws):
        shown, effects, signs = draw(columns, seed, index)
        for place, column in enumerate(shown):
            changed = effects * signs
            changed[:, place] += np.log1p(effect)
            verdict = judge(changed, MARGIN, LEVEL)[place].verdict
            found.setdefault((columns.sizes[column], columns.placements[column]), []).append(verdict == "slower")
            wrong += verdict == "faster"
    shares = {cell: Share(sum(hits), len(hits)) for cell, hits in found.items()}
    total = Share(sum(share.hits for share in shares.values()), sum(share.draws for share in shares.values()))
    # A cell that few runs show has a share that says little.
    often = {cell: share for cell, share in shares.items() if share.draws >= num_draws / 2} or shares
    size, placement = min(often, key=lambda cell: often[cell].value)
    return Power(effect, total, often[size, placement], f"{size} B {placement}".strip(), wrong)


def simulated(
    verdicts: Collection[str],
    effect: float,
    deviation: float,
    num_cells: int,
    num_launches: int,
    num_draws: int,
    seed: int,
) -> Share:
    """Runs whose first cell, the only one with an effect, gets one of `verdicts`."""
    hits = 0
    for index in range(num_draws):
        random = np.random.default_rng([seed, index])
        effects = simulated_effects(random, deviation, num_launches, num_cells)
        effects[:, 0] += np.log1p(effect)
        hits += judge(effects, MARGIN, LEVEL)[0].verdict in verdicts
    return Share(hits, num_draws)


def simulated_effects(
    random: np.random.Generator, deviation: float, num_launches: int, num_cells: int
) -> NDArray[np.float64]:
    """Normal effects around 0, (launches, cells); two cells of a launch correlate by a half."""
    shared, own = random.normal(size=(num_launches, 1)), random.normal(size=(num_launches, num_cells))
    effects: NDArray[np.float64] = deviation * np.sqrt(0.5) * (shared + own)
    return effects


def typical_deviation(columns: Columns) -> float:
    """The median over cells of the standard deviation of the launches' effects: how noisy a bank is."""
    shown = columns.shown(np.arange(len(columns.effects)), LAUNCHES)
    return float(np.median(np.nanstd(columns.effects[:, shown], axis=0, ddof=1)))
