"""Rows that should be there and are not, and outputs that stop before their end.

For: what is missing by the log's own settings, and how much a table can be trusted to be whole. Not for: figures that
don't fit (row_arithmetic.py).
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterator

from ringtree.audit.findings import Finding
from ringtree.audit.material import Material, Subject
from ringtree.audit.rule import info, of_file, of_table
from ringtree.audit.words import listed
from ringtree.units import format_size

MISSING = info("rows-missing", "rows are missing", "the whole output")
CUT = info("output-cut", "the output stops before its end", "the whole output, with the exit code of the run")
_DOTS = re.compile(r"[#\s|]*(?:\.{2,}|…|:|⋮)[\s|]*")
_STEP = re.compile(r"(\d+)\s*\(?\s*(factor|bytes)")
_BLOCK = 64  # bytes of a rank that rounding may take from a size, twice


def why_incomplete(subject: Subject) -> list[str]:
    """Returns in words what is missing of the table; empty if nothing is known to be."""
    table = subject.table
    sizes = [row.size_bytes for row in table.rows if row.size_bytes is not None]
    if not sizes:
        return ["no sizes"]
    reasons = _gaps(subject)
    first, last = subject.setting("minBytes"), subject.setting("maxBytes")
    if first is None or last is None:
        reasons.append("no header says from where to where it went")
    else:
        # Sizes are rounded down to whole blocks for each rank, and maxBytes to the memory that there is.
        slack = _BLOCK * (subject.table.num_ranks or 1)
        if min(sizes) > first:
            reasons.append(f"minBytes {first}, first row {min(sizes)}")
        step = _step(subject)
        reduced = any("reduc" in name.lower() for name in table.settings)  # for want of memory
        if step is not None and not reduced and _next(max(sizes), step) + slack <= last:
            reasons.append(f"maxBytes {last}, last row {max(sizes)}")
    if table.complete is False:
        reasons.append("no footer")
    return reasons


@of_table(MISSING, CUT)
def check(subject: Subject) -> Iterator[Finding]:
    """Yields an info for gaps, and one for a missing end."""
    if not subject.whole:
        return
    gaps = _gaps(subject)
    if gaps:
        yield MISSING.found(subject, listed(gaps), subject.table.rows)
    if subject.table.complete is False and subject.table.rows:
        last = subject.table.rows[-1]
        name = "an unknown size" if last.size_bytes is None else format_size(last.size_bytes)
        yield CUT.found(subject, f"the last row that can be read is that of {name}", [last])


def _step(subject: Subject) -> tuple[int, str] | None:
    found = _STEP.search(subject.table.settings.get("step", ""))
    return None if found is None or int(found.group(1)) < 1 else (int(found.group(1)), found.group(2))


def _next(size: int, step: tuple[int, str]) -> int:
    number, kind = step
    return size * number if kind == "factor" else size + number


def _gaps(subject: Subject) -> list[str]:
    """Returns the places where the step to the next size is larger than the settings', or than all other steps."""
    sizes = sorted({row.size_bytes for row in subject.table.rows if row.size_bytes})
    step = _step(subject)
    if step is not None and step[0] == 1 and step[1] == "factor":
        return []
    pairs = list(itertools.pairwise(sizes))
    if step is None:
        step = _usual_step(pairs)
    if step is None:
        return []
    slack = _BLOCK * (subject.table.num_ranks or 1)
    return [
        f"nothing between {format_size(low)} and {format_size(high)}"
        for low, high in pairs
        if high > _next(low, step) * 1.01 + slack
    ]


def _usual_step(pairs: list[tuple[int, int]]) -> tuple[int, str] | None:
    """Returns the factor that all steps but at most a fifth have."""
    factors = [high // low for low, high in pairs if low and high % low == 0]
    if len(factors) < 5:
        return None
    usual = max(set(factors), key=factors.count)
    return (usual, "factor") if usual > 1 and factors.count(usual) >= 0.8 * len(pairs) else None


@of_file(MISSING)
def check_dots(material: Material) -> Iterator[Finding]:
    """Yields an info for each table that has a line of dots between its rows."""
    dots = [number for one in material.skipped for number, text in one.examples if _DOTS.fullmatch(text.strip())]
    for subject in material.subjects:
        lines = [row.line for row in subject.table.rows]
        inside = [number for number in dots if lines and min(lines) < number < max(lines)]
        if inside:
            yield MISSING.found(subject, f"line {inside[0]} stands for rows that were left out", subject.table.rows)
