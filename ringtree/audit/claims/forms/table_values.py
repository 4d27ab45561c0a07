"""Form: a rate that the table has. "At 1 GB algbw is ~237 GB/s"; "Default peaks at 571 GB/s on 2 nodes".

First whether the number stands in the table, then what it is: a column of "bandwidth" with a time beside it shows by
size/time whether it holds algbw, busbw or neither.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace

from ringtree.audit.claims import lookup, words
from ringtree.audit.claims.claim import Claim
from ringtree.audit.claims.columns import ALGBW, BUSBW, ColumnFormula, base, column_formula, ranks_of
from ringtree.audit.claims.forms.part import Says
from ringtree.audit.claims.grid import Column, Grid
from ringtree.audit.claims.quantities import Quantity
from ringtree.audit.claims.records import Part
from ringtree.stats.bandwidth import bus_factor

_SAYS = Says("a rate of the table")
_PEAKS = r"\bpeaks?\b|\bmaxim(?:um|al)\b|\bat most\b|\bhighest\b|\btops? out\b"
_LABEL_AFTER = re.compile(r"\s*(?:of\s+)?(algbw|busbw|bus bandwidth|algorithm bandwidth)\b", re.IGNORECASE)
_LABEL_BEFORE = re.compile(
    r"\b(algbw|busbw|bus bandwidth|algorithm bandwidth)\b"
    r"(?:\s+(?:is|was|of|reaches|at|about|peaks at|=|:|gets|shows))*\s*[~≈]?\s*$",
    re.IGNORECASE,
)
_NOT_MEASURED = re.compile(
    r"theoretical|advertised|nominal|line rate|line-rate|link rate|spec|of the peak|"
    r"NVLink bandwidth|%\s*of\b|direction",
    re.IGNORECASE,
)


@dataclass(frozen=True)
class _Stated:
    rate: Quantity
    clause: words.Clause
    label: str  # algbw, busbw or empty
    conditions: tuple[Quantity, ...]


def judge(claim: Claim) -> list[Part]:
    """One part for each rate that can be found in the table, or that ought to be there and is not."""
    if claim.grid is None:
        return []
    found: list[Part] = []
    for stated in _stated(claim):
        found += _check(claim, claim.grid, stated)
    return found


def algbw_of(claim: Claim, rate: Quantity) -> float | None:
    """size/time of the row that has `rate`, where the table has a time for it; None where it can't be told."""
    grid = claim.grid
    for stated in _stated(replace(claim, taken=())) if grid is not None else ():
        if stated.rate.span != rate.span or grid is None:
            continue
        for row, column, value in _values(claim, grid, stated)[0]:
            time = lookup.time_column(grid, column)
            found = column_formula(grid, column, time, claim.around.num_ranks or claim.num_ranks) if time else None
            plain = (
                base(grid, row, time, found.binary) if time is not None and found is not None and found.sure else None
            )
            if plain is not None and rate.agrees(value):
                return plain.middle
    return None


def label_of(claim: Claim, rate: Quantity) -> str:
    """algbw or busbw where the sentence calls the rate so; empty where it does not."""
    after = _LABEL_AFTER.match(claim.text, rate.span[1])
    before = _LABEL_BEFORE.search(claim.text[: rate.span[0]])
    match = after or before
    if match is None:
        return ""
    return BUSBW.name if match[1].lower().startswith("bus") else ALGBW.name


def _stated(claim: Claim) -> list[_Stated]:
    found = []
    for clause in words.clauses(claim.text):
        end = clause.start + len(clause.text)
        here = [one for one in claim.quantities if clause.start <= one.span[0] < end]
        for rate in here:
            after = re.split(r"[,;(%]", claim.text[rate.span[1] : rate.span[1] + 25])[0]
            around = f"{claim.text[max(clause.start, rate.span[0] - 25) : rate.span[0]]} {after}"
            if rate.kind != "rate" or claim.is_taken(rate) or _NOT_MEASURED.search(around):
                continue
            conditions = [one for one in here if one.kind in ("size", "count")]
            for kind, noun in (("size", ""), ("count", "hosts"), ("count", "ranks")):
                of_kind = claim.of_kind(kind, noun)
                if len(of_kind) == 1 and of_kind[0] not in conditions:
                    conditions.append(of_kind[0])
            found.append(_Stated(rate, clause, label_of(claim, rate), tuple(conditions)))
    return found


def _values(claim: Claim, grid: Grid, stated: _Stated) -> tuple[list[tuple[int, Column, float]], lookup.Rows]:
    """The cells that the sentence can mean, and what chose their rows."""
    near = f"{stated.clause.text} {stated.label}"
    columns = lookup.columns_for(grid, near, ("rate",)) or lookup.columns_for(grid, claim.text, ("rate",))
    if stated.label and (labelled := [one for one in columns if stated.label in one.subject]):
        columns = labelled
    rows = lookup.rows_for(claim, stated.clause.text, list(stated.conditions))
    return [
        (row, column, value)
        for row in rows.rows
        for column in columns
        if (value := grid.value(row, column)) is not None
    ], rows


