"""Somebody else's table of a training, as the page of trainings shows it: rates by model, ranks and arm, one run each.

For: tables of tokens/s that ringtree.logs reads, beside what the audit says of them. Not for: verdicts: one run a cell
has no interval, and a difference between two of them is not a finding; each is drawn grey.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from ringtree.audit import AuditRun, Setup
from ringtree.judge.runs import SINGLE
from ringtree.logs import Item, Table
from ringtree.logs.storing import Log
from ringtree.logs.tables.measures import THROUGHPUT
from ringtree.show.views.log_arms import finding_row
from ringtree.units import format_change

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
    """Returns what the page knows of the tables, in the shape that it has of a stored training."""
    cells = _with_efficiency([_cell(table) for table in tables])
    models, arms, ranks = (list(dict.fromkeys(cell[name] for cell in cells)) for name in ("model", "arm", "num_ranks"))
    reference = "default" if "default" in arms else arms[0]
    _compare(cells, reference)
    hosts = {str(table.num_ranks): table.num_hosts for table in tables if table.num_hosts is not None}
    session = AuditRun(setup or Setup())
    session.add_reading(log.name, _keeping(log))
    report = session.finish().files[0]
    return {
        "run": log.name,
        "heading": f"training, as {log.name.rpartition('/')[2]} prints it",
        "verdicts": [f"{SINGLE}; another run of the same may differ as much", *_most(cells, reference)],
        "caveats": [
            "every difference is grey: one run of each has no interval, and none is shown to be more than noise",
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
        "cells": cells,
        "left_out": {},
        "provenance": [("file", log.name), ("columns", ", ".join(sorted({_heading(table) for table in tables})))],
    }


def _is_training(table: Table) -> bool:
    return "model" in table.settings and bool(table.num_ranks) and _rate(table) is not None


def _rate(table: Table) -> float | None:
    """The one figure of such a table."""
    if len(table.rows) != 1 or len(table.rows[0].sides) != 1:
        return None
    printed = dict(table.rows[0].sides[0].others).get(THROUGHPUT)
    return None if printed is None else printed.value


def _heading(table: Table) -> str:
    return dict(table.columns).get(THROUGHPUT, "")


def _cell(table: Table) -> Cell:
    rate, ranks = _rate(table) or 0.0, table.num_ranks or 1
    return {
        "model": table.settings["model"],
        "num_ranks": ranks,
        "arm": table.settings.get("arm", "default"),
        "num_launches": 1,
        "step": {"num_launches": 1, "median": None},
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
    base = {(one["model"], one["num_ranks"]): one["tokens_per_second"] for one in cells if one["arm"] == reference}
    for cell in cells:
        other = base.get((cell["model"], cell["num_ranks"]))
        if cell["arm"] != reference and other:
            ratio = other / cell["tokens_per_second"]  # of times, as verdicts have it
            cell["versus_reference"] = {
                "ratio": ratio, "low": None, "high": None, "verdict": "single run", "label": SINGLE,
            }  # fmt: skip


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
                "ranks: not shown to be more than the scatter between runs, which one run a cell does not tell"
            )
    return lines


def _keeping(log: Log) -> Callable[[Callable[[Item], None]], Any]:
    return lambda emit: log.read(emit)
