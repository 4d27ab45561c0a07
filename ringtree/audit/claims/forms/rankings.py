"""Form: one is the best, everywhere or for some sizes. "Default matched or beat forced algorithms at every scale";
"ring wins for large messages"; "tree is optimal at every size".

One cell against it is enough for a sentence about every size to fall. That all cells agree shows less: of one value
each, of one machine.
"""

from __future__ import annotations

import math
import re
from typing import NamedTuple

from ringtree.audit.claims import counting, lookup, noise, words
from ringtree.audit.claims.claim import Claim
from ringtree.audit.claims.forms.part import Says
from ringtree.audit.claims.grid import Column, Grid
from ringtree.audit.claims.records import Part

_SAYS = Says("ranking")
MARGIN = 0.02
LARGE, SMALL = 16 << 20, 64 << 10
_BEST = re.compile(
    r"\b(?:match(?:ed|es)? or (?:beats?|exceed(?:ed|s)?|outperform(?:ed|s)?)|beats?|beaten|wins?|won|"
    r"outperform(?:s|ed)?|"
    r"(?:is|was|are|were|remains?|stays?)\s+(?:always\s+|never\s+)?(?:the\s+)?"
    r"(?:optimal|best|fastest|faster|quicker|superior|slower|better|at least as (?:fast|good) as|as fast as)|"
    r"(?:should|must) always be (?:used|preferred))\b",
    re.IGNORECASE,
)
_EVERY = re.compile(r"\b(?:every|all|any|always|everywhere|whatever|never|regardless)\b", re.IGNORECASE)
_OTHERS = re.compile(r"\bforced\b|\bothers?\b|\bany(?:thing| other)\b|\balternatives?\b|\ball\b", re.IGNORECASE)
_CLASS = re.compile(
    r"\b(?:systems|clusters|machines|in general|generally|where|with (?:a|an)|on (?:PCIe|NVLink))\b", re.IGNORECASE
)
_SLOWER = re.compile(r"\bslower\b", re.IGNORECASE)


class _Cell(NamedTuple):
    row: int
    best: Column
    other: Column
    ratio: float  # how many times better the one that is called the best is


def judge(claim: Claim) -> list[Part]:
    """One part for the sentence."""
    verb = _BEST.search(claim.text)
    if verb is None or claim.of_kind("percent") or claim.of_kind("factor") or claim.of_kind("rate"):
        return []
    found = _from_table(claim, verb)
    if found is not None:
        return [found]
    return _from_schedules(claim)


def _from_table(claim: Claim, verb: re.Match[str]) -> Part | None:
    grid = claim.grid
    if grid is None:
        return None
    why = lookup.sizes_not_found(claim, lookup.rows_for(claim))
    if why:
        return _unclear(claim, grid, why)
    cells, columns = _cells(claim, grid, verb)
    if not cells:
        return None
    against = [one for one in cells if one.ratio < 1 - MARGIN]
    covers = [one for one in claim.quantities if one.kind in ("size", "count")]
    best, others = columns[0].name, ", ".join(dict.fromkeys(one.other.name for one in cells))
    if against:
        against.sort(key=lambda one: one.ratio)
        shown = "; ".join(_shown(grid, one) for one in against[:3])
        more = f" and {len(against) - 3} more" if len(against) > 3 else ""
        return _SAYS.falls(
            f"the table itself says otherwise in {len(against)} of {len(cells)} comparisons "
            f"({noise.runs(grid, [one.row for one in cells]).partition(',')[0]})",
            f"{shown}{more}",
            covers,
        )
    least = min(cells, key=lambda one: one.ratio)
    arithmetic = f"{best} against {others}: ahead in {len(cells)} of {len(cells)}, least {_shown(grid, least)}"
    if noise.is_beyond(least.ratio) and least.ratio > 1 and not _CLASS.search(claim.text):
        return _SAYS.holds(
            "so the table has it, and the differences are too large for noise", arithmetic, covers, noise.SETTLES
        )
    whole = ", and of one machine, not of all that the sentence is about" if _CLASS.search(claim.text) else ""
    unknown = "" if claim.around.gpu else "; which machine is not stated" if grid.of_kind("rate") else ""
    return _SAYS.open(
        f"the table agrees, but with {noise.runs(grid, [one.row for one in cells])}{whole}{unknown}",
        noise.SETTLES,
        arithmetic,
        covers,
    )


