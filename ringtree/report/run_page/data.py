"""What the report's page draws, as plain JSON: one run's summary, and what it rests on.

For: everything that the page shows, computed once by ringtree.lab and ringtree.stats. Not for: drawing (charts.js).

Sizes are bytes, times seconds, rates bytes/s, as everywhere; the page scales them for reading.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ringtree.compare_runs import SINGLE
from ringtree.lab.cells import RunCells
from ringtree.lab.comparison import CellSummary, Comparison
from ringtree.lab.summary import summarise
from ringtree.lab.units import count
from ringtree.lab.words import placement_phrase
from ringtree.report.run_page.figures import quantiles, rounded
from ringtree.results import StoredRun
from ringtree.stats import busbw


def run_data(stored: StoredRun) -> dict[str, Any]:
    """Returns one run as the page reads it."""
    cells = RunCells(stored)
    comparison = summarise(stored, cells)
    places = list(dict.fromkeys(row.placement for row in comparison.shown_rows())) or [""]
    return {
        "kind": "run",
        "id": comparison.run,
        "heading": _heading(comparison),
        "collective": comparison.collective,
        "op": comparison.op,
        "dtype": comparison.dtype,
        "num_ranks": comparison.num_ranks,
        "num_hosts": _num_hosts(stored),
        "machine": "",
        "reference": comparison.reference,
        "arms": [arm.label for arm in comparison.arms],
        "series": {},
        "emulated": comparison.emulated is not None,
        "verdicts": comparison.verdicts,
        "caveats": comparison.caveats,
        "notes": comparison.notes,
        "left_out": comparison.left_out,
        "places": [{"name": place, "title": placement_phrase(place) if place else "all launches"} for place in places],
        "rows": [
            {"size": row.size_bytes, "place": row.placement, "judged": row.judged} for row in comparison.shown_rows()
        ],
        "cells": [_cell(comparison, cells, cell) for cell in comparison.cells if cell.placement in places],
        "limits": [line for place in places if (line := _limit_line(comparison, place)) is not None],
        "crossovers": [one.model_dump(mode="json") for one in comparison.crossovers],
        "fastest": [one.model_dump(mode="json") for one in comparison.fastest],
        "slowest_ranks": _slowest_ranks(stored),
        "findings": [],
        "provenance": _provenance(stored),
    }


def _heading(comparison: Comparison) -> str:
    launches = count(comparison.num_launches, "launch")
    emulated = " — emulated links: no time here is the machine's own" if comparison.emulated is not None else ""
    kind = f"{comparison.dtype} {comparison.op}"
    return f"{comparison.collective}, {kind}, {comparison.num_ranks} ranks, {launches}{emulated}"


def _num_hosts(stored: StoredRun) -> int:
    plan = stored.run.plan
    if plan.emulation is not None:
        return plan.emulation.hosts
    return 1 if plan.hosts is None else len(set(plan.hosts))


def _limit_line(comparison: Comparison, place: str) -> dict[str, Any] | None:
    """The least time that the machine allows, [size, seconds, busbw] by size; None where nothing was probed."""
    points = {
        cell.size_bytes: [
            cell.size_bytes,
            rounded(cell.limit),
            rounded(busbw(comparison.collective, cell.size_bytes, cell.limit, comparison.num_ranks)),
        ]
        for cell in comparison.cells
        if cell.placement == place and cell.limit is not None and cell.limit > 0 and cell.size_bytes > 0
    }
    if len(points) < 2:
        return None
    return {"name": "the machine's limit", "place": place, "points": [points[size] for size in sorted(points)]}


def _cell(comparison: Comparison, cells: RunCells, cell: CellSummary) -> dict[str, Any]:
    found: dict[str, Any] = {
        "size": cell.size_bytes,
        "place": cell.placement,
        "arm": cell.arm,
        "wrong": cell.disqualified,
        "executed": _executed(cells, cell),
        "versus": None,
        "time": None,
        "algbw": rounded(cell.algbw),
        "busbw": rounded(cell.busbw),
        "share": rounded(cell.share_of_limit),
    }
    if cell.versus_reference is not None:
        versus = cell.versus_reference
        found["versus"] = {
            "ratio": rounded(versus.ratio),
            "low": rounded(versus.low),
            "high": rounded(versus.high),
            "verdict": versus.verdict,
            "label": versus.label,
        }
    if cell.time is not None:
        time = cell.time
        found["time"] = {
            "median": rounded(time.median),
            "low": rounded(time.low) if time.num_launches > 1 else None,
            "high": rounded(time.high) if time.num_launches > 1 else None,
            "launches": time.num_launches,
            "label": time.label if time.num_launches > 1 else SINGLE,
        }
        medians = cells.medians(cell.size_bytes, cell.arm, cell.placement)
        found["by_launch"] = [[block + 1, rounded(median)] for block, median in sorted(medians.items())]
        pooled = list(cells.pooled(cell.size_bytes, cell.arm, cell.placement).values())
        found["quantiles"] = quantiles(np.concatenate(pooled)) if pooled else []
    return found


def _executed(cells: RunCells, cell: CellSummary) -> list[str]:
    """Returns what ran, as "ring/simple"; nothing where the backend does not tell."""
    told = [seen.cell.executed or {} for seen in cells.seen(cell.size_bytes, cell.arm).values()]
    names = [[str(one[name]) for name in ("algorithm", "protocol") if one.get(name)] for one in told]
    return sorted({"/".join(one) for one in names if one})


def _slowest_ranks(stored: StoredRun) -> dict[str, list[float | None]]:
    """Returns by arm the share of timed iterations in which each rank was the slowest."""
    counts: dict[str, NDArray[np.float64]] = {}
    for launch in stored.launches:
        for cell in launch.cells:
            if not cell.times or not cell.times[0] or len(cell.times) < 2:
                continue
            slowest = np.argmax(np.array(cell.times), axis=0)
            found = np.bincount(slowest, minlength=len(cell.times)).astype(np.float64)
            counts[cell.arm] = counts[cell.arm] + found if cell.arm in counts else found
    return {arm: [rounded(float(share)) for share in found / found.sum()] for arm, found in counts.items()}


def _provenance(stored: StoredRun) -> list[tuple[str, str]]:
    where, plan = stored.run.provenance, stored.run.plan
    facts = [
        ("run", stored.run.run_id),
        ("created", stored.run.created_utc),
        ("host", where.host_name),
        ("processor", f"{where.cpu_model}, {where.num_cpus} cores"),
        ("kernel", where.kernel),
        ("virtual machine", {True: "yes", False: "no", None: "not known"}[where.virtual]),
        ("load at the start", ", ".join(f"{one:.2f}" for one in where.load_average)),
        *((name, version) for name, version in where.versions.items() if version is not None),
        ("commit", where.git_commit or "not known"),
        ("command", " ".join(where.command)),
        ("seed", str(plan.seed)),
        *sorted(where.environment.items()),
    ]
    return [(name, value) for name, value in facts if value]
