"""A bank -> the effects that a comparison of its arms would judge.

For: log(time of an arm / time of the reference) by block and column, and the columns that a run of some of the blocks
shows. Not for: the effects themselves, which are those of the lab (ringtree.judge.cells), or judging them
(ringtree.stats.judge).

A size is shown once for each placement that enough launches have; if none has, once for like with like of any
placement.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar, cast

import numpy as np
from numpy.typing import NDArray

from method.bank import Bank
from ringtree.judge.cells import RunCells
from ringtree.judge.comparison import MIXED
from ringtree.results import Cell, Launch, Plan, Record, Run, StoredRun, Visit

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
    cells = RunCells(as_run(bank))
    names = [*cells.placements, *([MIXED] if len(cells.placements) > 1 else [])]
    keys = [(size, name) for size in bank.sizes for name in names]
    found = [cells.effects(size, bank.arms[arm], bank.arms[reference], name) for size, name in keys]
    effects = [[of_blocks.get(block, np.nan) for of_blocks in found] for block in range(bank.num_blocks)]
    kinds = tuple(ANY if name == MIXED else name for _, name in keys)
    return Columns(np.array(effects, dtype=np.float64), tuple(size for size, _ in keys), kinds)


RecordT = TypeVar("RecordT", bound=Record)


def _partly(record: type[RecordT], **fields: Any) -> RecordT:
    """A record of these fields alone: pairing asks for no others."""
    return cast(RecordT, record.model_construct(**fields))


def as_run(bank: Bank) -> StoredRun:
    """The bank as a run of which each visit has one sample, its median; it holds what pairing asks for, no more."""
    launches = []
    for block in range(bank.num_blocks):
        cells = []
        for place, size in enumerate(bank.sizes):
            for number, arm in enumerate(bank.arms):
                medians, probes = bank.medians[block, place, number], bank.probes[block, place, number]
                rounds = [int(round_) for round_ in np.flatnonzero(np.isfinite(medians))]
                pairs = [
                    tuple(probes[round_].tolist()) if np.isfinite(probes[round_]).all() else None for round_ in rounds
                ]
                visits = [
                    _partly(Visit, round=round_, num_iterations=1, handoff=pair)
                    for round_, pair in zip(rounds, pairs, strict=True)
                ]
                times = [medians[rounds].astype(np.float64).tolist()]
                cells.append(
                    _partly(
                        Cell, arm=arm, size_bytes=size, batch=1, times=times, visits=visits, verified=True, error=None
                    )
                )
        launches.append(_partly(Launch, launch=block, block=block, cells=cells))
    return StoredRun(Path(bank.name), _partly(Run, plan=_partly(Plan, level=0.95)), launches, [])
