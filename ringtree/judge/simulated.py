"""What is said of a simulated run: which arm is the fastest, without statistics.

For: the verdict lines of runs that were simulated. Not for: simulating (ringtree.simulate), measured runs (words.py):
a simulation gives the same time again, so it has neither launches to compare nor intervals.
"""

from __future__ import annotations

from itertools import groupby

from ringtree.judge.comparison import Comparison
from ringtree.judge.phrases import size_span

CAVEAT = "simulated, not measured: {}; every time here is what the description and the model say"


def simulated_lines(comparison: Comparison) -> list[str]:
    """Returns a line that names the fastest arm by size; none for a single arm."""
    best = []
    for size_bytes in comparison.sizes:
        timed = [cell for cell in comparison.cells if cell.size_bytes == size_bytes and cell.time is not None]
        if timed:
            best.append((size_bytes, min(timed, key=lambda cell: cell.time.median if cell.time else 0.0).arm))
    if len(comparison.arms) < 2 or not best:
        return []
    spans = [(arm, [size for size, _ in group]) for arm, group in groupby(best, key=lambda one: one[1])]
    return ["fastest, simulated: " + "; ".join(f"{arm} {size_span(sizes)}" for arm, sizes in spans)]
