"""Somebody else's table of a training, as the page of trainings shows it: rates by model, ranks and arm.

For: tables of tokens/s that ringtree.logs reads, beside what the audit says of them. Not for: verdicts: a printed rate
has no interval, however many runs it is of, and a difference between two is not a finding; each is drawn grey.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from typing import Any

from ringtree.audit import AuditRun, Setup
from ringtree.audit.repeats import num_runs
from ringtree.errors import UsageError
from ringtree.judge.runs import SINGLE
from ringtree.logs import Item, Table
from ringtree.logs.storing import Log
from ringtree.logs.tables.measures import THROUGHPUT
from ringtree.show.views.log_arms import finding_row
from ringtree.units import count, format_change

UNIT = "tokens/s"
Cell = dict[str, Any]


class _NoTraining(Exception):
    """What is read is something else: the rest of it need not be."""


def training_tables(log: Log) -> list[Table]:
    """Returns the tables of a log in which all tables are of trainings; none of any other."""
    tables: list[Table] = []

    def take(item: Item) -> None:
        if isinstance(item, Table):
            if not _is_training(item):
                raise _NoTraining
            tables.append(item)

    try:
        log.read(take)
    except _NoTraining:
        return []
    return tables


def imported_data(log: Log, tables: Sequence[Table], setup: Setup | None = None) -> dict[str, Any]:
    """Returns what the page knows of the tables, in the shape that it has of a stored training.

    A rate that is 0, negative or not finite is left out, and a caveat says so. Raises UsageError if no other is left.
    """
    used = [table for table in tables if _is_usable(_rate(table))]
    if not used:
        raise UsageError(f"{log.name}: no rate in it is above 0: there is nothing to draw")
    cells = _with_efficiency([_cell(table) for table in used])
    models, arms, ranks = (list(dict.fromkeys(cell[name] for cell in cells)) for name in ("model", "arm", "num_ranks"))
    reference = "default" if "default" in arms else arms[0]
    _compare(cells, reference)
    hosts = {str(table.num_ranks): table.num_hosts for table in used if table.num_hosts is not None}
    session = AuditRun(setup or Setup())
    session.add_reading(log.name, _keeping(log))
    report = session.finish().files[0]
    verdict, label = _claim(cells)
    return {
        "run": log.name,
        "heading": f"training, as {log.name.rpartition('/')[2]} prints it",
        "verdicts": [
            f"{label}; another run of the same may differ as much" if verdict == "single run" else label,
            *_most(cells, reference),
        ],
        "caveats": [
            *(_left_out(table) for table in tables if not _is_usable(_rate(table))),
            "every difference is grey: it has no interval, so none is shown to be more than noise",
            "efficiency: against the arm's own smallest number of ranks, which is not the same for all arms",
        ],
        "notes": [],
        "findings": [finding_row(one, "") for one in report.findings],
        "models": models,
        "arms": [{"label": arm} for arm in arms],
        "reference": reference,
        "training": {"world_sizes": sorted(ranks)},
        "hosts": hosts,
        "unit": UNIT,
        "rates": "as the table prints them, without an interval",
        "cells": cells,
        "provenance": [("file", log.name), ("columns", ", ".join(sorted({_heading(table) for table in used})))],
    }


def _is_training(table: Table) -> bool:
    return "model" in table.settings and bool(table.num_ranks) and _rate(table) is not None


def _rate(table: Table) -> float | None:
    """The one figure of such a table."""
    if len(table.rows) != 1 or len(table.rows[0].sides) != 1:
        return None
    printed = dict(table.rows[0].sides[0].others).get(THROUGHPUT)
    return None if printed is None else printed.value


def _is_usable(rate: float | None) -> bool:
    return rate is not None and math.isfinite(rate) and rate > 0


def _left_out(table: Table) -> str:
    printed, (model, ranks, arm) = dict(table.rows[0].sides[0].others)[THROUGHPUT], _place(table)
    return f"left out: {model}, {count(ranks, 'rank')}, {arm}: its rate is printed as {printed.text}"


def _heading(table: Table) -> str:
    return dict(table.columns).get(THROUGHPUT, "")


def _place(table: Table) -> tuple[str, int, str]:
    return table.settings["model"], table.num_ranks or 1, table.settings.get("arm", "default")


def _cell(table: Table) -> Cell:
    (model, ranks, arm), rate = _place(table), _rate(table) or 0.0
    num_launches = num_runs(table.rows[0].sides[0])  # None: the table does not say
    return {
        "model": model,
        "num_ranks": ranks,
        "arm": arm,
        "num_launches": num_launches,
        "step": {"num_launches": num_launches, "median": None, "low": None, "high": None},
        "tokens_per_second": rate,
        "tokens_per_second_a_rank": rate / ranks,
        "efficiency": None,
        "disqualified": None,
        "parts": None,
        "versus_reference": None,
    }


def _with_efficiency(cells: list[Cell]) -> list[Cell]:
    for cell in cells:
        same = [one for one in cells if (one["model"], one["arm"]) == (cell["model"], cell["arm"])]
        base = min(same, key=lambda one: int(one["num_ranks"]))
        cell["efficiency"] = cell["tokens_per_second_a_rank"] / base["tokens_per_second_a_rank"]
    return cells


def _compare(cells: Sequence[Cell], reference: str) -> None:
    base = {(one["model"], one["num_ranks"]): one for one in cells if one["arm"] == reference}
    for cell in cells:
        other = base.get((cell["model"], cell["num_ranks"]))
        if cell["arm"] != reference and other is not None:
            verdict, label = _claim([other, cell])
            ratio = other["tokens_per_second"] / cell["tokens_per_second"]  # of times, as verdicts have it
            cell["versus_reference"] = {"ratio": ratio, "low": None, "high": None, "verdict": verdict, "label": label}


def _claim(cells: Iterable[Cell]) -> tuple[str, str]:
    """What can be said of differences between the cells, in a word and in a sentence: nothing, and why."""
    counts = {cell["num_launches"] for cell in cells}
    if counts == {1}:
        return "single run", SINGLE
    known = sorted(one for one in counts if one is not None)
    if not known:
        return "no interval", "one value of each, and no interval: nothing can be claimed"
    told = count(known[0], "run") if known[0] == known[-1] else f"{known[0]} to {known[-1]} runs"
    return "no interval", f"{told} of each, but no interval: nothing can be claimed"


def _most(cells: Sequence[Cell], reference: str) -> list[str]:
    """Of each model the largest difference, and where: what somebody would quote from such a table."""
    lines = []
    for model in dict.fromkeys(cell["model"] for cell in cells):
        compared = [cell for cell in cells if cell["model"] == model and cell["versus_reference"]]
        if compared:
            most = max(compared, key=lambda cell: abs(1 / cell["versus_reference"]["ratio"] - 1))
            change = format_change(1 / most["versus_reference"]["ratio"])
            lines.append(
                f"{model}: the largest difference to {reference} is {most['arm']}'s {change} on {most['num_ranks']} "
                "ranks: not shown to be more than the scatter between runs, which the table does not tell"
            )
    return lines


def _keeping(log: Log) -> Callable[[Callable[[Item], None]], Any]:
    return lambda emit: log.read(emit)
