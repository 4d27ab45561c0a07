"""The rates of somebody's table of trainings, by what they are of: a model on some ranks under an arm.

For: rows that repeat a configuration, which are runs of it (launches, in ringtree's word), and rows that stand alone.
Not for: what is claimed of them and drawn (imported.py).

A row repeats another if both say the same of model, ranks, arm and all else that tells configurations apart; what may
differ is the number of the run, and what was measured. A column beside the rate was measured if its heading says so (a
loss, a share of the peak); any other tells configurations apart ("batch": 8 and 16; "compress": 0.01 and 0.1). Where
there are columns that could not be read, rows may differ in those, so none repeats another.
"""

from __future__ import annotations

import math
import re
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from ringtree.audit.repeats import counts_runs, num_runs
from ringtree.logs import Side, Table
from ringtree.logs.tables.measures import THROUGHPUT
from ringtree.logs.tables.plan import MAX_UNREAD, UNREAD
from ringtree.logs.words import algorithm_in, collective_in, library_in, protocol_in
from ringtree.units import count

_WHICH_RUN = re.compile(
    r"(?:^|[ _])(?:run|launch|repeat|repetition|replicate|trial|seed)(?:[ _]?(?:id|no|nr|number|index))?$",
    re.IGNORECASE,
)
_MEASURED = re.compile(
    r"loss|perplexity|accuracy|utili[sz]ation|speed-?up|efficiency|throughput|bandwidth|latency|overhead|memory"
    r"|(?:^|[ _(])(?:ppl|acc|[mh]fu|t?flops|watts|power|energy|seconds|time|duration)(?:$|[ _/)])|%",
    re.IGNORECASE,
)
# What the heading of an arm may say, too: it is then the arm's, in which places are compared.
_OF_ARMS = {
    "collective": collective_in,
    "algorithm": algorithm_in,
    "protocol": protocol_in,
    "library": library_in,
}
_FIELDS = (*_OF_ARMS, "num_hosts", "library_version", "tool", "tool_version", "hosts", "devices")


@dataclass(frozen=True)
class Runs:
    """The usable rates of one place, in the table's order. `of`: what else tells its configuration apart, but for the
    arm: names and values. `stated`: how many runs a single rate is of, as the table says; None: it does not."""

    model: str
    num_ranks: int
    arm: str
    of: frozenset[tuple[str, str]]
    rates: tuple[float, ...]
    stated: int | None

    @property
    def num_launches(self) -> int | None:
        return len(self.rates) if len(self.rates) > 1 else self.stated


def is_training(table: Table) -> bool:
    """Says whether a table is of one configuration's rates, one for each run."""
    if "model" not in table.settings or not table.num_ranks or not table.rows:
        return False
    return (
        all(len(row.sides) == 1 and THROUGHPUT in dict(row.sides[0].others) for row in table.rows)
        and len({_of_row(table, index) for index in range(len(table.rows))}) == 1
    )


def may_repeat(tables: Sequence[Table]) -> bool:
    """Says whether rows that seem to repeat each other do: not if they have columns that could not be read."""
    return all(
        sum(len(table.rows) for table in same) == 1 or not any(map(_has_unread, same))
        for same in _by_place(tables).values()
    )


def runs_of(tables: Sequence[Table]) -> list[Runs]:
    """Returns the places that have a usable rate, in their order. Tables whose settings differ in the number of the run
    alone are of one place."""
    found = []
    for (place, of), same in _by_place(tables).items():
        sides = [side for table in same for row in table.rows for side in row.sides if is_usable(rate_of(side))]
        if sides:
            found.append(Runs(*place, of, tuple(map(rate_of, sides)), num_runs(sides[0])))
    return found


def labels_of(runs: Sequence[Runs]) -> list[str]:
    """Returns the model of each, and in what its configuration differs from others of that model on as many ranks."""
    same: dict[tuple[str, int], list[Runs]] = defaultdict(list)
    for one in runs:
        same[one.model, one.num_ranks].append(one)
    labels = []
    for one in runs:
        common = frozenset.intersection(*(other.of for other in same[one.model, one.num_ranks]))
        labels.append(", ".join([one.model, *(f"{name} {value}" for name, value in sorted(one.of - common))]))
    return labels


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


def _by_place(
    tables: Sequence[Table],
) -> dict[tuple[tuple[str, int, str], frozenset[tuple[str, str]]], list[Table]]:
    places = defaultdict(list)
    for table in tables:
        places[_place(table), frozenset(_of_table(table)) | _of_row(table, 0)].append(table)
    return dict(places)


def _place(table: Table) -> tuple[str, int, str]:
    return table.settings["model"], table.num_ranks or 1, table.settings.get("arm", "default")


def _of_table(table: Table) -> Iterator[tuple[str, str]]:
    """What the table says of its configuration, without its place."""
    arm = table.settings.get("arm", "")
    for name, value in table.settings.items():
        if name not in ("model", "arm", UNREAD) and not _WHICH_RUN.search(name):
            yield name, value
    for name in _FIELDS:
        value = getattr(table, name)
        if value and not (name in _OF_ARMS and _OF_ARMS[name](arm) == value):
            yield name.removeprefix("num_"), ", ".join(value) if isinstance(value, list) else str(value)
    for name, value in table.environment.items():
        if not any(f"{name}={value}" in heading for heading in table.columns.values()):
            yield name, value


def _of_row(table: Table, index: int) -> frozenset[tuple[str, str]]:
    """What a row says of its configuration: sizes and words, and the numbers beside its rate that measure nothing."""
    row, measured = table.rows[index], dict(table.columns)
    said = {"size": row.size_bytes, "count": row.count, "dtype": row.dtype, "op": row.op, "root": row.root}
    numbers = {
        name: f"{printed.value:g}"
        for name, printed in row.sides[0].others
        if not (name in measured or name.startswith("±") or _MEASURED.search(name) or _WHICH_RUN.search(name))
        and not counts_runs(name)
    }
    return frozenset([*((name, str(value)) for name, value in said.items() if value is not None), *numbers.items()])


def _has_unread(table: Table) -> bool:
    """Says whether it has columns that could not be read, but for the name of the run. The list of many is cut."""
    names = [name for name in table.settings.get(UNREAD, "").split(", ") if name]
    return len(names) >= MAX_UNREAD or not all(_WHICH_RUN.search(name) for name in names)
