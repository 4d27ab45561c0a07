"""One process of a bench and its ranks: `python -m ringtree.ncclbench.rank_process <spec fd> <report fd>`.

For: being one rank, or several as threads: read the specification from an inherited pipe, join the others, run, say how
it ended. Not for: people; `ringtree bench` starts it.
"""

from __future__ import annotations

import gc
import os
import sys
from collections.abc import Callable
from contextlib import ExitStack
from functools import cache

import ringtree
from ringtree.backends import Setting, make_arm, needs_torch
from ringtree.lab.exact_data import factor_of
from ringtree.lab.measure import Coordinator
from ringtree.lab.rank_main import ReportTo, rank_main
from ringtree.launch import on_threads
from ringtree.ncclbench.messages import BenchReport, BenchSpec, JoinedReport
from ringtree.ncclbench.names import COLLECTIVES, DTYPES, NO_OP, NOT_IN_NUMPY, OPS
from ringtree.ncclbench.rank_bench import RankBench
from ringtree.ncclbench.rows import combinations


def run_ranks(spec: BenchSpec, report: ReportTo) -> None:
    """Runs the ranks of this process, a thread each."""
    on_threads(lambda thread: run_rank(spec, thread, report), spec.options.num_threads)


def run_rank(spec: BenchSpec, thread: int, report: Callable[[BenchReport], None]) -> None:
    """Joins the other ranks and runs every combination."""
    options = spec.options
    rank = spec.process * options.num_threads + thread
    with ExitStack() as stack:

        def join(purpose: str, channels: int = 1, shared_buffers: bool = False) -> ringtree.Communicator:
            joined = ringtree.init(
                rank,
                options.num_ranks,
                f"unix:{spec.session}-{purpose}",
                timeout=options.timeout,
                channels=channels,
                shared_buffers=options.shared_buffers or shared_buffers,
            )
            return stack.enter_context(joined)

        @cache
        def engine(channels: int, shared_buffers: bool) -> ringtree.Communicator:
            return join(f"engine-{channels}-{shared_buffers}", channels, shared_buffers)

        # Barriers and agreement are apart from what is measured, and the same for every arm.
        sync = Coordinator(join("sync"))
        report(JoinedReport(rank=rank, pid=os.getpid()))
        arms = []
        for number, combination in enumerate(combinations(options)):
            arm = make_arm(options.arm)
            op = "sum" if combination.op == NO_OP else OPS[combination.op]
            arm.setup(
                Setting(
                    rank=rank,
                    num_ranks=options.num_ranks,
                    collective=COLLECTIVES[options.collective],
                    op=op,
                    dtype=DTYPES[combination.dtype],
                    communicator=engine,
                    torch_store=spec.torch_store,
                    rendezvous=f"{spec.session}-arm{number}",
                    use_torch=needs_torch(options.arm) or combination.dtype in NOT_IN_NUMPY,
                    timeout=options.timeout,
                    factor=factor_of(op, rank),
                )
            )
            arms.append(arm)
            RankBench(options, combination, rank, arm, sync, report).run()
        sync.barrier()
        for arm in arms:  # not before: they may share a group of torch's
            arm.teardown()


def main(arguments: list[str]) -> int:
    """Runs the ranks of one process; returns the exit code."""
    gc.collect()
    gc.disable()  # a collection inside a timed loop would be charged to the arm
    return rank_main(arguments, BenchSpec, run_ranks)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
