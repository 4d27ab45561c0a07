"""The verdict in plain words, short enough to be quoted.

For: saying no more than the family's tests support, neighbouring sizes with the same verdict in one phrase. Not for:
statistics (ringtree.stats), layout (table.py), what qualifies a run as a whole (notes.py).

"no difference shown" is never "equal": with few launches a difference may simply not have been seen. "1.3–1.5× faster"
is the range of the ratios of these sizes, which stand in the table and can be checked there.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Protocol

from ringtree.judge.comparison import MIXED, CellSummary, Comparison, Crossover, Versus
from ringtree.nccl.nccl_tests import NO_OP
from ringtree.stats import least_launches
from ringtree.units import count, format_factor_range, format_margin, format_size, format_size_range

_CLAIMS = ("faster", "slower", "equivalent")


@dataclass(frozen=True)
class Group:
    """Neighbouring sizes of an arm about which the same can be said."""

    kind: str
    cells: tuple[CellSummary, ...]

    @property
    def sizes(self) -> tuple[int, ...]:
        """The sizes of the group, ascending."""
        return tuple(cell.size_bytes for cell in self.cells)

    @property
    def ratios(self) -> list[Versus]:
        """The comparisons with the reference."""
        return [cell.versus_reference for cell in self.cells if cell.versus_reference is not None]


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
    """Returns the verdicts: a line for each arm against the reference, what failed, crossovers, the fastest arms.

    `short`: without the pairs that are shown to have no crossover; their lines above say so.
    """
    if not comparison.num_launches:
        return ["no launch is stored: no verdict"]
    arms = [arm.label for arm in comparison.arms]
    others = [arm for arm in arms if arm != comparison.reference]
    lines = [line for arm in others for line in _pair_lines(comparison, arm)]
    lines += [line for arm in arms for line in _failed_lines(comparison, arm)]
    return [*lines, *crossover_lines(comparison, short), *fastest_lines(comparison), *executed_lines(comparison)]


def crossover_lines(comparison: Comparison, short: bool = False) -> list[str]:
    """Returns a line for each crossover that was found, and one for the arms that are shown to have none."""
    lines = []
    throughout: dict[str, list[str]] = {}
    for one in comparison.crossovers:
        where, span, pair = _on(comparison, one.placement), size_span(one.sizes), f"{one.first} and {one.second}"
        if one.kind == "crossing":
            lines.append(f"crossover of {pair}{where}: {_crossing(one)}")
        elif one.kind == "several":
            lines.append(f"{pair} change places more than once{where} {span}")
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
        lines.append(f"fastest{_on(comparison, placement)}: {'; '.join(told)}")
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


def size_span(sizes: Sequence[int]) -> str:
    """Returns "at 1 KB", "at 1 KB and 4 KB", "from 1 KB to 1 MB" for neighbouring sizes, ascending."""
    first, last = format_size(sizes[0]), format_size(sizes[-1])
    if len(sizes) == 1:
        return f"at {first}"
    return f"at {first} and {last}" if len(sizes) == 2 else f"from {first} to {last}"


def placement_phrase(placement: str) -> str:
    """Returns "near cores", "cores of any placement, like for like"."""
    return "cores of any placement (like for like)" if placement == MIXED else f"{placement} cores"


def _pair_lines(comparison: Comparison, arm: str) -> list[str]:
    """What is said of an arm against the reference; placements of which the same is said share a line."""
    alike: dict[tuple[tuple[str, tuple[int, ...]], ...], list[list[Group]]] = {}
    for placement in _placements(comparison):
        groups = [group for group in _groups(comparison, arm, placement) if group.kind != "none"]
        if groups:
            alike.setdefault(tuple((group.kind, group.sizes) for group in groups), []).append(groups)
    lines = []
    for same in alike.values():
        merged = [
            Group(groups[0].kind, tuple(cell for group in groups for cell in group.cells))
            for groups in zip(*same, strict=True)
        ]
        where = _on_all(comparison, [groups[0].cells[0].placement for groups in same])
        claims = [group for group in merged if group.kind in _CLAIMS]
        few, open_ = ([group for group in merged if group.kind == kind] for kind in ("few", "inconclusive"))
        told = [_claim(group, comparison, named=i == 0) for i, group in enumerate(claims)]
        told += [_too_few(comparison, few)] if few else []
        told += [_open(open_)] if open_ else []
        start = f"{arm} is" if claims else f"{arm} vs {comparison.reference}:"
        lines.append(f"{start} {'; '.join(told)}{where}")
    return lines


def _claim(group: Group, comparison: Comparison, named: bool) -> str:
    """`named`: say what it is compared with, which the first claim of a line does."""
    span = _spans([group])
    if group.kind == "equivalent":
        to = f" to {comparison.reference}" if named else ""
        return f"equivalent{to} within ±{format_margin(comparison.margin)} {span}"
    than = f" than {comparison.reference}" if named else ""
    factors = [one.ratio if group.kind == "slower" else 1 / one.ratio for one in group.ratios]
    return f"{format_factor_range(min(factors), max(factors))}× {group.kind}{than} {span}"


def _too_few(comparison: Comparison, groups: Sequence[Group]) -> str:
    """No verdict yet: the ratio as it was measured, and how many launches a verdict needs."""
    ratios = [one for group in groups for one in group.ratios]
    factors = format_factor_range(min(one.ratio for one in ratios), max(one.ratio for one in ratios))
    num = count(max(one.num_launches for one in ratios), "launch")
    needed = least_launches(comparison.level)
    return f"no verdict {_spans(groups)} from {num} (at least {needed} needed); measured time ratio {factors}"


def _open(groups: Sequence[Group]) -> str:
    """What is inconclusive, and how many launches would probably decide it."""
    ratios = [one for group in groups for one in group.ratios]
    num = count(max(one.num_launches for one in ratios), "launch")
    return f"inconclusive {_spans(groups)} after {num} ({_outlook(ratios)})"


def _outlook(ratios: Sequence[Versus]) -> str:
    needed = [one.launches_needed for one in ratios if one.launches_needed is not None]
    if not needed:
        return "more than 1,000 needed"
    told = f"about {max(needed)} needed"
    rest = len(ratios) - len(needed)
    return told if not rest else f"{told}; more than 1,000 at {count(rest, 'size')}"


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
        lines.append(f"{arm} has no baseline {_at(left)}: {comparison.reference} is disqualified")
    return lines


def _groups(comparison: Comparison, arm: str, placement: str) -> list[Group]:
    """The shown rows of an arm under a placement, neighbouring ones of a kind together."""
    cells = [
        cell
        for row in comparison.shown_rows()
        if row.placement == placement and (cell := comparison.find(row.size_bytes, arm, placement)) is not None
    ]
    kinds = groupby(cells, key=lambda cell: _kind(cell, comparison))
    return [Group(kind, tuple(group)) for kind, group in kinds]


def _kind(cell: CellSummary, comparison: Comparison) -> str:
    versus = cell.versus_reference
    if versus is None:
        return "none"
    return "few" if versus.num_launches < least_launches(comparison.level) else versus.verdict


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


def _placements(comparison: Comparison) -> list[str]:
    return list(dict.fromkeys(row.placement for row in comparison.shown_rows()))


def _on(comparison: Comparison, placement: str) -> str:
    return f" on {placement_phrase(placement)}" if len(comparison.placements) > 1 else ""


def _on_all(comparison: Comparison, placements: Sequence[str]) -> str:
    if len(comparison.placements) == 1:
        return ""
    if len(placements) == 1:
        return _on(comparison, placements[0])
    return f" on {' and '.join(placements)} cores alike"


def _spans(groups: Iterable[Group]) -> str:
    return ", ".join(size_span(sorted(set(group.sizes))) for group in groups)


def _at(sizes: Sequence[int]) -> str:
    return "at " + ", ".join(format_size(size) for size in sizes)
