"""A traced run: its rank processes, and the traces that they send.

For: starting the ranks and putting together what they report. Not for: what ranks do (rank_process.py), or files.
"""

from __future__ import annotations

import secrets
from collections import defaultdict
from dataclasses import dataclass

import numpy as np

from ringtree.lab.rank_group import RANK_TIMEOUT, run_ranks
from ringtree.rank_trace import RankTrace
from ringtree.trace.messages import CallsReport, EventsReport, TraceReport, TraceSpec, joined_trace, reports
from ringtree.trace.request import Options


@dataclass(frozen=True)
class TracedRun:
    """`untraced` and `traced`: seconds of a call without and with tracing, median of the calls, from the first rank's
    beginning to the last one's end, as Python saw them."""

    options: Options
    traces: list[RankTrace]
    own_cores: bool
    untraced: float
    traced: float


def run(options: Options) -> TracedRun:
    """Makes the calls. Call it from the main thread. Raises LaunchFailed if a rank dies or fails."""
    said: dict[int, CallsReport] = {}
    parts: dict[int, list[EventsReport]] = defaultdict(list)
    session = secrets.token_hex(16)

    def make_spec(rank: int, process_group: int) -> TraceSpec:
        return TraceSpec(options=options, rank=rank, session=session, process_group=process_group, timeout=RANK_TIMEOUT)

    def on_report(rank: int, report: TraceReport) -> None:
        if isinstance(report, CallsReport):
            said[rank] = report
        elif isinstance(report, EventsReport):
            parts[rank].append(report)

    run_ranks("ringtree.trace.rank_process", options.num_ranks, make_spec, reports, on_report)
    ranks = range(options.num_ranks)
    return TracedRun(
        options=options,
        traces=[joined_trace(rank, options.num_ranks, said[rank], parts[rank]) for rank in ranks],
        own_cores=said[0].own_cores,
        untraced=_seconds([said[rank].untraced for rank in ranks]),
        traced=_seconds([said[rank].traced for rank in ranks]),
    )


def _seconds(spans: list[list[tuple[int, int]]]) -> float:
    """`spans`: by rank, of each call."""
    ns = [max(end for _, end in call) - min(begin for begin, _ in call) for call in zip(*spans, strict=True)]
    return float(np.median(ns)) / 1e9
