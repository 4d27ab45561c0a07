"""What a contender measured: times by cell, a value a launch.

For: from observations, of stored runs and of logs alike, to what can be compared. Not for: reading them (sources.py),
judging (judging.py).
"""

from __future__ import annotations

import statistics
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import NamedTuple

from ringtree.judge.phrases import placement_phrase
from ringtree.results import Observation
from ringtree.results.observation import IN_PLACE, NOT_STATED, OUT_OF_PLACE

BUFFERS = (OUT_OF_PLACE, IN_PLACE, NOT_STATED)  # other places are placements of the cores


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
class SeriesCell:
    """One size of one series. `launches`: seconds, a value for each fresh start of the program.

    `iterations`: seconds of single iterations, where the source has them for its only launch. `derived`: its only time
    is size/algbw, and lies between these by the rounding of what was printed. `wrong`: why its times count for nothing.
    """

    launches: list[float] = field(default_factory=list)
    iterations: tuple[float, ...] = ()
    derived: tuple[float, float] | None = None
    wrong: str | None = None


@dataclass
class Series:
    """One arm of one contender. `label`: what tells it from the contender's other series of the same key."""

    key: Key
    label: str
    cells: dict[int, SeriesCell] = field(default_factory=dict)
    facts: dict[str, str] = field(default_factory=dict)


def series_of(observations: Iterable[Observation], notes: list[str]) -> list[Series]:
    """Returns the series of `observations`; says in `notes` which sizes a launch has more than once."""
    found: dict[tuple[Key, str], Series] = {}
    of_cells: dict[tuple[Key, str, int], list[Observation]] = {}
    for one in observations:
        if one.size_bytes is None or (seconds_of(one) is None and one.wrong is None):
            continue
        origin = one.origin
        place = one.place if one.place in BUFFERS else placement_phrase(one.place)
        key = Key(origin.collective, origin.num_ranks, one.dtype, one.op, place)
        series = found.setdefault((key, origin.label), Series(key, origin.label))
        for name in origin.compared:
            value = origin.facts.get(name, "")
            series.facts[name] = value if series.facts.get(name, value) == value else "various"
        of_cells.setdefault((key, origin.label, one.size_bytes), []).append(one)
    repeated: dict[tuple[str, str], int] = {}
    derived = {one.origin.called: None for of in of_cells.values() for one in of if one.derived_seconds is not None}
    notes.extend(f"{called}: it prints no times, so they are derived: size/algbw" for called in derived)
    for (key, label, size_bytes), seen in of_cells.items():
        launches: dict[object, list[float]] = {}
        for one in seen:
            seconds = seconds_of(one)
            if seconds is not None:
                launches.setdefault(one.launch_key, []).append(seconds)
                if len(launches[one.launch_key]) == 2:
                    table = (one.origin.source, one.origin.called)
                    repeated[table] = repeated.get(table, 0) + 1
        found[key, label].cells[size_bytes] = SeriesCell(
            [statistics.median(values) for values in launches.values()],
            tuple(map(float, seen[0].samples)) if len(seen) == 1 else (),
            ends[1:] if len(seen) == 1 and (ends := seen[0].derived_seconds) is not None else None,
            next((why for one in seen if (why := one.wrong or one.origin.failed) is not None), None),
        )
    for (_, called), number in repeated.items():
        notes.append(f"{called}: {number} sizes stand there more than once; their medians are compared")
    return list(found.values())


def seconds_of(one: Observation) -> float | None:
    """Returns the time of an observation, as measured or else derived from its rate."""
    derived = one.derived_seconds
    return one.seconds if derived is None else derived[0]


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
