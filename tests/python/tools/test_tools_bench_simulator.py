"""A case of the simulator's benchmark, small, and its row.

For: tools/bench_simulator.py. Not for: how fast anything is.
"""

from __future__ import annotations

import bench_simulator
from bench_simulator import Case, Outcome


def test_a_case_says_what_was_simulated() -> None:
    """Channels whose chunks are equal are simulated once, and smaller slots are more slices."""
    one = bench_simulator.run(Case("double_tree", 64, 1 << 20, 1))
    assert one.lanes == 4 * 64 - 2  # each tree's root has one lane
    assert bench_simulator.run(Case("double_tree", 64, 4 << 20, 4)).events == one.events
    assert bench_simulator.run(Case("double_tree", 64, 1 << 20, 1, 8 << 10)).events > one.events
    assert one.peak_bytes > 0


def test_row() -> None:
    row = bench_simulator.row(Case("ring", 1024, 1 << 30, 1, 8 << 10), Outcome(1, 2, 3_000_000, 2048, 5 * 10**8))
    assert row == (
        "| ring, 1,024 ranks, 1 GB, 1 channel, slots of 8 KB | 2,048 | 1.00 s | 2.00 s | 3,000,000 | 1.50 M | 0.50 GB |"
    )
