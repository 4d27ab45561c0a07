"""What a contender measured: times by cell, a value a launch.

For: one shape for stored runs and for tables of logs. Not for: reading them (sources.py), judging (judging.py).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import NamedTuple


class Key(NamedTuple):
    """What must be alike for two times to be comparable. None and "": the source does not say.

    `place`: out_of_place, in_place, or for the probes' classes of a stored run their name.
    """

    collective: str | None
    num_ranks: int | None
    dtype: str | None
    op: str | None
    place: str


@dataclass
class Cell:
    """One size of one series. `launches`: seconds, a value for each fresh start of the program.

    `iterations`: seconds of single iterations, where the source has them for its only launch. `wrong`: why its times
    count for nothing.
    """

    launches: list[float] = field(default_factory=list)
    iterations: tuple[float, ...] = ()
    wrong: str | None = None


@dataclass
class Series:
    """One arm of one contender. `label`: what tells it from the contender's other series of the same key."""

    key: Key
    label: str
    cells: dict[int, Cell] = field(default_factory=dict)
    facts: dict[str, str] = field(default_factory=dict)
    num_runs: int = 1

    def cell(self, size_bytes: int) -> Cell:
        """Returns the cell of a size, new if need be."""
        return self.cells.setdefault(size_bytes, Cell())


def pairs(baseline: list[Series], other: list[Series]) -> Iterator[tuple[Series, Series]]:
    """Yields the series that answer the same question: of one key; by label where either side has several of that key.

    Of one key and one series on each side the labels may differ: then they are what is compared.
    """
    for key in dict.fromkeys(series.key for series in baseline):
        here, there = ([one for one in side if one.key == key] for side in (baseline, other))
        if len(here) == len(there) == 1:
            yield here[0], there[0]
            continue
        by_label = {one.label: one for one in there}
        for one in here:
            if one.label in by_label:
                yield one, by_label[one.label]
