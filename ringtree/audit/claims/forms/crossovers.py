"""Form: where two change places. "The crossover between NVLSTree and default lies at about 64 MB for 2 and for 8
nodes".

The table brackets a crossover between two of its sizes. With one value a cell the bracket itself has no interval, so a
size inside it can't be told; one that is outside it falls.
"""

from __future__ import annotations

import math
from itertools import pairwise
from typing import NamedTuple

from ringtree.audit.claims import noise, words
from ringtree.audit.claims.claim import Claim
from ringtree.audit.claims.forms.part import Says
from ringtree.audit.claims.grid import Column, Grid
from ringtree.audit.claims.quantities import Quantity
from ringtree.audit.claims.records import Part
from ringtree.audit.claims.size_ranges import size_range

_SAYS = Says("crossover")
_WORDS = (
    r"cross-?over|cross over|\bcrosses\b|chang\w* places|trad\w* places|break-?even|switch-?over|turning point|"
    r"overtakes?"
)
_OUTSIDE = 1.06


class _Bracket(NamedTuple):
    low: float
    high: float
    at: float  # where the logarithm of the ratio, interpolated, is 0


def judge(claim: Claim) -> list[Part]:
    """One part for each number of hosts (or one for the table)."""
    sizes = claim.of_kind("size")
    if not claim.says(_WORDS) or not sizes:
        return []
    grid = claim.grid
    if grid is None:
        return [_SAYS.open("the times are not there", "the table, with several runs a size", covers=sizes)]
    pair = _columns(claim, grid)
    if pair is None:
        return [_SAYS.open("the table does not have both", "times of both at the same sizes", covers=sizes)]
    groups = _groups(claim, grid)
    return [_check(claim, grid, sizes[0], pair, hosts, rows) for hosts, rows in groups]


def _columns(claim: Claim, grid: Grid) -> tuple[Column, Column] | None:
    for kind in ("time", "rate", "throughput"):
        said = words.tokens(claim.text)
        named = [column for column in grid.of_kind(kind) if column.subject and column.subject <= said]
        if len({one.subject for one in named}) == 2:
            first = named[0]
            return first, next(one for one in named if one.subject != first.subject)
    return None


def _groups(claim: Claim, grid: Grid) -> list[tuple[Quantity | None, list[int]]]:
    hosts = claim.of_kind("count", "hosts")
    if hosts and grid.of_kind("hosts"):
        return [(one, [row for row in range(len(grid.rows)) if grid.count(row, "hosts") == one.count]) for one in hosts]
    return [(None, list(range(len(grid.rows))))]


def _check(
    claim: Claim, grid: Grid, size: Quantity, pair: tuple[Column, Column], hosts: Quantity | None, rows: list[int]
) -> Part:
    meant = size_range(claim.text, claim.of_kind("size"))
    covers = [*(claim.of_kind("size") if meant.bounds else [size]), *([hosts] if hosts else [])]
    where = f"{hosts.count} nodes: " if hosts else ""
    brackets = _brackets(grid, pair, rows)
    if not brackets:
        return _SAYS.falls(
            f"{where}the two do not change places within the table",
            f"{where}no change of sign among {len(rows)} rows",
            covers,
        )
    inside = [one for one in brackets if meant.reaches(one.low, one.high)] if meant.bounds else []
    nearest = min(inside or brackets, key=lambda one: abs(math.log(size.sizes[0] / one.at)))
    span = f"{_size(nearest.low)} and {_size(nearest.high)}"
    arithmetic = f"{where}between {span}, by interpolation {_size(nearest.at)}"
    # Sizes of the table were taken as powers of 1024; so is the sentence's.
    at_it = nearest.low / _OUTSIDE <= size.sizes[0] <= nearest.high * _OUTSIDE
    if not (inside if meant.bounds else at_it):
        return _SAYS.falls(f"{where}the table has the two change places between {span}", arithmetic, covers)
    several = f", and {len(brackets)} times in all" if len(brackets) > 1 else ""
    return _SAYS.open(
        f"{where}the table has the two change places between {span}{several}; where in between, and how surely, "
        "can't be told from "
        f"{noise.runs(grid, rows).partition(',')[0]}",
        "several fresh starts at sizes around it, and the interval of the crossover",
        arithmetic,
        covers,
    )


def _brackets(grid: Grid, pair: tuple[Column, Column], rows: list[int]) -> list[_Bracket]:
    points = []
    for row in rows:
        first, second, sizes = grid.value(row, pair[0]), grid.value(row, pair[1]), grid.sizes(row)
        if first and second and sizes:
            points.append((sizes[0], math.log(first / second)))
    points.sort()
    found = []
    for (low, a), (high, b) in pairwise(points):
        if a * b < 0:
            found.append(_Bracket(low, high, math.exp(math.log(low) + math.log(high / low) * a / (a - b))))
    return found


def _size(value: float) -> str:
    for unit, factor in (("GB", 2**30), ("MB", 2**20), ("KB", 2**10)):
        if value >= factor:
            return f"{value / factor:.3g} {unit}"
    return f"{value:.3g} B"
