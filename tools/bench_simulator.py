"""How fast the simulator's core is: events a second, and how that grows with ranks, slices and channels.

    PYTHONPATH=tools python -m bench_simulator > docs/benchmarks/simulator.md

For: `make bench-sim`. Not for: how long the simulated calls take, nor tests: nothing here passes or fails.

A case is a process of its own, so that its peak memory is. Times are of the processor, so that what else runs on the
machine lengthens them less; the core uses one thread.
"""

from __future__ import annotations

import argparse
import json
import resource
import subprocess
import sys
import time
from dataclasses import asdict, dataclass, replace
from datetime import datetime, timezone

from generated import machine_and_versions

from ringtree.measure.environment import capture
from ringtree.schedules.schedule import schedule
from ringtree.simulate.cluster import load_cluster
from ringtree.simulate.run import Simulator
from ringtree.units import format_size

CLUSTER = "dgx-h100"
COMMAND = "make bench-sim"
HEADER = "| case | lanes | setup | run | events | events/s | peak memory |"


@dataclass(frozen=True)
class Case:
    """An all_reduce on hosts of the cluster. `slot_bytes`: 0 for the cluster's."""

    algorithm: str
    ranks: int
    size_bytes: int
    channels: int
    slot_bytes: int = 0


@dataclass(frozen=True)
class Outcome:
    """Seconds of the processor: until the schedule and the network are there, and of the simulation."""

    setup_seconds: float
    seconds: float
    events: int
    lanes: int
    peak_bytes: int


MB = 1 << 20
GROWTH = {
    "by ranks": [Case("double_tree", ranks, 64 * MB, 16) for ranks in (1024, 4096, 16384, 65536)]
    + [Case("ring", 1024, 1024 * MB, 16)],
    "by slices": [Case("double_tree", 4096, 64 * MB, 16, slot << 10) for slot in (512, 256, 128, 64)],
    "by channels": [Case("double_tree", 4096, 64 * MB, channels) for channels in (1, 4, 16)],
}


def run(case: Case) -> Outcome:
    """Simulates one case, once."""
    begin = time.process_time()
    cluster = load_cluster(CLUSTER)
    simulator = Simulator(schedule("all_reduce", case.algorithm, case.ranks))
    sources, targets = simulator.pairs()
    network = cluster.network(list(zip(sources, targets, strict=True)), case.ranks // 8, 8, "simple")
    protocol = cluster.protocol("simple")
    if case.slot_bytes:
        protocol = replace(protocol, slot_bytes=case.slot_bytes)
    ready = time.process_time()
    found = simulator.run(network, protocol, count=case.size_bytes // 4, item_size=4, channels=case.channels)
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss << 10
    return Outcome(ready - begin, time.process_time() - ready, found.events, found.lanes, peak)


def page() -> str:
    """The page, after running all cases."""
    origin = capture(emulated=False, rank_defaults={})
    lines = [
        "# The simulator's speed",
        "",
        f"- date: {datetime.now(timezone.utc):%Y-%m-%dT%H:%M:%SZ}",
        f"- command: `{COMMAND}`",
        *machine_and_versions(origin),
        "",
        f"all_reduce on `{CLUSTER}`, 8 ranks a host, protocol simple; each case once, in a process of its own. Seconds",
        "are those of the processor: setup makes the schedule and the network, run is the simulation. Lanes: of those",
        "that are alike one is simulated; a call has 2 (ring) or 4 (double_tree) a rank and channel. Events: slices",
        "done and messages that crossed; a step has about half as many slices as slots.",
    ]
    for title, cases in GROWTH.items():
        lines += ["", f"## Growth {title}", "", HEADER, "|---|" + "---:|" * 6]
        for case in cases:
            told = subprocess.run(
                [sys.executable, "-m", "bench_simulator", "--case", json.dumps(asdict(case))],
                stdout=subprocess.PIPE,
                check=True,
                text=True,
            )
            lines.append(row(case, Outcome(**json.loads(told.stdout))))
            print(lines[-1], file=sys.stderr)
    return "\n".join(lines) + "\n"


def row(case: Case, found: Outcome) -> str:
    slots = f", slots of {format_size(case.slot_bytes)}" if case.slot_bytes else ""
    channels = f"{case.channels} channel{'s' if case.channels > 1 else ''}"
    name = f"{case.algorithm}, {case.ranks:,} ranks, {format_size(case.size_bytes)}, {channels}{slots}"
    return (
        f"| {name} | {found.lanes:,} | {found.setup_seconds:.2f} s | {found.seconds:.2f} s | {found.events:,} "
        f"| {found.events / found.seconds / 1e6:.2f} M | {found.peak_bytes / 1e9:.2f} GB |"
    )


def main() -> None:
    """Prints the page, or with --case one outcome as JSON."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--case", type=lambda text: Case(**json.loads(text)), help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.case is not None:
        print(json.dumps(asdict(run(options.case))))
    else:
        print(page(), end="")


if __name__ == "__main__":
    main()
