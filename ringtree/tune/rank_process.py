"""One rank of one launch of a tuning: `python -m ringtree.tune.rank_process <spec fd> <report fd>`.

For: being a rank: read the specification from an inherited pipe, join the others, run the launch, say how it ended. Not
for: people; `ringtree tune` starts it.
"""

from __future__ import annotations

import gc
import sys
import time
from typing import Any

import numpy as np

import ringtree
from ringtree.lab.measure import Coordinator
from ringtree.lab.rank_main import ReportTo, rank_main
from ringtree.lab.rounds import PROBE_PAUSE
from ringtree.probe import Handoff, core_pairs, usable_cores
from ringtree.tune.rank_rounds import TuneRounds
from ringtree.tune.records import TuneSpec

# Every candidate keeps its links, so more of them than one program needs exist at the same time.
MEMORY_CAP = 2 << 30


class RankSync(Coordinator):
    """The coordinator with the two things that rounds need besides: the slowest rank's times, and probes."""

    def __init__(self, communicator: Any, rank: int) -> None:
        super().__init__(communicator)
        self._communicator = communicator
        self._probe = Handoff() if rank == 0 else None
        self._pause_seconds = PROBE_PAUSE * len(core_pairs(usable_cores()))

    def slowest(self, seconds: list[float]) -> list[float]:
        """Returns, on every rank, the largest of all ranks' values at each place."""
        box = np.array(seconds, dtype=np.float64)
        self._communicator.all_reduce(box, op="max")
        return [float(value) for value in box]

    def probe(self) -> float | None:
        """Every rank stands still while rank 0 probes; returns seconds on rank 0, None elsewhere or if it failed."""
        self.barrier()
        if self._probe is not None:
            return self._probe.measure()
        time.sleep(self._pause_seconds)
        return None


def run_rank(spec: TuneSpec, report: ReportTo) -> None:
    """Joins the other ranks and runs the launch."""
    sync_comm = _init(spec, "sync")
    comm = _init(spec, "engine", profile=spec.request.profile, shared_buffers=spec.launch.world.shared_buffers)
    rounds = TuneRounds(spec, comm, RankSync(sync_comm, spec.rank), report)
    gc.collect()
    gc.disable()  # a collection inside a timed region would be charged to whichever candidate it hits
    try:
        rounds.run()
    finally:
        gc.enable()
    sync_comm.barrier()
    comm.close()
    sync_comm.close()


def _init(spec: TuneSpec, purpose: str, profile: str = "", shared_buffers: bool = False) -> Any:
    return ringtree.init(
        rank=spec.rank,
        world_size=spec.launch.world.num_ranks,
        store=spec.store or f"unix:{spec.session}-{purpose}",
        name=f"{spec.session}-{purpose}",
        timeout=spec.timeout,
        memory_cap=MEMORY_CAP,
        profile=profile,
        shared_buffers=shared_buffers,
    )


def main(arguments: list[str]) -> int:
    """Runs one rank; returns the exit code."""
    return rank_main(arguments, TuneSpec, run_rank)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
