"""From launches of all switches to a choice at each size; and from those of a validation to what has won.

For: choices, from stored runs. Not for: ranges of sizes (rules.py), running (tuning.py).

Choosing and showing are two runs: the launches by which the fastest of several was found flatter it.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from statistics import fmean, stdev

from ringtree.judge.cells import RunCells
from ringtree.judge.comparison import MIXED, Comparison
from ringtree.results import StoredRun
from ringtree.tune.library.rules import DEFAULT
from ringtree.tune.rules import choose_along

_NO_SPREAD = 0.1  # standard error of a log ratio that one launch has: about what launches differ by on a busy machine


def chosen(run: StoredRun, head: str, by_size: bool) -> dict[int, str]:
    """Returns the switch for each size that was measured, DEFAULT for the library's own choice.

    `by_size` false: one for all sizes, by the sum of its gains.
    """
    cells, sizes = RunCells(run), [size.size_bytes for size in run.run.plan.sizes]
    labels = [arm.label for arm in run.run.plan.arms if arm.label != head]
    right = [size for size in sizes if cells.pooled(size, head, MIXED) and not cells.why_disqualified(size, head)]
    found = {size: _effects(cells, size, head, labels) for size in right}
    if not found:
        return {}
    ratios = [{DEFAULT: 1.0} | {switch: math.exp(fmean(of)) for switch, of in each.items()} for each in found.values()]
    errors = [{DEFAULT: 0.0} | {switch: _error(of) for switch, of in each.items()} for each in found.values()]
    if not by_size:
        common = set.intersection(*(set(of) for of in ratios))
        best = min(sorted(common), key=lambda switch: sum(math.log(of[switch]) for of in ratios))
        return dict.fromkeys(found, best)
    relative = [{switch: ratio / min(of.values()) for switch, ratio in of.items()} for of in ratios]
    return dict(zip(found, choose_along(list(found), relative, errors), strict=True))


def named_failures(run: StoredRun) -> dict[str, str]:
    """Returns the arms that could not be measured at some size, with the first reason."""
    cells, found = RunCells(run), {}
    for arm in run.run.plan.arms:
        reasons = [cells.why_disqualified(size.size_bytes, arm.label) for size in run.run.plan.sizes]
        reason = next((reason for reason in reasons if reason is not None), None)
        if reason is not None:
            found[arm.label] = reason
    return found


def winners(comparison: Comparison, arm: str) -> set[int]:
    """Returns the sizes at which `arm` is shown to be faster under some placement, and slower under none."""
    verdicts: dict[int, list[str]] = {}
    for row in comparison.shown_rows():
        cell = comparison.find(row.size_bytes, arm, row.placement)
        if cell is not None and cell.disqualified is None and cell.versus_reference is not None:
            verdicts.setdefault(row.size_bytes, []).append(cell.versus_reference.verdict)
    return {size for size, words in verdicts.items() if "faster" in words and "slower" not in words}


def _effects(cells: RunCells, size: int, head: str, labels: Sequence[str]) -> Mapping[str, list[float]]:
    """By switch, the log of its time over that of the library's own choice, launch by launch."""
    found = {}
    for label in labels:
        effects = cells.effects(size, label, head, MIXED)
        if effects and cells.why_disqualified(size, label) is None:
            found[label.partition(":")[2]] = list(effects.values())
    return found


def _error(of: Sequence[float]) -> float:
    return stdev(of) / math.sqrt(len(of)) if len(of) > 1 else _NO_SPREAD
