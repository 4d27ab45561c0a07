"""One rank of one launch: `python -m ringtree.lab.rank_process <spec fd> <report fd>`.

For: being a rank: read the specification from an inherited pipe, join the others, run the launch, say how it ended. Not
for: people; the lab starts it. Nothing of a run is in its arguments.
"""

from __future__ import annotations

import gc
import sys
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np

import ringtree
from ringtree.backends import Arm, Setting, make_arm, needs_torch
from ringtree.lab.exact_data import ExactData
from ringtree.lab.measure import Coordinator
from ringtree.lab.messages import RankSpec, Report
from ringtree.lab.plan import data_seed, planned_launches
from ringtree.lab.rank_main import rank_main
from ringtree.lab.rounds import LaunchRounds


class RankRun:
    """The arms and communicators of one rank."""

    def __init__(self, spec: RankSpec, report: Callable[[Report], None]) -> None:
        self._spec, self._report = spec, report
        # The lab's own communicator is apart from the engine's arms, and never emulated: a neutral barrier.
        self._sync_comm = self._init("sync")
        self._sync = Coordinator(self._sync_comm, start_together=spec.plan.emulation is not None)
        self._engine_comms: dict[tuple[int, bool], Any] = {}  # (channels, shared buffers) -> communicator
        self._arms: dict[str, Arm] = {}
        self._refused: dict[str, str] = {}

    def run(self) -> None:
        spec = self._spec
        launch = planned_launches(spec.plan)[spec.launch]
        self._set_up_arms([(arm.label, arm.name) for arm in launch.arms])
        data = ExactData(spec.plan.dtype, spec.plan.num_ranks, spec.rank, data_seed(spec.plan, spec.launch))
        rounds = LaunchRounds(spec, launch, self._arms, self._refused, data, self._sync, self._report)
        gc.collect()
        gc.disable()  # a collection inside a timed region would be charged to whichever arm it hits
        try:
            rounds.run()
        finally:
            gc.enable()
        self._sync.barrier()
        for arm in self._arms.values():
            arm.teardown()
        for communicator in (*self._engine_comms.values(), self._sync_comm):
            communicator.close()

    def _set_up_arms(self, arms: list[tuple[str, str]]) -> None:
        spec, plan = self._spec, self._spec.plan
        setting = Setting(
            rank=spec.rank,
            num_ranks=plan.num_ranks,
            collective=plan.collective,
            op=plan.op,
            dtype=plan.dtype,
            communicator=self._engine,
            torch_store=spec.torch_store,
            share=self._share,
            rendezvous=f"{spec.session}-arm",
            use_torch=any(needs_torch(arm.name) for arm in plan.arms),
            timeout=spec.timeout,
        )
        for number, (label, name) in enumerate(arms):
            arm, error = None, None
            try:
                arm = make_arm(name)
                arm.setup(replace(setting, rendezvous=f"{setting.rendezvous}{number}"))
            except Exception as raised:  # any failure disqualifies this arm only, if all ranks agree on it
                error = f"{type(raised).__name__}: {raised}"
            if self._sync.all_true(error is None) and arm is not None:
                self._arms[label] = arm
            else:
                self._refused[label] = error or "could not be set up on another rank"

    def _share(self, number: int) -> int:
        """Rank 0's number, on all ranks."""
        return int(self._sync_comm.broadcast(np.array([number], np.int64))[0])

    def _engine(self, channels: int, shared_buffers: bool) -> Any:
        kind = (channels, shared_buffers)
        if kind not in self._engine_comms:
            emulation = self._spec.plan.emulation
            self._engine_comms[kind] = self._init(
                f"engine-{channels}-{shared_buffers}",
                emulate=emulation and ringtree.Emulation(**emulation.model_dump()),
                channels=channels,
                shared_buffers=shared_buffers,
            )
        return self._engine_comms[kind]

    def _init(self, purpose: str, **options: Any) -> Any:
        spec = self._spec
        return ringtree.init(
            rank=spec.rank,
            world_size=spec.plan.num_ranks,
            store=spec.store or f"unix:{spec.session}-{purpose}",
            name=f"{spec.session}-{purpose}",
            timeout=spec.timeout,
            **options,
        )


def main(arguments: list[str]) -> int:
    """Runs one rank; returns the exit code."""
    return rank_main(arguments, RankSpec, lambda spec, report: RankRun(spec, report).run())


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
