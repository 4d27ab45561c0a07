"""What the report's page draws, as plain JSON: one run's summary, and what it rests on.

For: everything that the page shows, computed once by ringtree.lab and ringtree.stats. Not for: drawing (charts.js).

Sizes are bytes, times seconds, rates bytes/s, as everywhere; the page scales them for reading.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ringtree.lab.cells import RunCells
from ringtree.lab.comparison import CellSummary, Comparison
from ringtree.lab.summary import summarise
from ringtree.lab.words import placement_phrase
from ringtree.results import StoredRun
from ringtree.stats import busbw

NUM_QUANTILES = 41
_DIGITS = 6


def run_data(stored: StoredRun) -> dict[str, Any]:
    """Returns one run as the page reads it."""
    comparison, cells = summarise(stored), RunCells(stored)
    places = list(dict.fromkeys(row.placement for row in comparison.shown_rows())) or [""]
    return {
        "id": comparison.run,
        "collective": comparison.collective,
        "op": comparison.op,
        "dtype": comparison.dtype,
        "num_ranks": comparison.num_ranks,
        "num_launches": comparison.num_launches,
        "margin": comparison.margin,
        "reference": comparison.reference,
        "arms": [arm.label for arm in comparison.arms],
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
        "crossovers": [one.model_dump(mode="json") for one in comparison.crossovers],
        "fastest": [one.model_dump(mode="json") for one in comparison.fastest],
        "stragglers": [one.model_dump(mode="json") for one in comparison.stragglers],
        "slowest_ranks": _slowest_ranks(stored),
        "provenance": _provenance(stored),
    }


def _cell(comparison: Comparison, cells: RunCells, cell: CellSummary) -> dict[str, Any]:
    found: dict[str, Any] = {
        "size": cell.size_bytes,
        "place": cell.placement,
        "arm": cell.arm,
        "wrong": cell.disqualified,
        "executed": cell.executed,
        "versus": None,
        "time": None,
        "limit": _rounded(cell.limit),
    }
    if cell.versus_reference is not None:
        versus = cell.versus_reference
        found["versus"] = {
            "ratio": _rounded(versus.ratio),
            "low": _rounded(versus.low),
            "high": _rounded(versus.high),
            "verdict": versus.verdict,
            "label": versus.label,
        }
    if cell.time is not None:
        time = cell.time
        found["time"] = {
            "median": _rounded(time.median),
            "low": _rounded(time.low),
            "high": _rounded(time.high),
            "launches": time.num_launches,
            "label": time.label,
        }
        found["factor"] = _rounded(busbw(comparison.collective, 1, 1.0, comparison.num_ranks))
        medians = cells.medians(cell.size_bytes, cell.arm, cell.placement)
        found["by_launch"] = [[block + 1, _rounded(median)] for block, median in sorted(medians.items())]
        found["quantiles"] = _quantiles(list(cells.pooled(cell.size_bytes, cell.arm, cell.placement).values()))
    return found


def _quantiles(pooled: list[NDArray[np.float64]]) -> list[float | None]:
    """Quantiles of all samples, from the least to the largest, evenly spaced; empty without samples."""
    if not pooled:
        return []
    together = np.concatenate(pooled)
    return [_rounded(float(value)) for value in np.quantile(together, np.linspace(0, 1, NUM_QUANTILES))]


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
    return {arm: [_rounded(float(share)) for share in found / found.sum()] for arm, found in counts.items()}


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


def _rounded(value: float | None) -> float | None:
    """Six digits: more than any figure here is known to, and half of the page's size."""
    if value is None or not math.isfinite(value):
        return None
    return float(f"{value:.{_DIGITS}g}")
