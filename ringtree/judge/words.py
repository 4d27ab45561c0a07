"""The verdict in plain words, short enough to be quoted.

For: saying no more than the family's tests support, neighbouring sizes with the same verdict in one phrase. Not for:
statistics (ringtree.stats), layout (show/comparison_table.py), what qualifies a run as a whole (notes.py).

"no difference shown" is never "equal": with few launches a difference may simply not have been seen. "1.3–1.5× faster"
is the range of the ratios of these sizes, which stand in the table and can be checked there.
"""

from __future__ import annotations

import re
from itertools import groupby
from typing import Protocol

from ringtree.judge.comparison import Comparison, Crossover
from ringtree.judge.factor_words import effect_lines
from ringtree.judge.phrases import Group, at_sizes, grouped, on_placement, placements_of, size_span, told_of
from ringtree.nccl.nccl_tests import NO_OP
from ringtree.units import format_size_range


def subject(collective: str, op: str, dtype: str) -> str:
    """Returns "all_reduce sum float32"; no op where nothing is reduced."""
    return f"{collective} {dtype}" if op == NO_OP else f"{collective} {op} {dtype}"


class _Typed(Protocol):
    """A comparison, or a view of one or of a log."""

    @property
    def dtype(self) -> str: ...
    @property
    def op(self) -> str: ...


def kind(run: _Typed) -> str:
    """Returns "float32 sum"; no op where nothing is reduced."""
    return run.dtype if run.op == NO_OP else f"{run.dtype} {run.op}"


def verdict_lines(comparison: Comparison, short: bool = False) -> list[str]:
    """Returns the verdicts: a line for each effect of a design's factors and for each arm against the reference, what
    failed, crossovers, the fastest arms.

    `short`: without the pairs that are shown to have no crossover, as their lines above say so, and without the single
    arms of a design, which stand in the table.
    """
    if not comparison.num_launches:
        return ["no launch is stored: no verdict"]
    arms = [arm.label for arm in comparison.arms]
    others = [arm for arm in arms if arm != comparison.reference]
    lines = effect_lines(comparison)
    if not (short and comparison.effects):
        lines += [line for arm in others for line in _pair_lines(comparison, arm)]
    lines += [line for arm in arms for line in _failed_lines(comparison, arm)]
    return [*lines, *crossover_lines(comparison, short), *fastest_lines(comparison), *executed_lines(comparison)]


def crossover_lines(comparison: Comparison, short: bool = False) -> list[str]:
    """Returns a line for each crossover that was found, and one for the arms that are shown to have none."""
    lines = []
    throughout: dict[str, list[str]] = {}
    for one in comparison.crossovers:
        where, span = on_placement(comparison, one.placement), size_span(one.sizes)
        pair = f"{one.first} and {one.second}"
        if one.kind == "crossing":
            lines.append(f"crossover of {pair}{where}: {_crossing(one)}")
        elif one.kind == "several":
            lines.append(f"{pair} cross more than once{where} {span}")
        elif not short and one.kind == "none" and comparison.reference in (one.first, one.second):
            throughout.setdefault(f"{span}{where}", []).append(pair)
    return lines + [f"no crossover {where}: {', '.join(pairs)}" for where, pairs in throughout.items()]


def fastest_lines(comparison: Comparison) -> list[str]:
    """Returns a line for each placement that names the arms which no other was shown to beat; none for two arms."""
    lines = []
    for placement in dict.fromkeys(one.placement for one in comparison.fastest):
        of_rows = [one for one in comparison.fastest if one.placement == placement]
        told = [
            f"{' or '.join(arms)} {size_span([one.size_bytes for one in group])}"
            for arms, group in groupby(of_rows, key=lambda one: one.arms)
            if arms
        ]
        lines.append(f"fastest{on_placement(comparison, placement)}: {'; '.join(told)}")
    return lines


def executed_lines(comparison: Comparison) -> list[str]:
    """Returns one line for each arm that executed something else than its name says, as "auto" does."""
    lines = []
    for arm in comparison.arms:
        # All placements of a size executed the same.
        cells = list({cell.size_bytes: cell for cell in comparison.cells if cell.arm == arm.label}.values())
        if any(name not in re.split("[+:/]", arm.name) for cell in cells for name in cell.executed):
            told = "; ".join(
                f"{names or 'nothing'} {size_span([cell.size_bytes for cell in group])}"
                for names, group in groupby(cells, key=lambda cell: " or ".join(cell.executed))
            )
            lines.append(f"{arm.label} executed {told}")
    return lines


def _pair_lines(comparison: Comparison, arm: str) -> list[str]:
    """What is said of an arm against the reference."""
    groups = [_groups(comparison, arm, placement) for placement in placements_of(comparison)]
    return [
        f"{f'{arm} is' if claims else f'{arm} vs {comparison.reference}:'} {told}"
        for claims, told in told_of(comparison, groups, comparison.reference)
    ]


def _failed_lines(comparison: Comparison, arm: str) -> list[str]:
    """What is wrong with an arm, or with its baseline."""
    lines = []
    # A disqualified cell is so under every placement.
    cells = list({cell.size_bytes: cell for cell in comparison.cells if cell.arm == arm}.values())
    for why, group in groupby(cells, key=lambda cell: cell.disqualified):
        if why is not None:
            lines.append(f"{arm} is disqualified {size_span([cell.size_bytes for cell in group])}: {why}")
    wrong = {cell.size_bytes for cell in comparison.cells if cell.arm == comparison.reference and cell.disqualified}
    left = [cell.size_bytes for cell in cells if cell.disqualified is None and cell.size_bytes in wrong]
    if left and arm != comparison.reference:
        lines.append(f"{arm} has no baseline {at_sizes(left)}: {comparison.reference} is disqualified")
    return lines


def _groups(comparison: Comparison, arm: str, placement: str) -> list[Group]:
    """The shown rows of an arm under a placement, neighbouring ones of a kind together."""
    cells = [
        cell
        for row in comparison.shown_rows()
        if row.placement == placement and (cell := comparison.find(row.size_bytes, arm, placement)) is not None
    ]
    return grouped(cells, comparison)


def _crossing(one: Crossover) -> str:
    assert one.estimate is not None
    assert one.low is not None
    assert one.high is not None
    # Beyond the sizes that were measured nothing is known: an interval that reaches so far has no end there.
    if one.low_open and one.high_open:
        interval = "the whole range and beyond"
    elif one.low_open:
        interval = f"below {format_size_range(one.high, one.high)}"
    elif one.high_open:
        interval = f"above {format_size_range(one.low, one.low)}"
    else:
        interval = format_size_range(one.low, one.high)
    other = one.second if one.faster_below == one.first else one.first
    estimate = format_size_range(one.estimate, one.estimate)
    return f"{estimate} ({one.label}: {interval}); {one.faster_below} is faster below, {other} above"
