"""The page of stored trainings: one HTML file that needs no network, as the report of other runs is.

For: `ringtree report` and the web app, of runs of `ringtree train` and imported tables. Not for: figures
(ringtree.judge.training), drawing (training.js, on top of the report's run_page/charts.js).
"""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from ringtree.audit import Setup
from ringtree.errors import UsageError
from ringtree.joblog.reading import read_trace
from ringtree.joblog.summary import Summary, summarise
from ringtree.judge.observations import origins_of_run
from ringtree.judge.training import summarise_training
from ringtree.logs.storing import find_log
from ringtree.results import StoredRun, find_run, read_run
from ringtree.results.reading import read_header
from ringtree.show.html import json_block, packaged, render, script_block, source_hashes
from ringtree.show.job_trace_table import HEADINGS, explained, row_texts, trace_lines
from ringtree.show.plotly_source import plotly_source
from ringtree.show.run_page import Extra, extra_block
from ringtree.show.training_page.imported import imported_data, training_tables
from ringtree.show.training_table import described
from ringtree.show.views.reading import STANDARD_INPUT
from ringtree.show.views.rounding import rounded
from ringtree.units import count

HERE = "ringtree.show.training_page"
SHARED = "ringtree.show.run_page"
SHARED_SCRIPTS = ("words.js", "tables.js", "queue.js", "charts.js")


Training = dict[str, Any]  # what the page knows of one


def read_trainings(names: Sequence[str], runs: Path, setup: Setup | None = None) -> list[Training]:
    """Returns the trainings that `names` are: stored runs, and somebody's tables of tokens/s; none if none is one.
    Raises UsageError for a mixture with something else, which has no page."""
    found: dict[str, Training] = {}
    for name in names:
        log = None if name == STANDARD_INPUT else find_log(runs, name)
        if log is not None:
            tables = training_tables(log)
            if tables:
                found[name] = imported_data(log, tables, setup)
        elif name != STANDARD_INPUT:
            path = find_run(runs, name)
            if read_header(path).plan.training is not None:
                found[name] = stored_data(read_run(path))
    others = [name for name in names if name not in found]
    if found and others:
        raise UsageError(f"{next(iter(found))} is a training, {others[0]} is not: each has a report of its own")
    return list(found.values())


def trace_extra(folder: Path, trainings: Sequence[Training] = ()) -> Extra:
    """Returns a job trace's table, as `ringtree trace` prints it, and whether it is of as many ranks as the `trainings`
    that it stands beside. Raises UsageError for a folder that holds none."""
    trace = read_trace(folder)
    summary = summarise(trace)
    first, *others = trace_lines(summary)
    about = explained(summary)
    below = [" ".join(about), *(line for line in others if line not in about)]
    return Extra(
        f"Collectives of the traced job {folder.name}",
        headings=HEADINGS,
        rows=[row_texts(row) for row in summary.rows],
        lines=[f"traced: {shlex.join(trace.ranks[0].about.command)}", first, *_other_ranks(summary, trainings)],
        below=below,
    )


def _other_ranks(summary: Summary, trainings: Sequence[Training]) -> list[str]:
    """A trace is of a job that somebody names: nothing says that it is one that was swept."""
    swept = sorted({ranks for one in trainings for ranks in one["training"]["world_sizes"]})
    if not swept or summary.num_ranks in swept:
        return []
    return [
        f"note: the trace is of {count(summary.num_ranks, 'rank')}, the training of {', '.join(map(str, swept))}: "
        "they are not the same job"
    ]


def training_page(trainings: Sequence[Training], *, title: str | None = None, extras: Sequence[Extra] = ()) -> str:
    """Returns the page as text, titled by its models unless told otherwise. Raises UsageError if the extra `report` is
    not installed."""
    plotly_js, unwanted = plotly_source()
    ours = "\n".join([*(packaged(SHARED, name) for name in SHARED_SCRIPTS), packaged(HERE, "training.js")])
    scripts = [script_block(one) for one in (plotly_js, ours)]
    style = packaged(SHARED, "report.css")
    data: list[Training] = [_rounded(one) for one in trainings]
    return render(
        packaged(HERE, "training.html.j2"),
        raw={"data": json_block(data), "style": style, "plotly": scripts[0], "script": scripts[1]},
        title=title or f"Training of {', '.join(dict.fromkeys(name for one in data for name in one['models']))}",
        runs=data,
        extras=[extra_block(one) for one in extras],
        unwanted=unwanted,
        script_hashes=source_hashes(*scripts),
        style_hashes=source_hashes(style, ""),  # Plotly makes one that is empty
    )


def stored_data(stored: StoredRun) -> Training:
    """Returns what the page knows of a run: its summary, as `ringtree train --json` prints it, and whence it comes."""
    summary, plan = summarise_training(stored), stored.run.plan
    num_hosts = 1 if plan.hosts is None else len(set(plan.hosts))
    return summary.model_dump(mode="json") | {
        "heading": f"{described(summary.training)}, {count(summary.num_launches, 'launch')}",
        "models": list(dict.fromkeys(cell.model for cell in summary.cells)),
        # Every number of ranks is spread over all hosts (ringtree.measure.crew.spread).
        "hosts": {str(ranks): num_hosts for ranks in summary.training.world_sizes if num_hosts > 1},
        "findings": [],
        "unit": "units/s of the script" if summary.training.strategy == "script" else "tokens/s",
        "rates": "median over launches; the error bar is the interval; a single launch has none",
        "provenance": list(next(iter(origins_of_run(stored).values())).facts.items()),
    }


def _rounded(value: Any) -> Any:
    if isinstance(value, float):
        return rounded(value)
    if isinstance(value, dict):
        return {name: _rounded(one) for name, one in value.items()}
    return [_rounded(one) for one in value] if isinstance(value, list) else value
