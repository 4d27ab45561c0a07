"""One rank of a traced run: `python -m ringtree.trace.rank_process <spec fd> <report fd>`.

For: being a rank: read the specification from an inherited pipe, join the others, make the calls, send the trace. Not
for: people; `ringtree trace-run` starts it.
"""

from __future__ import annotations

import gc
import sys
import time
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

import ringtree
from ringtree.lab.measure import Coordinator
from ringtree.lab.rank_main import rank_main
from ringtree.trace.messages import CallsReport, TraceReport, TraceSpec, call_records, events_reports
from ringtree.trace.request import WHOLE, Options


def run_rank(spec: TraceSpec, report: Callable[[TraceReport], None]) -> None:
    """Joins the other ranks, makes the calls and reports them."""
    options = spec.options
    # Barriers go over a communicator of their own, which is neither traced nor emulated.
    with _join(spec, "sync", emulated=False) as sync_comm, _join(spec, "engine", emulated=True) as comm:
        sync = Coordinator(sync_comm, start_together=options.emulation is not None)
        call = _bind(comm, options)
        for _ in range(options.num_warm_up):
            call()
        untraced = _timed(call, options.num_calls, sync)
        comm.start_trace(options.capacity)
        traced = _timed(call, options.num_calls, sync)
        trace = comm.take_trace()
        report(
            CallsReport(
                own_cores=comm.own_cores,
                untraced=untraced,
                traced=traced,
                calls=call_records(trace),
                num_lost=trace.num_lost,
            )
        )
        for part in events_reports(trace):
            report(part)
        sync.barrier()


def _join(spec: TraceSpec, purpose: str, emulated: bool) -> ringtree.Communicator:
    options = spec.options
    emulation = options.emulation if emulated else None
    return ringtree.init(
        rank=spec.rank,
        world_size=options.num_ranks,
        store=f"unix:{spec.session}-{purpose}",
        timeout=spec.timeout,
        channels=1 if purpose == "sync" else options.num_channels,
        emulate=None if emulation is None else ringtree.Emulation(**emulation.model_dump()),
        shared_buffers=options.shared_buffers,
    )


def _bind(comm: ringtree.Communicator, options: Options) -> Callable[[], object]:
    """The call on buffers of zeros, whose sums stay what they are however often it is made."""
    make: Callable[..., Any] = ringtree.empty if options.shared_buffers else np.empty
    blocks = 1 if options.collective in WHOLE else options.num_ranks

    def buffer(num_blocks: int) -> Any:
        array = make((options.count * num_blocks,), dtype=options.dtype)
        array.fill(0)  # also brings the pages in
        return array

    if options.collective in WHOLE:
        arrays = [buffer(1)]
    else:
        takes_block = options.collective in ("all_gather", "gather")
        gives_block = options.collective in ("reduce_scatter", "scatter")
        arrays = [buffer(1 if takes_block else blocks), buffer(1 if gives_block else blocks)]
    how = {"algorithm": options.algorithm, "protocol": options.protocol}
    return partial(getattr(comm, options.collective), *arrays, **how)


def _timed(call: Callable[[], object], num_calls: int, sync: Coordinator) -> list[tuple[int, int]]:
    """Beginning and end of each call."""
    spans = []
    for _ in range(num_calls):
        sync.ready()
        begin = time.monotonic_ns()
        call()
        spans.append((begin, time.monotonic_ns()))
    return spans


def main(arguments: list[str]) -> int:
    """Runs one rank; returns the exit code."""
    gc.collect()
    gc.disable()  # a collection inside a call would be in the trace
    return rank_main(arguments, TraceSpec, run_rank)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
