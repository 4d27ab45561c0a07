"""The figures of one table of a log, as the page's cells.

For: every number as it was printed, its share of the limit, the codes of the findings that name its line. Not for: the
view around them (log_view.py), cells of our own runs (data.py).
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import Any

from ringtree.audit import Ceiling, Finding, Subject, rates
from ringtree.audit.intervals import Interval
from ringtree.audit.words import quoted_rate, quoted_time
from ringtree.compare_runs import wrong_elements
from ringtree.logs import Printed, Side
from ringtree.report.run_page.figures import quantiles, rounded
from ringtree.report.run_page.log_arm import LogArm
from ringtree.stats.bandwidth import bus_factor

REQUIRED = ("size", "place", "arm", "time", "printed")


def cells_of(arm: LogArm, label: str, held: Ceiling | None, findings: Sequence[Finding]) -> Iterator[dict[str, Any]]:
    """Yields a cell for each measurement: what is printed, and what follows from it."""
    table = arm.subject.table
    points = {(id(point.row), id(point.side)): point for point in arm.subject.points}
    measured = {(id(point.row), id(point.side)): rate for point, rate in rates(arm.subject)}
    of_line: dict[int, list[str]] = {}
    for finding in findings:
        if finding.table == table.first_line and finding.file == arm.subject.file:
            for line in finding.rows:
                of_line.setdefault(line, []).append(finding.code)
    factor = _factor(arm.subject)
    for row, side in arm.sides:
        seconds = _positive(side.time)
        rate, point = measured.get((id(row), id(side))), points[id(row), id(side)]
        base = point.base or point.algbw
        busbw = _positive(side.busbw)
        derived = side.busbw is None and factor is not None and _known(base)
        if derived and base is not None and factor is not None:
            busbw = rounded(base.middle * factor)
        top = held.top.algbw if held is not None else None
        cell: dict[str, Any] = {
            "line": row.line,
            "size": row.size_bytes,
            "place": side.place,
            "arm": label,
            "wrong": wrong_elements(row, side, table),
            "time": None if seconds is None else {"median": seconds},
            "algbw": _positive(side.algbw),
            "busbw": busbw,
            "derived": derived,
            "printed": _printed(side),
            "share": rounded(rate.middle / top) if rate is not None and top and _known(rate) else None,
            "found": list(dict.fromkeys(of_line.get(row.line, []))),
            "quantiles": quantiles(side.samples),
        }
        yield {name: value for name, value in cell.items() if value or name in REQUIRED}  # page.js fills in the rest


def _known(rate: Interval | None) -> bool:
    """Not so for a rate that is printed as 0.00: it may be anything below 0.005."""
    return rate is not None and rate.low > 0 and math.isfinite(rate.high)


def _positive(printed: Printed | None) -> float | None:
    """A figure that a logarithmic axis can show."""
    if printed is None:
        return None
    value = printed.value
    return rounded(value) if math.isfinite(value) and value > 0 else None


def _printed(side: Side) -> dict[str, str]:
    found = {"time": side.time and quoted_time(side.time), "wrong": side.wrong and side.wrong.text}
    found |= {"algbw": side.algbw and quoted_rate(side.algbw), "busbw": side.busbw and quoted_rate(side.busbw)}
    return {name: text for name, text in found.items() if text}


def _factor(subject: Subject) -> float | None:
    ranks = subject.num_ranks or subject.table.num_ranks
    if subject.collective is None or ranks is None or ranks < 2:
        return None
    try:
        return bus_factor(subject.collective, ranks)
    except ValueError:
        return None


def compare_with(cells: list[dict[str, Any]], reference: str) -> None:
    """Adds the ratio of times to those of the first table: a ratio of single runs, which is no verdict."""
    base = {(cell["size"], cell["place"]): cell for cell in reversed(cells) if cell["arm"] == reference}
    for cell in cells:
        other = base.get((cell["size"], cell["place"]))
        if cell["arm"] == reference or other is None or cell["time"] is None or other["time"] is None:
            continue
        if "wrong" not in cell and "wrong" not in other and cell["size"] is not None:
            cell["ratio"] = rounded(cell["time"]["median"] / other["time"]["median"])