def _check(claim: Claim, grid: Grid, stated: _Stated) -> list[Part]:
    values, rows = _values(claim, grid, stated)
    if rows.unclear:
        return [
            _SAYS.open(
                f"which rows of the table are meant can't be told: {rows.unclear}",
                "a sentence for each range of sizes, with sizes that the table has",
                covers=[stated.rate, *stated.conditions],
            )
        ]
    if not values:
        return []
    covers = [stated.rate, *rows.used]
    if claim.says(_PEAKS):
        row, column, value = max(values, key=lambda one: one[2])
        if not stated.rate.agrees(value):
            return [
                _SAYS.falls(
                    f"the highest of these in the table is {lookup.gigabytes(value)} GB/s",
                    f"{lookup.label_of(grid, row)}: {lookup.gigabytes(value)} GB/s",
                    covers,
                )
            ]
        return [_meaning(claim, grid, stated, row, column, covers)]
    agreeing = [one for one in values if stated.rate.agrees(one[2])]
    if agreeing and stated.rate.relation in ("most", "least") and any(one.kind == "size" for one in rows.used):
        others = [one for one in values if one not in agreeing]
        if others:
            row, column, value = others[0]
            return [
                _SAYS.open(
                    f"so it is in {len(agreeing)} of {len(values)} cells at the sizes that it names, not in all",
                    "whether all of them are meant or one",
                    f"{lookup.label_of(grid, row)}, {column.name}: {lookup.gigabytes(value)} GB/s",
                    covers,
                )
            ]
    if agreeing:
        return [_meaning(claim, grid, stated, *agreeing[0][:2], covers)]
    if len(rows.rows) == 1 and rows.used and len({one[1].subject for one in values}) == 1:
        shown = ", ".join(lookup.gigabytes(value) for _, _, value in values)
        return [
            _SAYS.falls(
                f"the table has {shown} GB/s there", f"{lookup.label_of(grid, rows.rows[0])}: {shown} GB/s", covers
            )
        ]
    return []


def _meaning(claim: Claim, grid: Grid, stated: _Stated, row: int, column: Column, covers: list[Quantity]) -> Part:
    """The number is in the table; now what it is a rate of."""
    value = grid.value(row, column) or 0.0
    place = f"{lookup.label_of(grid, row)}, {column.name}: {lookup.gigabytes(value)} GB/s"
    time = lookup.time_column(grid, column)
    found = column_formula(grid, column, time, claim.around.num_ranks or claim.num_ranks) if time is not None else None
    if found is None or not found.sure or time is None:
        return _SAYS.holds(f"{stated.rate.text} stands in the table", place, covers)
    plain = base(grid, row, time, found.binary)
    n = ranks_of(grid, row, claim.around.num_ranks or claim.num_ranks)
    seconds = grid.value(row, time)
    if plain is None or seconds is None:
        return _SAYS.holds(f"{stated.rate.text} stands in the table", place, covers)
    arithmetic = (
        f"{place}; size/time = {_size(grid, row, found)} / {lookup.seconds(seconds)} = "
        f"{lookup.gigabytes(plain.middle)} GB/s, "
        f"the column is {found.formula.words} in {found.num_explained} of {found.num_rows} rows"
    )
    if n is not None and n > 1:
        arithmetic += f", 2(n-1)/n = {bus_factor('all_reduce', n):.4g} at n = {n}"
    if found.formula is ALGBW and stated.label != BUSBW.name:
        return _SAYS.holds(f"{stated.rate.text} stands in the table, and it is size/time", arithmetic, covers)
    if found.formula is BUSBW and stated.label != ALGBW.name:
        return _SAYS.holds(f"{stated.rate.text} stands in the table, and it is a busbw", arithmetic, covers)
    if stated.label:
        meant = f"its algbw is {lookup.gigabytes(plain.middle)} GB/s" if stated.label == ALGBW.name else ""
        kind = found.formula.name or found.formula.words
        return _SAYS.falls(
            f"{stated.rate.text} is called {stated.label} but is {_article(kind)} ({found.formula.words}); "
            f"{meant}".rstrip("; "),
            arithmetic,
            covers,
        )
    busbw = (
        f" and as busbw {lookup.gigabytes(plain.middle * bus_factor('all_reduce', n))} GB/s"
        if n is not None and n > 1
        else ""
    )
    return _SAYS.falls(
        f"{stated.rate.text} stands in the table but is neither algbw nor busbw: it is {found.formula.words}, where "
        "algbw is "
        f"{lookup.gigabytes(plain.middle)} GB/s{busbw}",
        arithmetic,
        covers,
    )


def _article(kind: str) -> str:
    return f"a {kind}" if kind == BUSBW.name else kind


def _size(grid: Grid, row: int, found: ColumnFormula) -> str:
    sizes = grid.sizes(row)
    size = sizes[0] if found.binary else sizes[-1]
    for unit, factor in (
        (("GiB", 2**30), ("MiB", 2**20), ("KiB", 2**10)) if found.binary else (("GB", 1e9), ("MB", 1e6), ("KB", 1e3))
    ):
        if size >= factor:
            return f"{size / factor:g} {unit}"
    return f"{size:g} B"
