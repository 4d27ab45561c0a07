"""docs/benchmarks/protocols.md: the protocols over size, and buffers that peers read in place against ordinary ones.

    PYTHONPATH=tools python -m bench.protocols docs/benchmarks/protocols.md [--launches 8] [--largest 16M]

For: the two questions that the engine's page leaves to measurement, by the engine's workers alone, 2 pinned ranks; the
visits, placements and verdicts are those of the other pages. Not for: other libraries (parts.py).
"""

from __future__ import annotations

import argparse
import tempfile
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from bench.effects import World
from bench.page import shown_places
from bench.parts import chosen_cores
from bench.tables import size_table
from ringtree.measure.recording import run_comparison
from ringtree.measure.request import Request, make_plan
from ringtree.stats import MARGIN
from ringtree.units import count, parse_size

RANKS = 2
CELL_SECONDS = 0.1  # of a column at a size in a launch
PROTOCOLS = tuple(
    f"native:{name}/{protocol}" for name in ("one_shot", "two_shot") for protocol in ("simple", "ll128", "ll")
)
# The first is what the others are compared with.
BUFFERS = ("native:two_shot/simple/64K", "native:two_shot/simple/64K/shared", "native:one_shot/simple/64K/shared")


def main() -> None:
    """Measures both tables and writes the page."""
    parser = argparse.ArgumentParser()
    parser.add_argument("page", type=Path)
    parser.add_argument("--launches", type=int, default=8)
    parser.add_argument("--largest", type=parse_size, default=parse_size("16M"))
    options = parser.parse_args()
    chosen_cores()
    small = [8 << shift for shift in range(0, 14)]  # 8 B to 64 KB: beyond, ll and ll128 take many times as long
    large = [4096 << shift for shift in range(40) if 4096 << shift <= options.largest]
    protocols = _measured("native-protocols", PROTOCOLS, small, options.launches)
    buffers = _measured("native-buffers", BUFFERS, large, options.launches)
    options.page.write_text(_page(protocols, buffers))


def _measured(name: str, arms: Sequence[str], sizes: Sequence[int], num_launches: int) -> World:
    """All launches of a table, whose columns are the arms."""
    listed = ",".join(map(str, sizes))
    request = Request(ranks=RANKS, sizes=listed, arms=",".join(arms), launches=num_launches, seed=1, reference=arms[0])
    plan = make_plan(request).model_copy(update={"cell_budget": CELL_SECONDS})
    with tempfile.TemporaryDirectory() as runs:
        stored = run_comparison(plan, Path(runs), lambda launch, report: None)
    return World(replace(stored, run=stored.run.model_copy(update={"run_id": name})))


def _page(protocols: World, buffers: World) -> str:
    origin = protocols.run.provenance
    lines = [
        "# The protocols over size, and shared buffers",
        "",
        "Two questions that [the engine's page](../engine.md#protocols) leaves to measurement: is there on a CPU a",
        "size from which on one protocol is better than another, as there is on a GPU, and from which size on do",
        "buffers that peers read in place pay? Figures of different machines must not be compared with each other.",
        "",
        f"{origin.cpu_model}, {count(len(origin.affinity), 'core')}, kernel {origin.kernel};",
        f"{protocols.run.created_utc[:10]}; ringtree {origin.versions.get('ringtree')}; {RANKS} pinned ranks,",
        f"all_reduce float32 sum, out of place; {count(protocols.num_launches, 'launch')}. Command:",
        f"`PYTHONPATH=tools python -m bench.protocols {' '.join(origin.command[1:])}`.",
        "",
        "Times are medians over launches of the first column's calls. Ratios are time over the first column's, below 1",
        f"faster (95 % interval over launches): ▲ faster beyond ±{100 * MARGIN:g} %, ▼ slower, = equivalent,",
        "? inconclusive, a table's comparisons judged as one family. *n*: launches that count.",
        "",
    ]
    for title, world in (("Simple, ll, ll128", protocols), ("Shared buffers", buffers)):
        lines += [f"## {title}", ""]
        for place in shown_places(world):
            lines += [f"### Cores {place.name or place.column}", "", *size_table(world, place), ""]
    return "\n".join(lines).rstrip() + "\n"


if __name__ == "__main__":
    main()
