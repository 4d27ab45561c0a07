"""Near and far: finding the placements of a run's cores in its hand-off probes.

For: telling which visits ran under the same conditions. Not for: taking the probes, choosing what is compared.

In a virtual machine the hypervisor moves the cores that ranks run on, now next to each other (a cache line changes
hands in tens of nanoseconds), now on different sockets (hundreds). Times of the two don't average. The placements of a
run are found where its probes leave a gap: on the sorted logarithms, widest gap first, a ratio of at least MIN_RATIO
with hardly a probe inside it (a probe that was disturbed, or during which the cores moved, may lie anywhere), and
enough probes for a placement on either side of it, so that a few that were preempted don't make one.
"""

from __future__ import annotations

import math
from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass

MIN_RATIO = 1.6  # of neighbouring placements; one placement's probes scatter by less
MIN_SHARE, MIN_PROBES = 0.05, 3  # of a placement
STRAY_SHARE = 0.02  # of the probes may lie inside a gap


@dataclass(frozen=True)
class Placements:
    """The placements of a run: hand-off times, in seconds, that separate them, ascending; none for one placement."""

    thresholds: tuple[float, ...] = ()

    def __post_init__(self) -> None:
        if not all(0.0 < threshold < math.inf for threshold in self.thresholds):
            raise ValueError("hand-off times are positive and finite")
        if list(self.thresholds) != sorted(set(self.thresholds)):
            raise ValueError(f"thresholds ascend, not {self.thresholds}")

    @property
    def names(self) -> tuple[str, ...]:
        """Names from the shortest hand-off to the longest; none if there is one placement, which then has none."""
        between = len(self.thresholds) - 1
        if between < 0:
            return ()
        middle = [f"middle {i}" for i in range(1, between + 1)]
        return ("near", *middle, "far")

    def of(self, handoff: float) -> str:
        """Returns the name of the placement that a probe (seconds) belongs to; "" if there is one placement."""
        if not 0.0 < handoff < math.inf:
            raise ValueError(f"a hand-off time is positive and finite, not {handoff}")
        return self.names[bisect_right(self.thresholds, handoff)] if self.thresholds else ""

    def of_visit(self, before: float, after: float) -> str | None:
        """Returns the placement of a visit from its probes before and after; None if the cores moved in between."""
        first, last = self.of(before), self.of(after)
        return first if first == last else None


def split_placements(handoffs: Sequence[float]) -> Placements:
    """Returns the placements that the probes of a whole run show (`handoffs`: seconds, in any order, maybe none).

    Raises ValueError for a time that is not positive and finite.
    """
    if not all(0.0 < handoff < math.inf for handoff in handoffs):
        raise ValueError("hand-off times are positive and finite")
    logs = sorted(math.log(handoff) for handoff in handoffs)
    n = len(logs)
    least, strays = max(MIN_PROBES, math.ceil(MIN_SHARE * n)), math.floor(STRAY_SHARE * n)
    # A candidate: a span of neighbours with at most `strays` probes inside, parted at the widest gap within.
    widths: dict[int, float] = {}
    for first in range(n - 1):
        if logs[min(first + strays + 1, n - 1)] - logs[first] < math.log(MIN_RATIO):
            continue  # as almost everywhere: no gap starts here
        for last in range(first + 1, min(first + strays + 2, n)):
            width = logs[last] - logs[first]
            if width >= math.log(MIN_RATIO):
                cut = max(range(first + 1, last + 1), key=lambda i: logs[i] - logs[i - 1])
                widths[cut] = max(width, widths.get(cut, 0.0))
                break
    cuts = [0, n]
    for cut in sorted(widths, key=lambda i: (-widths[i], i)):
        at = bisect_right(cuts, cut)
        if cut - cuts[at - 1] >= least and cuts[at] - cut >= least:
            cuts.insert(at, cut)
    return Placements(tuple(math.exp((logs[cut - 1] + logs[cut]) / 2) for cut in cuts[1:-1]))
