"""The rates of somebody's table of trainings, by what they are of: a model on some ranks under an arm.

For: rows that repeat a configuration, which are runs of it (launches, in ringtree's word), and rows that stand alone.
Not for: what is claimed of them and drawn (imported.py).

A row repeats another if both say the same of model, ranks, arm and all else that tells configurations apart; what may
differ is the number of the run, and what was measured. A column of whole numbers that is no measure ("batch": 8 and 16)
tells configurations apart; one of others (a loss, a share) was measured.
"""

from __future__ import annotations

import math
import re
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from ringtree.audit.repeats import num_runs
from ringtree.logs import Side, Table
from ringtree.logs.tables.measures import THROUGHPUT
from ringtree.units import count

_WHICH_RUN = re.compile(
    r"(?:^|[ _])(?:run|launch|repeat|repetition|replicate|trial|seed)(?:[ _]?(?:id|no|nr|number|index))?$",
    re.IGNORECASE,
)


@dataclass(frozen=True)
class Runs:
    """The usable rates of one place, in the table's order. `stated`: how many runs a single rate is of, as the table
    says; None: it does not."""

    model: str
    num_ranks: int
    arm: str
    rates: tuple[float, ...]
    stated: int | None

    @property
    def num_launches(self) -> int | None:
        return len(self.rates) if len(self.rates) > 1 else self.stated


def is_training(table: Table) -> bool:
    """Says whether a table is of one configuration's rates, one for each run."""
    if "model" not in table.settings or not table.num_ranks or not table.rows:
        return False
    sides = [side for row in table.rows for side in row.sides]
    return (
        len(sides) == len(table.rows)
        and all(THROUGHPUT in dict(side.others) for side in sides)
        and len({row.size_bytes for row in table.rows}) == 1
        and len({frozenset(_told_apart(table, side)) for side in sides}) == 1
    )


def runs_of(tables: Sequence[Table]) -> list[Runs]:
    """Returns the places that have a usable rate, in their order. Tables whose settings differ in the number of the run
    alone are of one place."""
    places: dict[object, list[Table]] = defaultdict(list)
    for table in tables:
        settings = frozenset((name, value) for name, value in table.settings.items() if not _WHICH_RUN.search(name))
        places[_place(table), settings].append(table)
    found = []
    for same in places.values():
        sides = [side for table in same for row in table.rows for side in row.sides if is_usable(rate_of(side))]
        if sides:
            rates = tuple(map(rate_of, sides))
            found.append(Runs(*_place(same[0]), rates, num_runs(sides[0])))
    return found


def left_out(tables: Sequence[Table]) -> list[str]:
    """Returns a line for each rate that can't be one: 0, negative, not finite."""
    return [
        f"left out: {model}, {count(ranks, 'rank')}, {arm}: its rate is printed as {dict(side.others)[THROUGHPUT].text}"
        for table in tables
        for model, ranks, arm in [_place(table)]
        for row in table.rows
        for side in row.sides
        if not is_usable(rate_of(side))
    ]


def rate_of(side: Side) -> float:
    return dict(side.others)[THROUGHPUT].value


def is_usable(rate: float) -> bool:
    return math.isfinite(rate) and rate > 0


def _place(table: Table) -> tuple[str, int, str]:
    return table.settings["model"], table.num_ranks or 1, table.settings.get("arm", "default")


def _told_apart(table: Table, side: Side) -> Iterator[tuple[str, float]]:
    """Whole numbers beside a rate that are no measures."""
    measured = dict(table.columns)
    for name, printed in side.others:
        measures = name in measured or name.startswith("±") or not printed.value.is_integer()
        if not measures and not _WHICH_RUN.search(name):
            yield name, printed.value
