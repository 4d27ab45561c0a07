"""Somebody else's table of a training, as the page of trainings shows it: rates by model, ranks and arm.

For: tables of tokens/s that ringtree.logs reads, beside what the audit says of them. Not for: which rows repeat each
other (imported_runs.py), verdicts (ringtree.judge.runs.launches).

A rate that is printed once has no interval, however many runs it is of, and a difference between two is not a finding;
each is drawn grey. Rows that repeat each other are launches: of those there are intervals, and a difference between two
arms that have some is judged as one between two runs is: they share nothing, so they are not paired.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any

from ringtree.audit import AuditRun, Setup
from ringtree.errors import UsageError
from ringtree.judge.runs import SINGLE
from ringtree.judge.runs.launches import judge_apart
from ringtree.logs import Item, Table
from ringtree.logs.storing import Log
from ringtree.logs.tables.measures import THROUGHPUT
from ringtree.show.training_page.imported_runs import (
    Runs,
    is_training,
    is_usable,
    labels_of,
    left_out,
    may_repeat,
    rate_of,
    runs_of,
)
from ringtree.show.views.log_arms import finding_row
from ringtree.stats import median_interval
from ringtree.units import count, format_change, format_change_range

UNIT = "tokens/s"
Cell = dict[str, Any]
_GREY = "every difference is grey: it has no interval, so none is shown to be more than noise"
_JUDGED = (
    "rows that repeat each other count as launches; those of two arms share nothing, so they are not paired: of three "
    "and three nothing can be shown"
)


class _NoTraining(Exception):
    """What is read is something else: the rest of it need not be."""


def training_tables(log: Log) -> list[Table]:
    """Returns the tables of a log in which all tables are of trainings; none of any other, nor where rows that seem to
    repeat each other may not."""
    tables: list[Table] = []

    def take(item: Item) -> None:
        if isinstance(item, Table):
            if not is_training(item):
                raise _NoTraining
            tables.append(item)

    try:
        log.read(take)
    except _NoTraining:
        return []
    return tables if may_repeat(tables) else []


def imported_data(log: Log, tables: Sequence[Table], setup: Setup | None = None) -> dict[str, Any]:
    """Returns what the page knows of the tables, in the shape that it has of a stored training.

    A rate that is 0, negative or not finite is left out, and a caveat says so. Raises UsageError if no other is left.
    """
    runs = runs_of(tables)
    if not runs:
        raise UsageError(f"{log.name}: no rate in it is above 0: there is nothing to draw")
    cells = _with_efficiency([_cell(one, label) for one, label in zip(runs, labels_of(runs), strict=True)])
    models, arms, ranks = (list(dict.fromkeys(cell[name] for cell in cells)) for name in ("model", "arm", "num_ranks"))
    reference = "default" if "default" in arms else arms[0]
    _compare(runs, cells, reference)
    for arm in arms:
        if arm != reference:
            _judge(runs, cells, arm, reference)
    used = [table for table in tables if any(is_usable(rate_of(side)) for row in table.rows for side in row.sides)]
    hosts = {str(table.num_ranks): table.num_hosts for table in used if table.num_hosts is not None}
    several = {str(table.num_ranks) for table in used if table.num_hosts != hosts.get(str(table.num_ranks))}
    judged = any(_is_judged(cell) for cell in cells)
    repeated = any(cell["rate"] is not None for cell in cells)
    session = AuditRun(setup or Setup())
    session.add_reading(log.name, _keeping(log))
    report = session.finish().files[0]
    verdict, label = _claim(cells, reference)
    single = verdict == "single run"
    return {
        "run": log.name,
        "heading": f"training, as {log.name.rpartition('/')[2]} prints it",
        "verdicts": [
            *([] if judged else [f"{label}; another run of the same may differ as much" if single else label]),
            *_most(cells, reference),
        ],
        "caveats": [
            *left_out(tables),
            _JUDGED if judged else _GREY,
            *([f"{_alone(reference)}: there is nothing to compare them with"] if repeated and not judged else []),
            "efficiency: against the arm's own smallest number of ranks, which is not the same for all arms",
        ],
        "notes": [],
        "findings": [finding_row(one, "") for one in report.findings],
        "models": models,
        "arms": [{"label": arm} for arm in arms],
        "reference": reference,
        "training": {"world_sizes": sorted(ranks)},
        "hosts": {ranks: number for ranks, number in hosts.items() if ranks not in several},
        "unit": UNIT,
        "rates": "median over rows that repeat each other, with its interval; a rate that stands once has none"
        if repeated
        else "as the table prints them, without an interval",
        "cells": cells,
        "provenance": [("file", log.name), ("columns", ", ".join(sorted({_heading(table) for table in used})))],
    }


def _heading(table: Table) -> str:
    return dict(table.columns).get(THROUGHPUT, "")


def _cell(runs: Runs, label: str) -> Cell:
    interval = median_interval(runs.rates)
    has_interval = interval.num_launches > 1
    return {
        "model": label,
        "num_ranks": runs.num_ranks,
        "arm": runs.arm,
        "num_launches": runs.num_launches,
        "step": {"num_launches": runs.num_launches, "median": None, "low": None, "high": None},
        "tokens_per_second": interval.median,
        "rate": {"low": interval.low, "high": interval.high, "label": interval.label} if has_interval else None,
        "tokens_per_second_a_rank": interval.median / runs.num_ranks,
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


def _compare(runs: Sequence[Runs], cells: Sequence[Cell], reference: str) -> None:
    base = {_place(one): cell for one, cell in zip(runs, cells, strict=True) if one.arm == reference}
    for one, cell in zip(runs, cells, strict=True):
        other = base.get(_place(one))
        if cell["arm"] != reference and other is not None:
            verdict, label = _claim([other, cell], reference)
            ratio = other["tokens_per_second"] / cell["tokens_per_second"]  # of times, as verdicts have it
            cell["versus_reference"] = {"ratio": ratio, "low": None, "high": None, "verdict": verdict, "label": label}


def _place(runs: Runs) -> tuple[object, ...]:
    """Where arms are compared: all but the arm."""
    return runs.model, runs.num_ranks, runs.of


def _judge(runs: Sequence[Runs], cells: Sequence[Cell], arm: str, reference: str) -> None:
    """Judges an arm where it and the reference have repeated rows, all such places as one family."""
    base = {_place(one): one for one in runs if one.arm == reference and len(one.rates) > 1}
    places = [
        (cell, one, base[_place(one)])
        for one, cell in zip(runs, cells, strict=True)
        if one.arm == arm and len(one.rates) > 1 and _place(one) in base
    ]
    # The more tokens/s, the less time: ratios are of times, as elsewhere.
    times = [([1 / rate for rate in other.rates], [1 / rate for rate in own.rates]) for _, own, other in places]
    for (cell, _, _), (verdict, up, _) in zip(places, judge_apart(times), strict=True):
        has_interval = up.coverage > 0
        cell["versus_reference"] = {
            "ratio": up.ratio,
            "low": up.low if has_interval else None,
            "high": up.high if has_interval else None,
            "verdict": verdict,
            "label": up.label,
        }


def _is_judged(cell: Cell) -> bool:
    versus = cell["versus_reference"]
    return versus is not None and versus["low"] is not None


def _alone(reference: str) -> str:
    return f"no other arm has repeated rows where {reference} has some"


def _claim(cells: Iterable[Cell], reference: str) -> tuple[str, str]:
    """What can be said of differences between the cells, in a word and in a sentence: nothing, and why."""
    if any(cell["rate"] is not None for cell in cells):
        return "no interval", f"{_alone(reference)}: nothing can be claimed"
    counts = {cell["num_launches"] for cell in cells}
    if counts == {1}:
        return "single run", SINGLE
    known = sorted(one for one in counts if one is not None)
    if not known:
        return "no interval", "one value of each, and no interval: nothing can be claimed"
    told = count(known[0], "run") if known[0] == known[-1] else f"{known[0]} to {known[-1]} runs"
    of = "some and one value of others" if None in counts else "each"
    return "no interval", f"{told} of {of}, but no interval: nothing can be claimed"


def _most(cells: Sequence[Cell], reference: str) -> list[str]:
    """Of each model what is shown, and the largest difference of the others: what somebody would quote."""
    lines = []
    for model in dict.fromkeys(cell["model"] for cell in cells):
        compared = [cell for cell in cells if cell["model"] == model and cell["versus_reference"]]
        shown = [cell for cell in compared if cell["versus_reference"]["verdict"] in ("faster", "slower")]
        lines += [_shown(cell, reference) for cell in shown]
        others = [cell for cell in compared if cell not in shown]
        if others:
            most = max(others, key=lambda cell: abs(1 / cell["versus_reference"]["ratio"] - 1))
            change = format_change(1 / most["versus_reference"]["ratio"])
            other = "other " if shown else ""
            told = _interval(most) if _is_judged(most) else ", which the table does not tell"
            lines.append(
                f"{model}: the largest {other}difference to {reference} is {most['arm']}'s {change} "
                f"on {most['num_ranks']} ranks: not shown to be more than the scatter between runs{told}"
            )
    return lines


def _shown(cell: Cell, reference: str) -> str:
    versus = cell["versus_reference"]
    return (
        f"{cell['model']}, {count(cell['num_ranks'], 'rank')}: {cell['arm']} vs {reference}: {versus['verdict']}, "
        f"{format_change(1 / versus['ratio'])} {UNIT}{_interval(cell)}"
    )


def _interval(cell: Cell) -> str:
    versus = cell["versus_reference"]
    return f" ({format_change_range(1 / versus['high'], 1 / versus['low'])}, {versus['label']})"


def _keeping(log: Log) -> Callable[[Callable[[Item], None]], Any]:
    return lambda emit: log.read(emit)
