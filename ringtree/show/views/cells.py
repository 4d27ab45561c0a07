"""From observations to the cells of a view, of stored runs and of logs alike.

For: the time of a cell with its interval, its rates, its samples in few numbers. Not for: verdicts (ringtree.judge),
findings (ringtree.audit): they are handed in.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

import numpy as np

from ringtree.audit.words import quoted_rate, quoted_time
from ringtree.results import Observation, Printed
from ringtree.show.views.rounding import quantiles
from ringtree.show.views.view import Ratio, Time, ViewCell
from ringtree.stats import median_interval
from ringtree.stats.bandwidth import bus_factor


def cells_of(
    observations: Iterable[Observation],
    complete: Callable[[ViewCell, Observation], None],
    label: str = "",
    level: float = 0.95,
) -> list[ViewCell]:
    """Returns a cell for each size and place, and for each measurement whose launch is not numbered.

    `complete` adds to a cell what was judged of it. `label`: of the arm, where it is not called as its origin.
    """
    groups: dict[tuple[object, ...], list[Observation]] = {}
    for number, one in enumerate(observations):
        alone = number if one.launch is None else None
        groups.setdefault((one.origin.label, one.size_bytes, one.place, alone), []).append(one)
    found = []
    for seen in groups.values():
        cell = _cell(seen, label or seen[0].origin.label, level)
        complete(cell, seen[0])
        found.append(cell)
    return found


def compare_with(cells: Sequence[ViewCell], reference: str) -> None:
    """Adds the ratio of times to those of the reference: a ratio of single runs, which is not a verdict."""
    base = {(one.size, one.place): one for one in reversed(cells) if one.arm == reference}
    for cell in cells:
        other = base.get((cell.size, cell.place))
        if cell.arm != reference and cell.size is not None and other is not None and cell.time and other.time:
            cell.versus = Ratio(cell.time.median / other.time.median)


def _cell(seen: Sequence[Observation], label: str, level: float) -> ViewCell:
    first = seen[0]
    cell = ViewCell(label, first.size_bytes, first.place, wrong=first.wrong, line=first.line, printed=_printed(first))
    cell.executed = sorted({one.executed for one in seen} - {""})
    if first.wrong is not None:
        return cell
    launches = {one.launch: one.seconds for one in seen if one.seconds is not None}
    if launches:
        cell.time = _time(list(launches.values()), level)
        cell.by_launch = [(launch + 1, seconds) for launch, seconds in launches.items() if launch is not None]
    cell.quantiles = quantiles(np.concatenate([np.asarray(one.samples) for one in seen]))
    cell.algbw, cell.busbw, cell.derived = _rates(first, cell.time)
    return cell


def _time(launches: list[float], level: float) -> Time:
    if len(launches) < 2:
        return Time(launches[0])
    found = median_interval(launches, level)
    return Time(found.median, found.low, found.high, found.label, found.num_launches)


def _rates(one: Observation, time: Time | None) -> tuple[float | None, float | None, bool]:
    """Returns algbw and busbw, as printed where they are, and whether busbw was computed."""
    origin = one.origin
    total = None if one.size_bytes is None else origin.size_means.total_bytes(one.size_bytes, origin.num_ranks)
    algbw, busbw = _positive(one.algbw), _positive(one.busbw)
    base = total / time.median if total is not None and time is not None else algbw
    algbw = base if one.algbw is None else algbw
    if one.busbw is not None or base is None or origin.collective is None or (origin.num_ranks or 0) < 2:
        return algbw, busbw, False
    try:
        return algbw, base * bus_factor(origin.collective, origin.num_ranks or 0), True
    except ValueError:  # a collective without such a rate
        return algbw, None, False


def _positive(printed: Printed | None) -> float | None:
    """A figure that a logarithmic axis can show."""
    value = printed.value if printed is not None else 0.0
    return value if 0 < value < float("inf") else None


def _printed(one: Observation) -> dict[str, str]:
    found = {
        "time": one.time and quoted_time(one.time),
        "wrong": one.num_wrong and one.num_wrong.text,
        "algbw": one.algbw and quoted_rate(one.algbw),
        "busbw": one.busbw and quoted_rate(one.busbw),
    }
    return {name: text for name, text in found.items() if text}
