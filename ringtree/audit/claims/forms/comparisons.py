"""Form: one number is so many per cent or times another. "an 83% improvement", "8.2% higher than", "4.9x Ring".

The numbers stand in the sentence, or in the table's columns that it names. The arithmetic comes first; then whether the
two may be compared at all (algbw with busbw?, does the same work take less time?), then what one value each is worth.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from ringtree.audit.claims import lookup, noise, training
from ringtree.audit.claims.claim import Claim
from ringtree.audit.claims.forms.part import Says
from ringtree.audit.claims.forms.table_values import algbw_of, label_of
from ringtree.audit.claims.grid import Column, Grid
from ringtree.audit.claims.quantities import Quantity
from ringtree.audit.claims.records import Part

_SAYS = Says("ratio of two numbers")
_UP = r"improvement|higher|faster|better|more|increase|gain|speed-?up|larger|greater|above|quicker|boost"
_DOWN = r"slower|lower|less|decrease|drop|worse|below|smaller|fewer"
_AFTER_PERCENT = re.compile(rf"\s*(?:\w+\s+)?(?:{_UP}|{_DOWN})\b", re.IGNORECASE)
_VERB = (
    r"(?:improves?|grows?|increases?|scales?|rises?|drops?|falls?|speeds? up|is|was|are|by|of|gains?|which is|that is)"
)
_BEFORE = re.compile(
    rf"(?:\b{_VERB}\b|,|\bthe\b)\s*(?:by\s*)?(?:a\s*)?(?:factor\s*(?:of\s*)?)?\s*[~≈]?\s*$", re.IGNORECASE
)
_KINDS = ("throughput", "rate", "time")


@dataclass(frozen=True)
class _Pair:
    """`new` and `old` as the sentence compares them; `better`: how many times better new is. `rows`: of the table."""

    new: float
    old: float
    unit: str  # time, rate, throughput
    what: str
    rows: tuple[int, ...] = ()
    covers: tuple[Quantity, ...] = ()
    column: Column | None = None

    @property
    def better(self) -> float:
        return self.old / self.new if self.unit == "time" else self.new / self.old


def judge(claim: Claim) -> list[Part]:
    """One part for each comparison whose two numbers are found."""
    found: list[Part] = []
    for stated in [*claim.of_kind("percent"), *claim.of_kind("factor")]:
        if claim.is_taken(stated) or not _compares(claim, stated):
            continue
        pair = _in_sentence(claim, stated) or _growth(claim, stated) or _in_table(claim, stated)
        if pair is not None and pair.old > 0 and pair.new > 0:
            found += _check(claim, stated, pair)
        elif pair is None and (why := _rows_not_one(claim)):
            found.append(
                _SAYS.open(
                    f"which row of the table is meant can't be told: {why}",
                    "a sentence for each size of the table",
                    covers=[stated, *claim.of_kind("size")],
                )
            )
    return found


def _rows_not_one(claim: Claim) -> str:
    """Why the sizes of the sentence don't lead to one row, empty if they do or there are none."""
    rows = lookup.rows_for(claim)
    sizes = [one for one in rows.used if one.kind == "size"]
    return rows.unclear or (
        f"{len(rows.rows)} rows lie at the sizes that it names" if sizes and len(rows.rows) > 1 else ""
    )


def _compares(claim: Claim, stated: Quantity) -> bool:
    after, before = claim.text[stated.span[1] :], claim.text[: stated.span[0]]
    if _AFTER_PERCENT.match(after):
        return True
    if stated.kind == "percent":
        return (
            re.search(
                r"\b(?:improves?|grows?|increases?|drops?|falls?|decreases?|gains?|rises?)\s*(?:by\s*)?[~≈]?\s*$",
                before,
                re.I,
            )
            is not None
        )
    as_many = re.match(
        r"\s*(?:as\b|the\b|that\b|[A-Z]\w+|$|[.,;)]|over\b|on\b|from\b|at\b|for\b|with\b|between\b)", after
    )
    return bool(as_many and (_BEFORE.search(before) or re.match(r"\s*(?:as|the|that|[A-Z]\w+)\b", after)))


def _in_sentence(claim: Claim, stated: Quantity) -> _Pair | None:
    """Exactly two rates or two times: the later is compared with the earlier, unless "than" says otherwise."""
    for kind in ("rate", "time"):
        values = [
            one
            for one in claim.of_kind(kind)
            if not re.match(r"\s*(?:line|theoretical|peak)", claim.text[one.span[1] :])
        ]
        if len(values) == 2:
            old, new = values
            than = claim.says(r"\bthan\b|\bover\b|\bversus\b|\bcompared\b")
            if than is not None and new.span[0] > than.start() >= old.span[1]:
                old, new = new, old
            return _Pair(new.value, old.value, kind, "of the sentence", covers=(old, new))
    return None


def _growth(claim: Claim, stated: Quantity) -> _Pair | None:
    """ "from 2 to 8 nodes": one column, two rows."""
    grid = claim.grid
    between = next(
        (one for one in claim.of_kind("count") if one.low != one.high and one.noun in ("hosts", "ranks")), None
    )
    if grid is None or between is None:
        return None
    others = [one for one in claim.quantities if one is not between and one is not stated]
    rows = lookup.rows_for(claim, given=others)
    for column in lookup.columns_for(grid, claim.text, _KINDS) or grid.of_kind("rate", "throughput"):
        ends = [
            [
                (row, value)
                for row in rows.rows
                if grid.count(row, between.noun) == round(end) and (value := grid.value(row, column)) is not None
            ]
            for end in (between.low, between.high)
        ]
        if len(ends[0]) == 1 and len(ends[1]) == 1:
            (first, old), (last, new) = ends[0][0], ends[1][0]
            return _Pair(new, old, column.kind, column.name, (first, last), (between, *rows.used), column)
    return None


