"""The shape of a view: arms that answer one question, by size and place.

For: everything that a page or a figure shows, computed once. Not for: computing it (cells.py, of_run.py, of_logs.py),
drawing it.

Sizes are bytes, times seconds, rates bytes/s; whoever draws scales them for reading.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, is_dataclass
from typing import Any, NamedTuple

from pydantic import BaseModel

from ringtree.judge.comparison import Crossover, Fastest
from ringtree.show.views.rounding import rounded


class Time(NamedTuple):
    """Seconds a call. `low`, `high`, `label`: the interval; None where one launch, or a log, has none."""

    median: float
    low: float | None = None
    high: float | None = None
    label: str | None = None
    launches: int = 1


class Ratio(NamedTuple):
    """Time over that of the reference. `verdict` None: of single runs, of which nothing can be claimed."""

    ratio: float
    low: float | None = None
    high: float | None = None
    verdict: str | None = None
    label: str | None = None


@dataclass
class ViewCell:
    """One arm at one size and place. `printed`: figures of a log as it prints them; `derived`: busbw is none of them.

    `share`: of the limit; `found`: codes of the audit's findings about `line`; `by_launch`: (launch, from 1, seconds).
    """

    arm: str
    size: int | None
    place: str
    time: Time | None = None
    algbw: float | None = None
    busbw: float | None = None
    derived: bool = False
    wrong: str | None = None
    executed: list[str] = field(default_factory=list)
    versus: Ratio | None = None
    share: float | None = None
    by_launch: list[tuple[int, float]] = field(default_factory=list)
    quantiles: list[float | None] = field(default_factory=list)
    line: int = 0
    printed: dict[str, str] = field(default_factory=dict)
    found: list[str] = field(default_factory=list)


class Place(NamedTuple):
    """A placement of the cores, or in and out of place; `title` says it in words."""

    name: str
    title: str


class ViewRow(NamedTuple):
    """A size at a place."""

    size: int
    place: str


class LimitLine(NamedTuple):
    """The least time that something permits: (size, seconds, busbw) by size. `place` None: at every place."""

    name: str
    place: str | None
    points: list[tuple[int, float | None, float | None]]


@dataclass
class View:
    """`kind`: "run" or "log". `files`: those of logs. `series`: by arm what it is called over several numbers of ranks.

    `margin`: differences below it count as none; None where nothing is judged. `effects`: of a design's factors, as a
    table of texts, its headings first.
    """

    kind: str
    id: str
    heading: str
    subject: str = ""
    files: list[str] = field(default_factory=list)
    collective: str = ""
    op: str = ""
    dtype: str = ""
    num_ranks: int | None = None
    num_hosts: int | None = None
    machine: str = ""
    emulated: bool = False
    simulated: bool = False
    margin: float | None = None
    reference: str = ""
    arms: list[str] = field(default_factory=list)
    series: dict[str, str] = field(default_factory=dict)
    verdicts: list[str] = field(default_factory=list)
    caveats: list[str] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    left_out: dict[str, str] = field(default_factory=dict)
    places: list[Place] = field(default_factory=list)
    rows: list[ViewRow] = field(default_factory=list)
    cells: list[ViewCell] = field(default_factory=list)
    limits: list[LimitLine] = field(default_factory=list)
    effects: list[list[str]] = field(default_factory=list)
    crossovers: list[Crossover] = field(default_factory=list)
    fastest: list[Fastest] = field(default_factory=list)
    slowest_ranks: dict[str, list[float]] = field(default_factory=dict)
    findings: list[dict[str, str]] = field(default_factory=list)
    provenance: list[tuple[str, str]] = field(default_factory=list)

    def cell(self, size: int, arm: str, place: str) -> ViewCell | None:
        """Returns the first cell of an arm at a size and place."""
        wanted = (size, arm, place)
        return next((one for one in self.cells if (one.size, one.arm, one.place) == wanted), None)

    def sizes(self, place: str) -> list[int]:
        """Returns the sizes that are shown at a place."""
        return [row.size for row in self.rows if row.place == place]


def as_json(view: View) -> dict[str, Any]:
    """Returns a view as the page reads it: rounded, and cells, which may be thousands, without what is empty."""
    return {**{name: _plain(value) for name, value in vars(view).items()}, "cells": [_full(one) for one in view.cells]}


def _full(record: Any) -> dict[str, Any]:
    """Returns the fields that are not empty; size and place, which may be 0 and "", are there all the same."""
    values = vars(record) if is_dataclass(record) else record._asdict()
    kept = {name: value for name, value in values.items() if value or name in ("size", "place")}
    return {name: _full(one) if hasattr(one, "_asdict") else _plain(one) for name, one in kept.items()}


def _plain(value: Any) -> Any:
    if isinstance(value, float):
        return rounded(value)
    if isinstance(value, BaseModel):
        return value.model_dump(mode="json")
    if hasattr(value, "_asdict"):
        return _plain(value._asdict())
    if isinstance(value, Mapping):
        return {name: _plain(one) for name, one in value.items()}
    if isinstance(value, Sequence) and not isinstance(value, str):
        return [_plain(one) for one in value]
    return value
