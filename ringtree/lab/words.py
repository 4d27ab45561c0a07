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

from ringtree.lab.comparison import MIXED, CellSummary, Comparison, Crossover, Versus
from ringtree.lab.units import count, format_factor_range, format_margin, format_size, format_size_range
from ringtree.stats import least_launches

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


def verdict_lines(comparison: Comparison) -> list[str]:
    """Returns all that may be said: claims of each arm, what failed, what is open, crossovers, the fastest arms."""
    if not comparison.num_launches:
        return ["no launch is stored: nothing can be said"]
    arms = [arm.label for arm in comparison.arms]
    others = [arm for arm in arms if arm != comparison.reference]
    lines = [line for arm in others for line in _claim_lines(comparison, arm)]
    lines += [line for arm in others for line in _open_lines(comparison, arm)]
    lines += [line for arm in arms for line in _failed_lines(comparison, arm)]
    return [*lines, *crossover_lines(comparison), *fastest_lines(comparison), *executed_lines(comparison)]


def crossover_lines(comparison: Comparison) -> list[str]:
    """Returns a line for each crossover that was found, and one for the arms that are shown to have none."""
    lines = []
    throughout: dict[str, list[str]] = {}
    for one in comparison.crossovers:
        where, span, pair = _on(comparison, one.placement), size_span(one.sizes), f"{one.first} and {one.second}"
        if one.kind == "crossing":
            lines.append(f"crossover of {pair}{where}: {_crossing(one)}")
        elif one.kind == "several":
            lines.append(f"{pair} change places more than once{where} {span}")
        elif one.kind == "none" and comparison.reference in (one.first, one.second):
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


def _claim_lines(comparison: Comparison, arm: str) -> list[str]:
    """The claims about an arm; placements under which the same is claimed at the same sizes share a line."""
    alike: dict[tuple[tuple[str, tuple[int, ...]], ...], list[list[Group]]] = {}
    for placement in _placements(comparison):
        claims = [group for group in _groups(comparison, arm, placement) if group.kind in _CLAIMS]
        if claims:
            alike.setdefault(tuple((group.kind, group.sizes) for group in claims), []).append(claims)
    lines = []
    for same in alike.values():
        merged = [
            Group(groups[0].kind, tuple(cell for group in groups for cell in group.cells))
            for groups in zip(*same, strict=True)
        ]
        where = _on_all(comparison, [claims[0].cells[0].placement for claims in same])
        first, *rest = (_claim(group, comparison, named=i == 0) for i, group in enumerate(merged))
        lines.append(f"{arm} is {'; '.join([first, *rest])}{where}")
    return lines


def _claim(group: Group, comparison: Comparison, named: bool) -> str:
    """`named`: say what it is compared with, which the first claim of a line does."""
    span = size_span(sorted(set(group.sizes)))
    if group.kind == "equivalent":
        to = f" to {comparison.reference}" if named else ""
        return f"equivalent{to} within ±{format_margin(comparison.margin)} {span}"
    than = f" than {comparison.reference}" if named else ""
    factors = [one.ratio if group.kind == "slower" else 1 / one.ratio for one in group.ratios]
    return f"{format_factor_range(min(factors), max(factors))}× {group.kind}{than} {span}"


def _open_lines(comparison: Comparison, arm: str) -> list[str]:
    """What can't be said about an arm, and how many launches would change that."""
    lines = []
    for placement in _placements(comparison):
        groups, where = _groups(comparison, arm, placement), _on(comparison, placement)
        few = [group for group in groups if group.kind == "few"]
        if few:
            lines.append(_too_few(comparison, arm, few) + where)
        open_ = [group for group in groups if group.kind == "inconclusive"]
        if open_:
            ratios = [one for group in open_ for one in group.ratios]
            num = count(max(one.num_launches for one in ratios), "launch")
            lines.append(
                f"nothing can be said about {arm} against {comparison.reference} {_spans(open_)}{where} with {num}: "
                f"{_outlook(ratios)}"
            )
    return lines


def _too_few(comparison: Comparison, arm: str, groups: Sequence[Group]) -> str:
    ratios = [one for group in groups for one in group.ratios]
    num = max(one.num_launches for one in ratios)
    are = "is" if num == 1 else "are"
    factors = [one.ratio for one in ratios]
    return (
        f"{count(num, 'launch')} {are} too few for a verdict about {arm} {_spans(groups)} "
        f"({least_launches(comparison.level)} are needed); as measured it takes "
        f"{format_factor_range(min(factors), max(factors))}× the time of {comparison.reference}"
    )


def _outlook(ratios: Sequence[Versus]) -> str:
    needed = [one.launches_needed for one in ratios if one.launches_needed is not None]
    if not needed:
        return "not even 1,000 launches would do"
    told = f"about {max(needed)} would do (a new run: --launches {max(needed)})"
    rest = len(ratios) - len(needed)
    return told if not rest else f"{told}, except at {count(rest, 'size')} where not even 1,000 would"


def _failed_lines(comparison: Comparison, arm: str) -> list[str]:
    """What is wrong with an arm, or with the arm that it is to be compared with."""
    lines = []
    # A disqualified cell is so under every placement.
    cells = list({cell.size_bytes: cell for cell in comparison.cells if cell.arm == arm}.values())
    for why, group in groupby(cells, key=lambda cell: cell.disqualified):
        if why is not None:
            lines.append(f"{arm} is disqualified {size_span([cell.size_bytes for cell in group])}: {why}")
    wrong = {cell.size_bytes for cell in comparison.cells if cell.arm == comparison.reference and cell.disqualified}
    left = [cell.size_bytes for cell in cells if cell.disqualified is None and cell.size_bytes in wrong]
    if left and arm != comparison.reference:
        lines.append(f"{arm} has nothing to be compared with {_at(left)}, as {comparison.reference} is disqualified")
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
    return ", ".join(size_span(group.sizes) for group in groups)


def _at(sizes: Sequence[int]) -> str:
    return "at " + ", ".join(format_size(size) for size in sizes)
