"""What a short pilot decides: the fastest protocol of the ladder's algorithm, and what the top runs, at each size.

For: choosing before the run that is evidence, from launches that are not. Not for: figures of any kind.

Choosing the fastest of several arms by the very launches that then show how fast it is would flatter it.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from ringtree.explain.ladder_kinds import LadderKind
from ringtree.explain.python_ladder import SIMPLE
from ringtree.judge.cells import RunCells
from ringtree.judge.comparison import MIXED
from ringtree.results import StoredRun


@dataclass(frozen=True)
class Decided:
    """By size: the protocol, and what the top executed (None: it did not run)."""

    protocols: Mapping[int, str]
    tops: Mapping[int, Mapping[str, Any] | None]


def decide(pilot: StoredRun, kind: LadderKind, algorithm: str) -> Decided:
    """Returns what a pilot's launches decide; a protocol that is not faster by more than the margin is not taken."""
    cells = RunCells(pilot)
    sizes = [size.size_bytes for size in pilot.run.plan.sizes]
    return Decided(
        {size: _fastest_protocol(cells, size, kind, algorithm) for size in sizes},
        {size: executed(cells, size, kind.top) for size in sizes},
    )


def executed(cells: RunCells, size_bytes: int, arm: str) -> Mapping[str, Any] | None:
    """Returns what an arm executed at a size in the first launch that tells; None if none does."""
    return next((one.cell.executed for one in cells.seen(size_bytes, arm).values() if one.cell.executed), None)


def _fastest_protocol(cells: RunCells, size_bytes: int, kind: LadderKind, algorithm: str) -> str:
    found = {SIMPLE: -math.log1p(cells.plan.margin)}
    plain = kind.protocol_arm(algorithm, SIMPLE)
    for protocol in kind.protocols:
        effects = cells.effects(size_bytes, kind.protocol_arm(algorithm, protocol), plain, MIXED)
        if protocol != SIMPLE and effects:
            found[protocol] = float(np.mean(list(effects.values())))
    return min(found, key=lambda protocol: found[protocol])