def _unclear(claim: Claim, grid: Grid, why: str) -> Part | None:
    if not lookup.columns_for(grid, claim.text, ("throughput", "time", "rate")):
        return None
    return _SAYS.open(
        f"which rows of the table are meant can't be told: {why}",
        "a sentence for each range of sizes, with sizes that the table has",
        covers=[one for one in claim.quantities if one.kind in ("size", "count")],
    )


def _cells(claim: Claim, grid: Grid, verb: re.Match[str]) -> tuple[list[_Cell], list[Column]]:
    for kind in ("throughput", "time", "rate"):
        best = lookup.columns_for(grid, claim.text[: verb.start()], (kind,)) or lookup.columns_for(
            grid, claim.text, (kind,)
        )
        best = [one for one in best if one.subject == best[0].subject]
        if not best:
            continue
        after = lookup.columns_for(grid, claim.text[verb.end() :], (kind,))
        named = [one for one in after if one.subject != best[0].subject]
        others = (
            named
            if named and not _OTHERS.search(claim.text[verb.end() :])
            else [one for one in grid.of_kind(kind) if one.subject != best[0].subject]
        )
        found = lookup.rows_for(claim)
        # "64 KB and larger", "smaller than 1 MB" say themselves what is large or small.
        has_size = any(one.kind == "size" for one in found.used)
        rows = list(found.rows) if has_size else _scope(claim, grid, found.rows)
        cells = [
            cell for row in rows for other in others if (cell := _cell(claim, grid, row, best[0], other)) is not None
        ]
        if cells:
            return cells, [best[0], *others]
    return [], []


def _cell(claim: Claim, grid: Grid, row: int, best: Column, other: Column) -> _Cell | None:
    a, b = grid.value(row, best), grid.value(row, other)
    if not a or not b:
        return None
    ratio = b / a if best.lower_is_better else a / b
    slower = _SLOWER.search(claim.text) is not None and "never" not in claim.text.lower()
    return _Cell(row, best, other, 1 / ratio if slower else ratio)


def _scope(claim: Claim, grid: Grid, rows: tuple[int, ...]) -> list[int]:
    """Large and small messages: from 16 MB up, to 64 KB; where a table has none of these, its upper or lower half."""
    sizes = {row: grid.sizes(row)[0] for row in rows if grid.sizes(row)}
    if claim.says(r"\blarge\w*\b|\bbig\w*\b"):
        return [row for row in sizes if sizes[row] >= LARGE] or sorted(sizes, key=sizes.__getitem__)[len(sizes) // 2 :]
    if claim.says(r"\bsmall\w*\b|\btiny\b|\bshort\b"):
        return [row for row in sizes if sizes[row] <= SMALL] or sorted(sizes, key=sizes.__getitem__)[
            : max(1, len(sizes) // 2)
        ]
    return list(rows)


def _shown(grid: Grid, one: _Cell) -> str:
    return (
        f"{lookup.label_of(grid, one.row)}: {grid.rows[one.row][one.best.place]} against "
        f"{grid.rows[one.row][one.other.place]} ({one.other.name})"
    )


def _from_schedules(claim: Claim) -> list[Part]:
    """Without a table: no algorithm has both the fewest steps and the fewest bytes."""
    if not claim.algorithms or not _EVERY.search(claim.text):
        return []
    name, n = claim.algorithms[0].name, min(claim.num_ranks or 8, 64)
    cost = {
        one: (counting.hops("all_reduce", one, n), counting.share("all_reduce", one, n))
        for one in {name, *words.ALGORITHM_NAMES}
    }
    hops, share = cost[name]
    if hops is None or share is None:
        return []
    fewer = min((h, one) for one, (h, _) in cost.items() if h is not None)
    less = min((s, one) for one, (_, s) in cost.items() if s is not None)
    arithmetic = (
        f"n = {n}: {name} {hops} messages in a row and {share:.4g}·S; {fewer[1]} {fewer[0]}, {less[1]} {less[0]:.4g}·S"
    )
    if hops > fewer[0] or not math.isclose(share, less[0]):
        return [
            _SAYS.falls(
                "no algorithm has both the fewest steps, which decide small sizes, and the fewest bytes, which "
                f"decide large ones; {name} does not",
                arithmetic,
            )
        ]
    return []
