"""docs/benchmarks/protocols.md: the protocols over size, and buffers that peers read in place against ordinary ones.

    PYTHONPATH=tools python -m bench.protocols docs/benchmarks/protocols.md [--launches 8] [--largest 16M]

The engine's driver alone, 2 pinned ranks. A launch makes its ranks anew; for each size it visits every column several
times in shuffled order between two probes of the hand-off; near and far are kept apart. A column's effect in a launch
is the median over rounds of its log ratio to the first column, as everywhere (docs/decisions/0008).

For: the two questions that the engine's page leaves to measurement. Not for: other libraries (session.py).
"""

from __future__ import annotations

import argparse
import datetime
import math
import random
import statistics
import tempfile
from collections import defaultdict
from dataclasses import dataclass, field
from pathlib import Path

import ringtree
from bench.cases import ALL_REDUCE
from bench.driver import RunningArm, Work
from bench.peers import Engine, arms
from ringtree.lab.units import format_size, parse_size
from ringtree.probe import Handoff, usable_cores
from ringtree.profile_format import this_machine
from ringtree.stats import typical_interval

FAR = 80e-9  # seconds: hand-offs here are 25 to 60 ns or 130 ns and more
ROUNDS = 3
LEAST_LAUNCHES = 3  # for a figure; fewer and the cell stays empty


@dataclass(frozen=True)
class Column:
    """One thing that is timed: what the driver is told, and whether its buffers are shared."""

    name: str
    words: str
    shared: bool = False


@dataclass
class Cell:
    """What launches gave for one column at one size in one place: seconds of a call and log ratios to the first."""

    times: list[float] = field(default_factory=list)
    effects: list[float] = field(default_factory=list)


Cells = dict[tuple[str, int, str], Cell]  # place, size, column

PROTOCOLS = [
    Column(f"{algorithm} {protocol}", f"{algorithm} {protocol}")
    for algorithm in ("one_shot", "two_shot")
    for protocol in ("simple", "ll128", "ll")
]
BUFFERS = [
    Column("two_shot, ordinary", "two_shot simple 65536"),
    Column("two_shot, shared", "two_shot simple 65536", shared=True),
    Column("one_shot, shared", "one_shot simple 65536", shared=True),
]


def main() -> None:
    """Measures both tables and writes the page."""
    parser = argparse.ArgumentParser()
    parser.add_argument("page", type=Path)
    parser.add_argument("--launches", type=int, default=8)
    parser.add_argument("--largest", type=parse_size, default=parse_size("16M"))
    options = parser.parse_args()
    engine = next(arm for arm in arms() if isinstance(arm, Engine))
    if (reason := engine.missing()) is not None:
        raise SystemExit(f"bench: {reason}")
    small = [8 << shift for shift in range(0, 14)]  # 8 B to 64 KB: beyond, ll and ll128 take many times as long
    large = [4096 << shift for shift in range(40) if 4096 << shift <= options.largest]
    protocols, buffers = Cells(), Cells()
    rng = random.Random(1)
    for _ in range(options.launches):
        for cells, columns, sizes in ((protocols, PROTOCOLS, small), (buffers, BUFFERS, large)):
            _launch(engine, columns, sizes, cells, rng)
    options.page.write_text(_page(protocols, buffers, small, large, options))


def _launch(engine: Engine, columns: list[Column], sizes: list[int], cells: Cells, rng: random.Random) -> None:
    probe = Handoff(usable_cores()[:2])
    with tempfile.TemporaryDirectory() as directory:
        arm = RunningArm(engine, 2, usable_cores()[:2], Path(directory))
        try:
            arm.ready(30)
            for size in rng.sample(sizes, len(sizes)):
                _visit(arm, probe, columns, size, cells, rng)
        finally:
            arm.close()


def _visit(arm: RunningArm, probe: Handoff, columns: list[Column], size: int, cells: Cells, rng: random.Random) -> None:
    seen: dict[str, list[dict[str, float]]] = defaultdict(list)
    calls = max(1, min(200, (1 << 18) // size))
    for number in range(ROUNDS):
        times, places = {}, {_place(probe)}
        for column in rng.sample(columns, len(columns)):
            arm.force(column.words, 30)
            answer = arm.run(Work(ALL_REDUCE, size, calls, 6, 2, number + 1, shared=column.shared), 60)
            if any(answer.wrong):
                raise SystemExit(f"bench: {column.name} at {size} bytes gave wrong sums")
            times[column.name] = statistics.median(answer.slowest()) / calls
            places.add(_place(probe))
        if len(places) == 1 and (place := places.pop()):
            seen[place].append(times)
    for place, rounds in seen.items():
        for column in columns:
            cell = cells.setdefault((place, size, column.name), Cell())
            cell.times.append(statistics.median(one[column.name] for one in rounds))
            cell.effects.append(statistics.median(math.log(one[column.name] / one[columns[0].name]) for one in rounds))


def _place(probe: Handoff) -> str:
    measured = probe.measure()
    return "" if measured is None else "far" if measured > FAR else "near"


def _page(protocols: Cells, buffers: Cells, small: list[int], large: list[int], options: argparse.Namespace) -> str:
    machine = this_machine()
    lines = [
        "# The protocols over size, and shared buffers",
        "",
        "Two questions that [the engine's page](../engine.md#protocols) leaves to measurement: is there on a CPU a",
        "size from which on one protocol is better than another, as there is on a GPU, and from which size on do",
        "buffers that peers read in place pay? Figures of different machines must not be compared with each other.",
        "",
        f"{machine.cpu_model}, {machine.num_cores} cores, kernel {machine.kernel};",
        f"{datetime.datetime.now(datetime.timezone.utc):%Y-%m-%d}; ringtree {ringtree.__version__}; 2 pinned ranks,",
        f"all_reduce float32 sum, out of place; {options.launches} launches of {ROUNDS} rounds. Command:",
        f"`PYTHONPATH=tools python -m bench.protocols docs/benchmarks/protocols.md --launches {options.launches}`.",
        "A ratio above 1 is slower than the first column; in brackets the interval over launches. Sizes with fewer",
        f"than {LEAST_LAUNCHES} launches in a placement are left out there.",
        "",
        "## Simple, ll, ll128",
        "",
        *_tables(protocols, PROTOCOLS, small),
        "## Shared buffers",
        "",
        *_tables(buffers, BUFFERS, large),
    ]
    return "\n".join(lines).rstrip() + "\n"


def _tables(cells: Cells, columns: list[Column], sizes: list[int]) -> list[str]:
    lines: list[str] = []
    for place in ("near", "far"):
        rows = []
        for size in sizes:
            found = [cells.get((place, size, column.name), Cell()) for column in columns]
            if len(found[0].times) >= LEAST_LAUNCHES:
                first = f"{statistics.median(found[0].times) * 1e6:.3g} µs"
                rows.append(f"| {format_size(size)} | {first} | " + " | ".join(map(_ratio, found[1:])) + " |")
        if rows:
            names = " | ".join(column.name for column in columns)
            lines += [f"### Cores {place}", "", f"| size | {names} |", "|---|" + "---|" * len(columns), *rows, ""]
    return lines


def _ratio(cell: Cell) -> str:
    interval = typical_interval(cell.effects)
    return f"{math.exp(interval.centre):.2f} ({math.exp(interval.low):.2f} – {math.exp(interval.high):.2f})"


if __name__ == "__main__":
    main()