def _in_table(claim: Claim, stated: Quantity) -> _Pair | None:
    """Two columns: whose subject is named first, and the one after "than" or after the number."""
    grid = claim.grid
    if grid is None:
        return None
    than = re.search(r"\b(?:than|over|as|versus|compared (?:to|with))\b", claim.text[stated.span[1] :])
    cut = stated.span[1] + (than.end() if than else 0)
    rows = lookup.rows_for(claim)
    for kind in _KINDS:
        old = _nearest(lookup.columns_for(grid, claim.text[cut:], (kind,)), grid, rows.rows)
        before = claim.text[:cut]
        new = _nearest(
            [one for one in lookup.columns_for(grid, before, (kind,)) if old is None or one.subject != old.subject],
            grid,
            rows.rows,
        )
        if old is None or new is None or len(rows.rows) != 1:
            continue
        row = rows.rows[0]
        values = grid.value(row, new), grid.value(row, old)
        if values[0] is not None and values[1] is not None:
            return _Pair(
                values[0], values[1], kind, f"{lookup.label_of(grid, row)}: {new.name}, {old.name}", (row,), rows.used
            )
    return None


def _nearest(columns: list[Column], grid: Grid, rows: tuple[int, ...]) -> Column | None:
    filled = [one for one in columns if any(grid.value(row, one) is not None for row in rows)]
    return filled[0] if len({one.subject for one in filled}) == 1 else None


def _check(claim: Claim, stated: Quantity, pair: _Pair) -> list[Part]:
    down = re.match(rf"\s*(?:\w+\s+)?(?:{_DOWN})\b", claim.text[stated.span[1] :], re.I) or re.search(
        r"\b(?:drops?|falls?|decreases?)\b", claim.text, re.I
    )
    covers = [stated, *pair.covers]
    shown = (
        f"{_value(pair.new, pair.unit)} / {_value(pair.old, pair.unit)} = {_ratio(pair.new / pair.old)} ({pair.what})"
    )
    if not any(stated.agrees(one) for one in _readings(stated, pair, bool(down))):
        return [
            _SAYS.falls(
                f"{_value(pair.new, pair.unit)} is {_ratio(pair.new / pair.old)} times "
                f"{_value(pair.old, pair.unit)}, which is not {stated.text}",
                shown,
                covers,
            )
        ]
    labels = {label_of(claim, one) for one in pair.covers if one.kind == "rate"} - {""}
    if len(labels) == 2:
        return [_SAYS.falls("an algbw is compared with a busbw; they differ by 2(n-1)/n", shown, covers)]
    shown += _like_with_like(claim, pair)
    slower = _takes_longer(claim, pair, bool(down))
    if slower is not None:
        return [_SAYS.falls(slower[0], f"{shown}; {slower[1]}", covers)]
    why = _alike(claim)
    if noise.is_beyond(pair.new / pair.old) and not why:
        return [
            _SAYS.holds("the arithmetic holds, and the difference is too large for noise", shown, covers, noise.SETTLES)
        ]
    return [
        _SAYS.open(
            "the arithmetic holds, but whether there is a difference can't be told: "
            f"{noise.runs(claim.grid, pair.rows)}{why}",
            noise.SETTLES,
            shown,
            covers,
        )
    ]


def _like_with_like(claim: Claim, pair: _Pair) -> str:
    """The ratio of the two algbw, if one of two rates that are called so turns out to be something else."""
    if pair.unit != "rate" or pair.rows or len(pair.covers) != 2:
        return ""
    old, new = (algbw_of(claim, one) or one.value for one in pair.covers)
    if abs(new / old / (pair.new / pair.old) - 1) < 0.02:
        return ""
    return f"; like with like, size/time: {lookup.gigabytes(new)} / {lookup.gigabytes(old)} = {_ratio(new / old)}"


def _readings(stated: Quantity, pair: _Pair, down: bool) -> list[float]:
    """What somebody may have meant: of rates or of times, more or less."""
    ratio = pair.new / pair.old
    if stated.kind == "factor":
        return [ratio, 1 / ratio] if down or pair.unit == "time" else [ratio]
    if down:
        return [1 - ratio, 1 / ratio - 1, 1 - 1 / ratio]
    return [ratio - 1] if pair.unit != "time" else [1 / ratio - 1, 1 - ratio]


def _takes_longer(claim: Claim, pair: _Pair, down: bool) -> tuple[str, str] | None:
    """A rate that grows while the same size takes longer is no improvement: the formula's factor grew."""
    grid = claim.grid
    if grid is None or pair.column is None or pair.column.kind != "rate" or len(pair.rows) != 2 or down:
        return None
    time = lookup.time_column(grid, pair.column)
    first, last = pair.rows
    if time is None or grid.sizes(first) != grid.sizes(last):
        return None
    before, after = grid.value(first, time), grid.value(last, time)
    if before is None or after is None or after <= before or pair.new <= pair.old:
        return None
    return (
        f"the quotient is right but nothing improves: the same size takes {after / before:.2f} times as long, and "
        "the column "
        f"grows with the number of ranks by its own formula",
        f"{lookup.seconds(before)} -> {lookup.seconds(after)}",
    )


def _alike(claim: Claim) -> str:
    """Where both sides ran the same collectives, whatever was asked for."""
    return training.same_collectives(f"{claim.text} {claim.around.description}", [one.name for one in claim.algorithms])


def _ratio(value: float) -> str:
    return f"{value:.4g}"


def _value(value: float, unit: str) -> str:
    if unit == "time":
        return lookup.seconds(value)
    return f"{lookup.gigabytes(value)} GB/s" if unit == "rate" else f"{value:g}"
