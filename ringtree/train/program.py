"""A rank of a training: `python -m ringtree.train.program <spec fd> <report fd> [<command fd>]`.

For: what ranks of ringtree.measure do, with steps of a training in the place of calls. Not for: people; the lab starts
it. The commands are those of any rank program: set an arm up, warm it up, visit it, leave.
"""

from __future__ import annotations

import sys
import time
from contextlib import ExitStack

import torch

from ringtree.arms.torch_group import leave_group, shared_group
from ringtree.gpu import own_gpu
from ringtree.measure import rank_process
from ringtree.measure.messages import Answer, Command, RankSpec, SetUp, VisitCells, WarmCell
from ringtree.measure.rank_main import ReportTo
from ringtree.measure.rank_process import RankProgram
from ringtree.results import TrainedModel, TrainingPlan, WarmUp
from ringtree.train.trainer import Trainer


class TrainingProgram(RankProgram):
    """The arms of one rank, each with its own copy of the model."""

    def __init__(self, spec: RankSpec, report: ReportTo, stack: ExitStack) -> None:
        super().__init__(spec, report, stack)
        self._plan = TrainingPlan.model_validate(spec.job["training"])
        self._model = TrainedModel.model_validate(spec.job["model"])
        self._trainers: dict[str, Trainer] = {}
        self._of_cells: dict[int, Trainer] = {}
        self._device = torch.device("cpu")
        if spec.boundary == "cuda":
            self._device = torch.device("cuda", own_gpu(spec.rank, spec.local_rank))
            torch.cuda.set_device(self._device)
        torch.set_flush_denormal(True)  # an arm that moves nothing computes on whatever lies in memory

    def obey(self, command: Command) -> Answer:
        match command:
            case SetUp():
                return self._train_with(command)
            case WarmCell():
                return self._warm_up(command)
            case VisitCells():
                trainer = self._of_cells[command.cells[0]]
                return Answer(times=[self._step(trainer) for _ in range(command.timed)], trained=trainer.told())
        return Answer()

    def tear_down(self) -> None:
        self.sync.barrier()
        self._trainers.clear()
        self._of_cells.clear()
        leave_group()

    def _train_with(self, asked: SetUp) -> Answer:
        spec, error = self._spec, None
        try:
            shared_group(self._setting(asked))
            self._trainers[asked.arm] = Trainer(
                asked.name, self._model, self._plan, spec.rank, spec.job["hosts"], spec.seed, self._device, spec.timeout
            )
        except Exception as raised:  # any failure disqualifies this arm only, if all ranks agree on it
            error = f"{type(raised).__name__}: {raised}".splitlines()[0]
        if self.sync.all_true(error is None):
            return Answer()
        self._trainers.pop(asked.arm, None)
        return Answer(error=error or "could not be set up on another rank")

    def _warm_up(self, command: WarmCell) -> Answer:
        """As many steps as the plan has, so that all arms have trained equally long when the first one counts. In the
        last one DDP's buckets are laid as they stay: its collectives are counted."""
        trainer = self._of_cells[command.cell] = self._trainers[command.arm]
        started, number, error = time.perf_counter(), self._plan.num_warm_up, None
        try:
            self._step(trainer, counted=number == 1)
        except Exception as raised:
            error = f"{type(raised).__name__}: {raised}".splitlines()[0]
        if not self.sync.all_true(error is None):
            return Answer(error=error or "failed on another rank")
        for left in reversed(range(number - 1)):
            self._step(trainer, counted=left == 0)
        seconds = (time.perf_counter() - started) / number
        warm_up = WarmUp(num_iterations=number, ended="limit")
        return Answer(warm_up=warm_up, seconds=seconds, trained=trainer.told())

    def _step(self, trainer: Trainer, counted: bool = False) -> float:
        if counted:
            trainer.counted_step(self.sync.ready)
            return 0.0  # not timed
        self.sync.ready()
        started = time.perf_counter()
        trainer.step()
        return time.perf_counter() - started


def main(arguments: list[str]) -> int:
    """Runs one rank; returns the exit code."""
    return rank_process.main(arguments, TrainingProgram)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
