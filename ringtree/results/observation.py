"""One observation: a time or a rate of one collective at one size, with where it is from.

For: the one shape in which stored runs and other people's logs reach whoever compares, draws or judges figures. Not
for: what is stored (records.py), reading logs (ringtree.logs), judging.

It holds raw samples, or figures as they were printed, with their unit: how far a printed figure may be off is half a
unit of its last place.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from enum import Enum
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

OUT_OF_PLACE, IN_PLACE, NOT_STATED = "out_of_place", "in_place", ""

_PLACES = tuple(10.0**-places for places in range(20))
_DIGITS = re.compile(r"[-+]?\d*(?:\.(\d*))?(?:[eE]([-+]?\d+))?")


class Printed(NamedTuple):
    """A number as it was printed, and what one of its column's unit is in seconds, bytes/s or bytes (1 for counts)."""

    text: str
    unit: float = 1.0

    @property
    def value(self) -> float:
        """Returns the number in seconds, bytes/s, bytes or a count."""
        return float(self.text) * self.unit

    @property
    def resolution(self) -> float:
        """Returns one unit of the last printed place, in the unit of `value`: "1.50" µs gives 1e-8."""
        text, unit = self
        whole, point, decimals = text.partition(".")
        if whole.isdecimal() and (decimals.isdecimal() or not point) and len(decimals) < len(_PLACES):
            return _PLACES[len(decimals)] * unit  # nearly all of them
        found = _DIGITS.fullmatch(text.strip())
        if found is None:
            return 0.0
        fraction, exponent = found.groups()
        return float(10.0 ** (int(exponent or 0) - len(fraction or ""))) * unit


class SizeMeans(str, Enum):
    """Which bytes a size counts; the values are for people."""

    TOTAL = "bytes of all blocks together"  # what size/time takes, as nccl-tests does
    ONE_BLOCK = "bytes of one rank's block"
    ONE_PEER = "bytes that a rank sends to one other"

    def total_bytes(self, size_bytes: float, num_ranks: int | None) -> float | None:
        """Returns the size that belongs to size/time; None if that needs a number of ranks that is not known.

        A rank's buffer holds a block for each rank, its own too: n times the block, also where a block goes to a peer.
        """
        if self is SizeMeans.TOTAL:
            return size_bytes
        return None if num_ranks is None else size_bytes * num_ranks


@dataclass(frozen=True)
class Origin:
    """What observations of one arm of a run, or of one table of a log, share. None and "": the source does not say.

    `source`: a run's id or a file; `table`: the line at which the table begins, 0 in a run; `called`: what notes call
    it. `label`: what tells it from others: the arm, or the algorithm and protocol that were forced. `facts`: all that
    is said of it, in words; `compared`: those that two runs should share. `failed`: why nothing of it counts.
    """

    source: str
    called: str
    collective: str | None
    num_ranks: int | None
    num_hosts: int | None
    label: str
    table: int = 0
    size_means: SizeMeans = SizeMeans.TOTAL
    facts: Mapping[str, str] = field(default_factory=dict)
    compared: tuple[str, ...] = ()
    failed: str | None = None


@dataclass(frozen=True, slots=True)
class Observation:
    """One cell of one launch. `place`: out_of_place, in_place, or the placement of a run's cores.

    Either `samples` (seconds a call of single iterations, the slowest rank's) or printed figures, or both. `launch`
    numbers fresh starts, None: the source is one start, or does not say. `executed`: the algorithm and protocol that
    ran, as far as that is told. `wrong`: why it counts for nothing. `line`: of the file, 0 without one.
    """

    origin: Origin
    size_bytes: int | None
    place: str
    dtype: str | None
    op: str | None
    time: Printed | None = None
    algbw: Printed | None = None
    busbw: Printed | None = None
    num_wrong: Printed | None = None
    samples: Sequence[float] | NDArray[np.float64] = ()
    launch: int | None = None
    executed: str = ""
    wrong: str | None = None
    line: int = 0

    @property
    def seconds(self) -> float | None:
        """The time of a call: as printed, else the median of the samples; None without a positive one."""
        if self.time is not None:
            seconds = self.time.value
        else:
            seconds = float(np.median(self.samples)) if len(self.samples) else 0.0
        return seconds if 0 < seconds < float("inf") else None

    @property
    def derived_seconds(self) -> tuple[float, float, float] | None:
        """The time that follows from algbw where none is printed: size/algbw, its least and its largest value by the
        rounding of what is printed; None where there is a time, no algbw, or one that may be 0."""
        total = self.origin.size_means.total_bytes(self.size_bytes or 0, self.origin.num_ranks)
        if self.seconds is not None or self.algbw is None or not total:
            return None
        half = self.algbw.resolution / 2
        low, rate, high = self.algbw.value - half, self.algbw.value, self.algbw.value + half
        return (total / rate, total / high, total / low) if 0 < low <= high < float("inf") else None

    @property
    def launch_key(self) -> tuple[int, int | None]:
        """What tells fresh starts apart, as long as these observations live; tables of one line are several."""
        return id(self.origin), self.launch
