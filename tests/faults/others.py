"""How much of the machine others took while something was timed, and which bars can be judged then.

For: tests, which also run beside other work. Not for: `make faults`, which judges whatever it measures.
"""

from __future__ import annotations

import os
import time
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from faults.bars import Bar, misses
from faults.trial import Trial

QUIET_SHARE = 0.1  # of all cores
PATIENCE_S = 5.0  # in place of bars of a tenth of a second to one second


class Others:
    """`with Others() as others:` … `others.share`: of the cores' time, what neither this process nor its children,
    those that have ended, took."""

    share = 0.0

    def __enter__(self) -> Others:
        self._start = _seconds()
        return self

    def __exit__(self, *_: object) -> None:
        self.share = self.so_far()

    def so_far(self) -> float:
        wall, busy, own = (end - start for end, start in zip(_seconds(), self._start, strict=True))
        return max(busy - own, 0.0) / (wall * (os.cpu_count() or 1))


def _seconds() -> tuple[float, float, float]:
    """The clock, what all cores have worked, what this process and its children have."""
    ticks = [int(word) for word in Path("/proc/stat").read_text().split("\n", 1)[0].split()[1:9]]
    busy = (sum(ticks) - ticks[3] - ticks[4]) / os.sysconf("SC_CLK_TCK")  # all but idle and waiting for disks
    return time.monotonic(), busy, sum(os.times()[:4])


def patient(bar: Bar) -> Bar:
    """The same errors and names, at any time that is not a hang."""
    within_s = None if bar.within_s is None else max(PATIENCE_S, bar.within_s)
    return replace(bar, within_s=within_s, median_s=None, warns_s=None if bar.warns_s is None else bar.warns_s + 2.0)


def judged(bar: Bar, trials: Sequence[Trial], others_share: float) -> tuple[list[str], list[str]]:
    """What is wrong, and what is late but cannot be held against us: others took too much of the machine."""
    missed = misses(bar, trials)
    if others_share <= QUIET_SHARE:
        return missed, []
    return misses(patient(bar), trials), missed
