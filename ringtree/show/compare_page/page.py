"""What `ringtree compare-runs` prints, as a page: differences with intervals, crossovers, regressions.

For: the web app. Not for: judging (ringtree.judge.runs), charts of the runs themselves (run_page).

The words are those of the command. A ratio's interval is drawn on an axis from half to double the baseline's time; a
single run has none, and its row is grey.
"""

from __future__ import annotations

import math
from typing import Any

from ringtree.judge.runs import RunsComparison
from ringtree.judge.runs.runs_comparison import ComparedCell
from ringtree.show.html import packaged, render, script_block, source_hashes
from ringtree.show.runs_table import interval_words, title, verdict_lines
from ringtree.units import format_change, format_margin, format_size, format_time

HERE = "ringtree.show.compare_page"
SHARED = "ringtree.show.run_page"
WIDTH, HALF = 120.0, math.log(2)  # of the axis, in its own units; what its half stands for


def compare_page(comparison: RunsComparison | None, *, heading: str, problem: str = "", home: str = "") -> str:
    """Returns the page as text. Without a comparison it says the `problem`; `home`: where its list of runs is."""
    style = packaged(SHARED, "report.css")
    script = script_block(packaged(SHARED, "tables.js") + packaged(HERE, "compare.js"))
    series = [] if comparison is None else comparison.series
    margin = 0.0 if comparison is None else comparison.margin
    return render(
        packaged(HERE, "compare.html.j2"),
        raw={"style": style, "script": script},
        heading=heading,
        problem=problem,
        home=home,
        verdict=_verdict(comparison),
        series=[
            {
                "title": title(one),
                "lines": verdict_lines(one, margin),
                "differing": [(name, *both) for name, both in one.differing.items()],
                "rows": [_row(cell, margin) for cell in one.cells],
            }
            for one in series
        ],
        not_compared=[] if comparison is None else comparison.not_compared,
        notes=[] if comparison is None else comparison.notes,
        script_hashes=source_hashes(script),
        style_hashes=source_hashes(style),
    )


def _verdict(comparison: RunsComparison | None) -> str:
    if comparison is None:
        return ""
    verdicts = {cell.verdict for one in comparison.series for cell in one.cells}
    margin = format_margin(comparison.margin)
    if comparison.regressed:
        return f"something is slower than the first one by more than {margin}"
    if verdicts <= {"single run", "wrong"}:
        return "single run: nothing can be claimed"
    return f"nothing is shown to be slower than the first one by more than {margin}"


def _row(cell: ComparedCell, margin: float) -> dict[str, Any]:
    return {
        "verdict": cell.verdict,
        "because": cell.because,
        "cells": [
            (format_size(cell.size_bytes), cell.size_bytes),
            (format_time(cell.baseline), cell.baseline),
            (format_time(cell.other), cell.other),
            (format_change(cell.ratio), cell.ratio),
        ],
        "interval": interval_words(cell),
        "launches": f"{cell.num_baseline}, {cell.num_other}",
        "picture": _picture(cell, margin),
    }


def _picture(cell: ComparedCell, margin: float) -> dict[str, float] | None:
    """Where things are on the axis; None without an interval."""
    if cell.low is None or cell.high is None:
        return None
    low, high = _at(cell.low), _at(cell.high)
    margins = _at(1 - margin), _at(1 + margin)
    return {
        "low": low,
        "length": max(high - low, 1.0),
        "at": _at(cell.ratio),
        "margin": margins[0],
        "margins": margins[1] - margins[0],
    }


def _at(ratio: float) -> float:
    share = max(-1.0, min(1.0, math.log(ratio) / HALF)) if ratio > 0 else -1.0
    return round(WIDTH / 2 * (1 + share), 2)
