"""Growth of a training with its ranks: more than linear growth, and efficiencies that can't be told.

For: tables of tokens/s, or of seconds a step, by nodes or ranks. Not for: whether a difference between settings is one
(arms.py), settings that can't have changed it (training.py).

A throughput says how much was done. The time of a step does not: its efficiency is T₁/Tₙ where each rank keeps its work
(weak scaling), T₁/(n·Tₙ) where all share one batch (strong scaling). A column of batches tells which, or a heading.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from ringtree.audit.findings import Finding, Severity
from ringtree.audit.intervals import Interval
from ringtree.audit.material import Material, Subject
from ringtree.audit.rule import info, of_file, warning
from ringtree.audit.training import columns_of
from ringtree.audit.words import between, figure, quoted_time
from ringtree.logs import Printed, Row
from ringtree.logs.tables.measures import STEP_TIME, THROUGHPUT

SUPERLINEAR = warning(
    "scaling-above-one",
    "throughput grows by more than the number of ranks",
    "several launches of both cells, with the same work for each rank",
)
NOT_STATED = info(
    "scaling-not-stated",
    "whether the work of a step grows with the ranks is not stated",
    "the batch of each row, for a rank or for all, or the throughput",
)
CLOSE = 1.02  # runs differ by so much
_SINGLE_RANK = re.compile(r"\b(?:per|a|each) ?(?:gpu|device|rank|node|worker|replica)|\b(?:micro|local)", re.IGNORECASE)
_ALL_RANKS = re.compile(r"\b(?:global|total|effective|fixed)", re.IGNORECASE)
_WEAK, _STRONG = "weak scaling", "strong scaling"


class _Cell(NamedTuple):
    subject: Subject
    row: Row
    num: int  # of nodes, or ranks
    value: Interval
    printed: Printed


@of_file(SUPERLINEAR, NOT_STATED)
def check(material: Material) -> Iterator[Finding]:
    """Yields findings about each column, over its rows."""
    for subjects in columns_of(material):
        if cells := _cells(subjects, THROUGHPUT):
            yield from _superlinear(cells)
        elif cells := _cells(subjects, STEP_TIME):
            yield from _steps(cells)


def _cells(subjects: Sequence[Subject], measure: str) -> list[_Cell]:
    """Returns what was measured, by nodes or ranks."""
    found = []
    for subject in subjects:
        count = subject.table.num_hosts or subject.table.num_ranks
        for one in subject.points:
            printed = dict(one.side.others).get(measure)
            value = Interval.of(printed)
            if printed is not None and value is not None and value.low > 0 and count:
                found.append(_Cell(subject, one.row, count, value, printed))
    return sorted(found, key=lambda cell: cell.num)


def _superlinear(cells: Sequence[_Cell]) -> Iterator[Finding]:
    first = cells[0]
    per_rank = "/gpu" in first.subject.table.columns[THROUGHPUT].lower().replace("per ", "/")
    found: list[tuple[Interval, _Cell, str]] = []
    for cell in cells:
        multiple = cell.num / first.num
        if multiple > 1:
            of = "" if per_rank else f"{multiple:g} × "
            ratio = cell.value.over(first.value.times(1.0 if per_rank else multiple))
            found.append((ratio, cell, f"{cell.printed.text} / ({of}{first.printed.text}) = {between(ratio)}"))
    yield from _above_one(found)


def _steps(cells: Sequence[_Cell]) -> Iterator[Finding]:
    """Of times of a step: the efficiency if it is stated which, or if both are above 1."""
    first, kind, found = cells[0], _kind(cells), []
    for cell in cells:
        multiple = cell.num / first.num
        if multiple > 1:
            weak = kind[0] == _WEAK
            time = quoted_time(cell.printed) if weak else f"({multiple:g} × {quoted_time(cell.printed)})"
            ratio = first.value.over(cell.value.times(1.0 if weak else multiple))
            because = f", {kind[0]}: {kind[1]}" if kind[0] else ", whatever share of the work each rank has"
            found.append((ratio, cell, f"{quoted_time(first.printed)} / {time} = {between(ratio)}{because}"))
    above = list(_above_one(found))
    yield from above
    if found and not kind[0] and not above:
        _, last, _ = found[-1]
        efficiency, multiple = first.value.middle / last.value.middle, last.num / first.num
        yield NOT_STATED.found(
            last.subject,
            f"{_called(last)}: {quoted_time(first.printed)}, then {quoted_time(last.printed)}: efficiency "
            f"{figure(efficiency)} if each rank keeps its work, {figure(efficiency / multiple)} if all share it",
            [cell.row for cell in cells],
        )


def _above_one(found: Sequence[tuple[Interval, _Cell, str]]) -> Iterator[Finding]:
    above = [one for one in found if one[0].low > 1]
    if above:
        ratio, cell, shown = max(above, key=lambda one: one[0].low)
        yield SUPERLINEAR.found(
            cell.subject,
            f"{_called(cell)}: {shown}",
            [cell.row for _, cell, _ in above],
            severity=None if ratio.low > CLOSE else Severity.INFO,
        )


def _called(cell: _Cell) -> str:
    table = cell.subject.table
    arm = table.settings.get("arm", "")
    return f"{arm + ', ' if arm else ''}{cell.num} {'ranks' if table.num_hosts is None else 'nodes'}"


def _kind(cells: Sequence[_Cell]) -> tuple[str, str]:
    """Returns weak or strong scaling, and how that is known; nothing if it is not."""
    for name in dict(cells[0].row.sides[0].others):
        if "batch" in name.lower() and (kind := _by_batches(name, cells)):
            return kind, f"by the column {name!r}"
    title = cells[0].subject.table.title
    words = [word for word in (_WEAK, _STRONG) if word in title.lower().replace("-", " ")]
    if not words and "batch" in title.lower():
        words += [_WEAK] if _SINGLE_RANK.search(title) else []
        words += [_STRONG] if _ALL_RANKS.search(title) else []
    return (words[0], f"by the heading {title!r}") if len(words) == 1 else ("", "")


def _by_batches(name: str, cells: Sequence[_Cell]) -> str:
    """Returns what a column of batches says, of one rank or of all: whether their product with the ranks stays."""
    batches = [dict(cell.row.sides[0].others).get(name) for cell in cells]
    of_one, of_all = (pattern.search(name.replace("_", " ")) is not None for pattern in (_SINGLE_RANK, _ALL_RANKS))
    if of_one == of_all or None in batches:
        return ""
    work = [one.value * (cell.num if of_one else 1) for one, cell in zip(batches, cells, strict=True) if one]
    grown = [one * cells[0].num / cell.num for one, cell in zip(work, cells, strict=True)]
    return _STRONG if len(set(work)) == 1 else _WEAK if len(set(grown)) == 1 else ""
