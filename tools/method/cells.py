"""A bank -> the effects that a comparison of its arms would judge.

For: log(time of an arm / time of the reference) by block and column, and the columns that a run of some of the blocks
shows. Not for: judging them (ringtree.stats.judge).

The rules are those of the lab's comparisons. A launch's effect is the median over rounds of the log ratio of the
two visits' medians, for rounds in which both ran under the same placement of the cores; the placements are found in all
probes of the bank. A size is shown once for each placement that enough launches have; if none has, once for like with
like of any placement.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from method.bank import Bank
from ringtree.judge.cells import LEAST_ROUNDS
from ringtree.stats import Placements, least_launches, round_effect, split_placements

ANY = "like for like"


@dataclass(frozen=True)
class Columns:
    """effects: (blocks, columns), NaN where a block lacks one. sizes, placements: of each column; the column of a size
    with the placement ANY stands in where no other of that size has enough launches."""

    effects: NDArray[np.float64]
    sizes: tuple[int, ...]
    placements: tuple[str, ...]

    def __post_init__(self) -> None:
        if self.effects.ndim != 2 or not self.effects.shape[1] == len(self.sizes) == len(self.placements):
            raise ValueError("a column has a size and a placement")

    def shown(self, rows: NDArray[np.int64], least: int) -> NDArray[np.intp]:
        """The columns that a run of the blocks `rows` shows and judges, each with at least `least` launches."""
        enough = np.isfinite(self.effects[rows]).sum(axis=0) >= least
        split = {
            size for size, place, ok in zip(self.sizes, self.placements, enough, strict=True) if ok and place != ANY
        }
        keep = zip(self.sizes, self.placements, enough, strict=True)
        chosen = [i for i, (size, place, ok) in enumerate(keep) if ok and (place == ANY) != (size in split)]
        return np.array(chosen, dtype=np.intp)


def columns_of(bank: Bank, arm: int = 1, reference: int = 0) -> Columns:
    """The effects of one arm of `bank` against another, by index in bank.arms."""
    placements = split_placements([float(probe) for probe in bank.probes[np.isfinite(bank.probes)]])
    names = placements.names or ("",)
    effects, sizes, kinds = [], [], []
    for size_index, size in enumerate(bank.sizes):
        for name in (*names, ANY) if len(names) > 1 else names:
            column = [
                _effect(bank, placements, (block, size_index), (arm, reference), name)
                for block in range(bank.num_blocks)
            ]
            effects.append(column)
            sizes.append(size)
            kinds.append(name)
    return Columns(np.array(effects).T, tuple(sizes), tuple(kinds))


def _effect(bank: Bank, placements: Placements, where: tuple[int, int], arms: tuple[int, int], wanted: str) -> float:
    """The effect of one block at one size in rounds of the placement `wanted`; NaN if there are too few."""
    block, size = where
    first: list[list[float]] = []
    second: list[list[float]] = []
    for round_ in range(bank.num_rounds):
        mine, other = (float(bank.medians[block, size, arm, round_]) for arm in arms)
        if np.isnan(mine) or np.isnan(other):
            continue
        found = {_placement(placements, bank.probes[block, size, arm, round_]) for arm in arms}
        if len(found) == 1 and None not in found and (wanted == ANY or found == {wanted}):
            first.append([mine])
            second.append([other])
    least = LEAST_ROUNDS if placements.names and wanted != ANY else 1
    return round_effect(first, second) if len(first) >= least else float("nan")


def _placement(placements: Placements, probes: NDArray[np.float32]) -> str | None:
    """Of one visit; None if the cores moved, or if it was not probed though placements differ."""
    if not placements.names:
        return ""
    before, after = (float(probe) for probe in probes)
    return placements.of_visit(before, after) if np.isfinite(before) and np.isfinite(after) else None


def least_shown(level: float) -> int:
    """Fewer launches than this can't tell anything, so such a column is not shown."""
    return least_launches(level)
