"""One rank of one launch: `python -m ringtree.lab.rank_process <spec fd> <report fd>`.

For: being a rank: read the specification from an inherited pipe, run every cell, report each as a JSON line. Not for:
people; the lab starts it. Nothing of a run is in its arguments.
"""

from __future__ import annotations

import gc
import sys
from typing import Any

import numpy as np

import ringtree
from ringtree.backends import Arm, Setting, make_arm
from ringtree.lab.exact_data import ExactData
from ringtree.lab.lifeline import tie_to_lab
from ringtree.lab.measure import CellLoop, Coordinator
from ringtree.lab.messages import CellReport, DoneReport, FailureReport, RankSpec, read_spec, write_report
from ringtree.results import Plan


class RankRun:
    """The arms and communicators of one rank."""

    def __init__(self, spec: RankSpec, report_to: int) -> None:
        self._spec, self._report_to = spec, report_to
        # The lab's own communicator is apart from the engine's arms, and never emulated: a neutral barrier.
        self._sync_comm = self._init("sync", None)
        self._sync = Coordinator(self._sync_comm, start_together=spec.plan.emulation is not None)
        self._engine_comm: Any = None
        self._arms: dict[str, Arm] = {}
        self._refused: dict[str, str] = {}
        plan = spec.plan
        self._data = ExactData(plan.dtype, plan.num_ranks, spec.rank, spec.data_seed)
        self._next_call = 0

    def run(self) -> None:
        self._set_up_arms()
        gc.collect()
        gc.disable()  # a collection inside a timed region would be charged to whichever arm it hits
        try:
            for size_bytes, label in self._spec.order:
                write_report(self._report_to, self._run_cell(size_bytes, label))
        finally:
            gc.enable()
        self._sync.barrier()
        for arm in self._arms.values():
            arm.teardown()
        for communicator in (self._engine_comm, self._sync_comm):
            if communicator is not None:
                communicator.close()

    def _set_up_arms(self) -> None:
        spec, plan = self._spec, self._spec.plan
        setting = Setting(
            rank=spec.rank,
            num_ranks=plan.num_ranks,
            collective=plan.collective,
            op=plan.op,
            dtype=plan.dtype,
            communicator=self._engine,
            torch_store=spec.torch_store,
            use_torch=spec.use_torch,
            timeout=spec.timeout,
        )
        for arm_plan in plan.arms:
            arm, error = None, None
            try:
                arm = make_arm(arm_plan.name)
                arm.setup(setting)
            except Exception as raised:  # any failure disqualifies this arm only, if all ranks agree on it
                error = f"{type(raised).__name__}: {raised}"
            if self._sync.all_true(error is None) and arm is not None:
                self._arms[arm_plan.label] = arm
            else:
                self._refused[arm_plan.label] = error or "could not be set up on another rank"

    def _run_cell(self, size_bytes: int, label: str) -> CellReport:
        if label in self._refused:
            return CellReport(
                size_bytes=size_bytes,
                arm=label,
                executed=None,
                times=[],
                first_wrong=None,
                error=self._refused[label],
            )
        plan, arm = self._spec.plan, self._arms[label]
        loop = CellLoop(arm, self._data, self._sync, self._spec.rank, _size_plan(plan, size_bytes), self._next_call)
        measured = loop.run(size_bytes // np.dtype(plan.dtype).itemsize, plan.cell_budget)
        self._next_call = loop.next_call
        executed = arm.executed() if measured.error is None else None
        arm.make_buffers(0, 0)  # gives the memory back before the next arm takes its own
        return CellReport(
            size_bytes=size_bytes,
            arm=label,
            executed=executed,
            times=measured.times,
            first_wrong=measured.first_wrong,
            error=measured.error,
        )

    def _engine(self) -> Any:
        if self._engine_comm is None:
            emulation = self._spec.plan.emulation
            emulate = emulation and ringtree.Emulation(**emulation.model_dump())
            self._engine_comm = self._init("engine", emulate)
        return self._engine_comm

    def _init(self, purpose: str, emulate: Any) -> Any:
        spec = self._spec
        return ringtree.init(
            rank=spec.rank,
            world_size=spec.plan.num_ranks,
            store=f"unix:{spec.session}-{purpose}",
            timeout=spec.timeout,
            emulate=emulate,
        )


def _size_plan(plan: Plan, size_bytes: int) -> Any:
    return next(size for size in plan.sizes if size.size_bytes == size_bytes)


def main(arguments: list[str]) -> int:
    """Runs one rank; returns the exit code. Failures are reported in one line, details go to standard error."""
    spec_from, report_to = (int(argument) for argument in arguments)
    spec = read_spec(spec_from)
    tie_to_lab(spec_from, spec.process_group)
    try:
        RankRun(spec, report_to).run()
    except Exception as raised:  # the last place that can still tell the lab
        text = f"{type(raised).__name__}: {raised}".splitlines()
        write_report(report_to, FailureReport(text=text[0] if text else "failed"))
        return 1
    write_report(report_to, DoneReport())
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
