"""The crossover of two algorithms three ways on one figure: by formula, simulated, and emulated.

    python tools/three_ways.py RUN docs/drawings/three-ways.svg

RUN: a stored run of two arms on an emulated cluster of one rank a host. Formula: hops · α + most that a rank sends / β,
both counted in the schedule. Simulated: core/simulate on that cluster as a description. Emulated: medians of the run
with their intervals. Prints where the lines cross.

For: docs/tutorial.md. Not for: measuring (`make bench-three-ways`), other figures (`ringtree plot`).
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from ringtree.errors import RingtreeError, UsageError
from ringtree.judge.summary import summarise
from ringtree.results import StoredRun, read_run
from ringtree.schedules.emulation import Emulation
from ringtree.schedules.schedule import Schedule, schedule
from ringtree.show.plot import figure
from ringtree.simulate.cluster.emulated_hosts import emulated_cluster
from ringtree.simulate.on_core import CORE
from ringtree.simulate.sweep import Call, call_seconds
from ringtree.units import format_rate, format_size, format_time

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_GRID = 33  # sizes at which formula and simulation are drawn
_ITEM = 4  # bytes of an element


@dataclass(frozen=True)
class Line:
    """Seconds by size, ascending; `ends`: intervals of what was measured."""

    arm: str
    way: str
    sizes: list[int]
    seconds: list[float]
    ends: list[tuple[float, float]] | None = None


def lines_of(stored: StoredRun) -> list[Line]:
    """Returns three lines for each arm. Raises UsageError for a run that is not emulated with one rank a host."""
    plan = stored.run.plan
    if plan.emulation is None or plan.emulation.ranks_per_host != 1 or len(plan.arms) != 2:
        raise UsageError("the run must be of two arms on an emulated cluster of one rank a host: --emulate 8x1")
    emulation, comparison = Emulation(**plan.emulation.model_dump()), summarise(stored)
    cluster = emulated_cluster(emulation, stored.run.created_utc[:10])
    hosts = tuple(range(plan.num_ranks))
    measured = [size.size_bytes for size in plan.sizes]
    grid = np.geomspace(measured[0], measured[-1], _GRID)
    sizes = sorted({max(_ITEM, int(size) // _ITEM * _ITEM) for size in grid} | set(measured))
    found = []
    for arm in (one.label for one in plan.arms):
        made = schedule(plan.collective, arm, plan.num_ranks, hosts=list(hosts))
        found.append(Line(arm, "formula", sizes, [formula(made, emulation, size) for size in sizes]))
        calls = [Call(plan.collective, arm, hosts, size, 1) for size in sizes]
        seconds = [call_seconds(CORE, cluster, call, 1) for call in calls]
        found.append(Line(arm, "simulated", sizes, seconds))
        times = [one.time for size in measured if (one := comparison.find(size, arm, comparison.placements[0]))]
        told = [time for time in times if time is not None]
        if len(told) != len(measured):
            raise UsageError(f"{arm} has no time at some size")
        ends = [(time.low or time.median, time.high or time.median) for time in told]
        found.append(Line(arm, "emulated", measured, [time.median for time in told], ends))
    return found


def formula(made: Schedule, emulation: Emulation, size_bytes: int) -> float:
    """Returns hops · α + most that a rank sends / β, in seconds."""
    sent = max(
        sum(len(step.send_to) * len(step.chunks) for step in made.program(rank)) for rank in range(made.num_ranks)
    )
    return made.cost().hops * emulation.alpha + sent / made.num_chunks * size_bytes / emulation.beta


def crossing(one: Line, other: Line) -> int | None:
    """Returns the size at which two lines meet last, linear in logarithms between sizes; None if they don't."""
    ratio = np.log(np.array(one.seconds) / np.array(other.seconds))
    changes = np.flatnonzero(np.diff(np.sign(ratio)))
    if not len(changes):
        return None
    at = int(changes[-1])
    share = ratio[at] / (ratio[at] - ratio[at + 1])
    return round(float(np.exp(np.interp(share, [0, 1], np.log(one.sizes[at : at + 2])))))


def draw(lines: Sequence[Line], title: str, file: Path, identity: str) -> None:
    """Draws all lines: an arm has a colour; formula dotted, simulated drawn, emulated as marks with intervals."""

    def make() -> Figure:
        from matplotlib.figure import Figure

        drawn = Figure(figsize=(6.5, 4.2), layout="constrained", facecolor=figure.CARD)
        axes = drawn.add_subplot()
        for line in lines:
            number = sorted({one.arm for one in lines}).index(line.arm)
            look, told = figure.look(number), f"{line.arm}, {line.way}"
            times = [1e3 * one for one in line.seconds]
            if line.ends is None:
                dash = ":" if line.way == "formula" else "-"
                axes.plot(line.sizes, times, dash, color=look["color"], label=told, linewidth=1.4)
            else:
                bars = np.array(
                    [[t - 1e3 * low, 1e3 * high - t] for t, (low, high) in zip(times, line.ends, strict=True)]
                )
                axes.errorbar(line.sizes, times, yerr=bars.T, fmt=look["marker"], color=look["color"], label=told,
                              markersize=4, capsize=3)  # fmt: skip
        axes.set_yscale("log")
        figure.size_axis(axes)
        figure.plain_numbers(axes)
        axes.set_ylabel("time of a call, ms")
        axes.set_title(title, fontsize=9)
        axes.legend(fontsize=8)
        return drawn

    figure.save(file, make, identity)


def main() -> int:
    """Returns 0; 2 for what can't be drawn."""
    if len(sys.argv) != 3:
        print("usage: python tools/three_ways.py RUN FIGURE.svg", file=sys.stderr)
        return 2
    run, file = map(Path, sys.argv[1:])
    try:
        stored = read_run(run)
        lines = lines_of(stored)
        plan = stored.run.plan
        assert plan.emulation is not None
        where = f"{plan.emulation.hosts} hosts, α = {format_time(plan.emulation.alpha)}, β = "
        draw(lines, f"{plan.collective}, {where}{format_rate(plan.emulation.beta)}", file, stored.run.run_id)
    except RingtreeError as error:
        print(error, file=sys.stderr)
        return 2
    for way in ("formula", "simulated", "emulated"):
        at = crossing(*(line for line in lines if line.way == way))
        print(f"{way}: {'no crossover' if at is None else f'crossover at {format_size(round(at, -2))}'}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
