"""`ringtree trace-run`: what each rank, lane and slice did in a few calls, as a file for a trace viewer.

For: the options. Not for: making the calls, the file or the summary (ringtree.trace).
"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

import ringtree
from ringtree.cli.outcome import exit_codes
from ringtree.cli.text import console_for_tables
from ringtree.meeting import refuse_several_hosts
from ringtree.trace import summarise, write_chrome_trace
from ringtree.trace.request import Asked, check_out, make_options
from ringtree.trace.session import run
from ringtree.trace.table import print_run


def trace_run(
    ranks: Annotated[int | None, typer.Option(help="Number of ranks, a process each; 4 unless a cluster says.")] = None,
    size: Annotated[str, typer.Option(help="Bytes of the whole vector, e.g. 8, 4K or 1M.")] = Asked.size,
    collective: Annotated[str, typer.Option(help="The collective.")] = Asked.collective,
    algorithm: Annotated[str, typer.Option(help="An algorithm, or auto.")] = Asked.algorithm,
    protocol: Annotated[str, typer.Option(help="simple, ll, ll128 or auto.")] = Asked.protocol,
    channels: Annotated[int, typer.Option(help="Copies of the schedule, each on its part of the data.")] = (
        Asked.channels
    ),
    dtype: Annotated[str, typer.Option(help="Element type.")] = Asked.dtype,
    calls: Annotated[int, typer.Option(help="Calls that are traced.")] = Asked.calls,
    warm_up: Annotated[int, typer.Option(help="Calls before the first that counts.")] = Asked.warm_up,
    events: Annotated[int, typer.Option(help="Events that each rank has memory for; the newest are kept.")] = (
        Asked.events
    ),
    shared_buffers: Annotated[
        bool, typer.Option("--shared-buffers", help="Buffers that the peers read in place.")
    ] = False,
    emulate: Annotated[
        str | None, typer.Option(help="Emulate a cluster on this machine: hosts x ranks per host, e.g. 2x8.")
    ] = None,
    alpha: Annotated[str | None, typer.Option(help="Latency between emulated hosts; 1ms unless said.")] = None,
    beta: Annotated[str | None, typer.Option(help="Bandwidth between emulated hosts; 200MB/s unless said.")] = None,
    out: Annotated[Path, typer.Option(help="The file; one that is there is replaced.")] = Path("trace.json"),
) -> None:
    """Trace a few calls: a timeline of every rank for Perfetto or chrome://tracing, and where the time went."""
    with exit_codes():
        options = make_options(
            Asked(
                ranks=ranks,
                size=size,
                collective=collective,
                algorithm=algorithm,
                protocol=protocol,
                channels=channels,
                dtype=dtype,
                calls=calls,
                warm_up=warm_up,
                events=events,
                shared_buffers=shared_buffers,
                emulate=emulate,
                alpha=alpha,
                beta=beta,
            )
        )
        refuse_several_hosts("ringtree trace-run")
        check_out(out)
        traced = run(options)
        about = {"ringtree": ringtree.__version__, "options": options.model_dump()}
        write_chrome_trace(out, traced.traces, about)
        print_run(console_for_tables(), traced, summarise(traced.traces), out)
