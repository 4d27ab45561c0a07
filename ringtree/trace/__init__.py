"""Traces of all ranks: what happened together, as a file for a trace viewer and as a summary.

    traces = ringtree.run(work, 4)  # work() returns comm.take_trace()
    ringtree.trace.write_chrome_trace(Path("trace.json"), traces)

For: `ringtree trace-run`, and traces that a program of your own took. Not for: recording (ringtree.rank_trace).
"""

from __future__ import annotations

from ringtree.trace.chrome import chrome_trace, write_chrome_trace
from ringtree.trace.idle import Idle, idle_times
from ringtree.trace.links import Message, match_messages
from ringtree.trace.summary import LinkLoad, RankTimes, TraceSummary, summarise

__all__ = [
    "Idle",
    "LinkLoad",
    "Message",
    "RankTimes",
    "TraceSummary",
    "chrome_trace",
    "idle_times",
    "match_messages",
    "summarise",
    "write_chrome_trace",
]
