"""What can be said of neighbouring sizes at once: groups of cells with the same verdict, and the phrases for them.

For: the parts of the verdict's sentences, of arms and of effects alike. Not for: whole sentences (words.py,
factor_words.py).
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Protocol

from ringtree.judge.comparison import MIXED, Comparison, Versus
from ringtree.stats import least_launches
from ringtree.units import count, format_factor_range, format_margin, format_size

_CLAIMS = ("faster", "slower", "equivalent")


class Compared(Protocol):
    """A cell of an arm, or an effect of factors: something at a size, held against something."""

    @property
    def size_bytes(self) -> int: ...
    @property
    def placement(self) -> str: ...
    @property
    def versus_reference(self) -> Versus | None: ...


@dataclass(frozen=True)
class Group:
    """Neighbouring sizes of an arm, or of an effect, about which the same can be said."""

    kind: str
    cells: tuple[Compared, ...]

    @property
    def sizes(self) -> tuple[int, ...]:
        """The sizes of the group, ascending."""
        return tuple(cell.size_bytes for cell in self.cells)

    @property
    def ratios(self) -> list[Versus]:
        """The comparisons with the reference."""
        return [cell.versus_reference for cell in self.cells if cell.versus_reference is not None]


def told_of(comparison: Comparison, placed: Iterable[Sequence[Group]], reference: str) -> list[tuple[bool, str]]:
    """Says what the groups of each placement support, and whether that is a claim; placements of which the same is said
    share a line. `reference`: what the first claim names, "" for nothing."""
    alike: dict[tuple[tuple[str, tuple[int, ...]], ...], list[list[Group]]] = {}
    for groups in ([group for group in one if group.kind != "none"] for one in placed):
        if groups:
            alike.setdefault(tuple((group.kind, group.sizes) for group in groups), []).append(groups)
    lines = []
    for same in alike.values():
        merged = [
            Group(groups[0].kind, tuple(cell for group in groups for cell in group.cells))
            for groups in zip(*same, strict=True)
        ]
        where = on_all(comparison, [groups[0].cells[0].placement for groups in same])
        claims = [group for group in merged if group.kind in _CLAIMS]
        few, open_ = ([group for group in merged if group.kind == kind] for kind in ("few", "inconclusive"))
        told = [_claim(group, comparison, "" if i else reference) for i, group in enumerate(claims)]
        told += [_too_few(comparison, few)] if few else []
        told += [_open(open_)] if open_ else []
        lines.append((bool(claims), f"{'; '.join(told)}{where}"))
    return lines


def _claim(group: Group, comparison: Comparison, reference: str) -> str:
    """`reference`: what it is compared with, which the first claim of a line names."""
    span = _spans([group])
    if group.kind == "equivalent":
        to = f" to {reference}" if reference else ""
        return f"equivalent{to} within ±{format_margin(comparison.margin)} {span}"
    than = f" than {reference}" if reference else ""
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


def grouped(cells: Sequence[Compared], comparison: Comparison) -> list[Group]:
    """Returns neighbouring cells of a kind together."""
    kinds = groupby(cells, key=lambda cell: _kind(cell, comparison))
    return [Group(kind, tuple(group)) for kind, group in kinds]


def _kind(cell: Compared, comparison: Comparison) -> str:
    versus = cell.versus_reference
    if versus is None:
        return "none"
    return "few" if versus.num_launches < least_launches(comparison.level) else versus.verdict


def size_span(sizes: Sequence[int]) -> str:
    """Returns "at 1 KB", "at 1 KB and 4 KB", "from 1 KB to 1 MB" for neighbouring sizes, ascending."""
    first, last = format_size(sizes[0]), format_size(sizes[-1])
    if len(sizes) == 1:
        return f"at {first}"
    return f"at {first} and {last}" if len(sizes) == 2 else f"from {first} to {last}"


def placement_phrase(placement: str) -> str:
    """Returns "near cores", "cores of any placement, like for like"."""
    return "cores of any placement (like for like)" if placement == MIXED else f"{placement} cores"


def placements_of(comparison: Comparison) -> list[str]:
    """Returns the placements that are shown, each once."""
    return list(dict.fromkeys(row.placement for row in comparison.shown_rows()))


def on_placement(comparison: Comparison, placement: str) -> str:
    """Returns " on near cores", and nothing where a run has one placement only."""
    return f" on {placement_phrase(placement)}" if len(comparison.placements) > 1 else ""


def on_all(comparison: Comparison, placements: Sequence[str]) -> str:
    """Returns the same for several placements of which the same is said."""
    if len(comparison.placements) == 1:
        return ""
    if len(placements) == 1:
        return on_placement(comparison, placements[0])
    return f" on {' and '.join(placements)} cores alike"


def _spans(groups: Iterable[Group]) -> str:
    return ", ".join(size_span(sorted(set(group.sizes))) for group in groups)


def at_sizes(sizes: Sequence[int]) -> str:
    """Returns "at 1 KB, 64 KB", of sizes that need not be neighbours."""
    return "at " + ", ".join(format_size(size) for size in sizes)
