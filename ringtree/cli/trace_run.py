"""`ringtree trace-run`: what each rank, lane and slice did in a few calls, as a file for a trace viewer.

For: the options. Not for: making the calls, the file or the summary (ringtree.trace).
"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from ringtree.cli.options import EMULATE, asks
from ringtree.cli.outcome import exit_codes
from ringtree.comm.meeting import refuse_launched
from ringtree.show.cells import console_for_tables
from ringtree.show.trace_table import print_run
from ringtree.trace import summarise, write_chrome_trace
from ringtree.trace.request import Asked, make_options
from ringtree.trace.traced_run import run
from ringtree.trace_events import check_trace_path
from ringtree.version import __version__

OPTIONS = {
    "ranks": "Number of ranks, one process each. Default: 4, or as many as the emulated cluster has.",
    "size": "Bytes of the whole vector, e.g. 8, 4K or 1M.",
    "collective": "Collective.",
    "algorithm": "An algorithm, or auto.",
    "protocol": "simple, ll, ll128 or auto.",
    "channels": "Copies of the schedule, each on its part of the data.",
    "dtype": "Element type.",
    "calls": "Number of calls to trace.",
    "warm_up": "Warm-up calls before the traced ones.",
    "events": "Events kept per rank; older ones are dropped.",
    "shared_buffers": typer.Option("--shared-buffers", help="Use buffers that peers read in place."),
    "emulate": EMULATE,
    "alpha": "Latency between emulated hosts; default 1ms.",
    "beta": "Bandwidth between emulated hosts; default 200MB/s.",
}


@asks(Asked, OPTIONS)
def trace_run(
    asked: Asked,
    out: Annotated[Path, typer.Option(help="Output file; an existing one is replaced.")] = Path("trace.json"),
) -> None:
    """Trace a few calls: a timeline of every rank for Perfetto or chrome://tracing, and where the time went."""
    with exit_codes():
        options = make_options(asked)
        refuse_launched("ringtree trace-run")
        check_trace_path(out, "--out")
        traced = run(options)
        about = {"ringtree": __version__, "options": options.model_dump()}
        write_chrome_trace(out, traced.traces, about)
        print_run(console_for_tables(), traced, summarise(traced.traces), out)
