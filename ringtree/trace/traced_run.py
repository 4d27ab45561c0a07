"""A traced run: its rank processes, and the traces that they send.

For: starting the ranks and putting together what they report. Not for: what ranks do
(ringtree.measure.traced_calls), or files.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ringtree.comm.rank_trace import RankTrace
from ringtree.measure.collective_data import elements_of, shape_of
from ringtree.measure.messages import SetSpec, TraceCalls
from ringtree.measure.process_set import SetFailed
from ringtree.measure.rank_group import LaunchFailed
from ringtree.measure.rank_set import RankSet
from ringtree.measure.trace_reports import CallsReport, EventsReport, joined_trace
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
    ranks = RankSet([], SetSpec(num_ranks=options.num_ranks, seed=0, boundary="numpy", emulation=options.emulation))
    try:
        ranks.start()
        ranks.ask(calls_of(options))
        ranks.close()
    except SetFailed as failed:
        raise LaunchFailed(str(failed)) from None
    finally:
        ranks.kill()
    said = [next(report for report in of if isinstance(report, CallsReport)) for of in ranks.reported]
    parts = [[report for report in of if isinstance(report, EventsReport)] for of in ranks.reported]
    return TracedRun(
        options=options,
        traces=[joined_trace(rank, options.num_ranks, said[rank], parts[rank]) for rank in range(options.num_ranks)],
        own_cores=said[0].own_cores,
        untraced=_seconds([of.untraced for of in said]),
        traced=_seconds([of.traced for of in said]),
    )


def calls_of(options: Options) -> TraceCalls:
    """Returns what every rank is told."""
    item, in_blocks = np.dtype(options.dtype).itemsize, shape_of(options.collective).has_blocks
    elements = elements_of(options.collective, options.size_bytes, item, options.num_ranks)
    counts = [elements.source, elements.result] if in_blocks else [elements.count]
    return TraceCalls.from_fields_of(options, counts=counts)


def _seconds(spans: list[list[tuple[int, int]]]) -> float:
    """`spans`: by rank, of each call."""
    ns = [max(end for _, end in call) - min(begin for begin, _ in call) for call in zip(*spans, strict=True)]
    return float(np.median(ns)) / 1e9
