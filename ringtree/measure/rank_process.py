"""One rank of one launch: `python -m ringtree.measure.rank_process <spec fd> <report fd> [<command fd>]`.

For: being a rank, or several as threads: read the specification from an inherited pipe, join the others, do what one
is told until told to leave. Not for: people; the lab starts it. Nothing of a run is in its arguments.

Only rank 0 has a pipe of commands. It hands each one on over the lab's own communicator, so that ranks of other hosts
hear it too, all ranks obey, and rank 0 reports what all of them answer. Between two commands everybody sleeps: rank 0
in read(), the others in the kernel.
"""

from __future__ import annotations

import gc
import sys
from contextlib import ExitStack
from typing import Any

from ringtree.arms import Arm, Setting, make_arm
from ringtree.comm.communicator import init
from ringtree.comm.rank_threads import on_threads
from ringtree.measure.cell_loop import CallNumbers, CellLoop
from ringtree.measure.collective_data import CollectiveData
from ringtree.measure.coordinator import Coordinator
from ringtree.measure.exact_data import factor_of
from ringtree.measure.framing import read_json
from ringtree.measure.messages import (
    Answer,
    AnswersReport,
    AskChoice,
    Command,
    Leave,
    RankSpec,
    ReplaySteps,
    SetUp,
    TimeSide,
    TraceCalls,
    VisitCells,
    WarmCell,
    commands,
)
from ringtree.measure.operands import Operands
from ringtree.measure.rank_main import ReportTo, rank_main
from ringtree.measure.replayed_steps import replay_steps
from ringtree.measure.timed_side import TimedSides
from ringtree.measure.traced_calls import trace_calls
from ringtree.schedules.emulation import Emulation


class RankProgram:
    """The arms, cells and communicators of one rank. `stack`: closes the communicators."""

    def __init__(self, spec: RankSpec, report: ReportTo, stack: ExitStack) -> None:
        self._spec, self._report, self._stack = spec, report, stack
        # The lab's own communicator is apart from the engine's arms, and never emulated: a neutral barrier.
        self.sync = Coordinator(self._init("sync", spec.idle_limit), start_together=spec.emulation is not None)
        self._engine_comms: dict[tuple[int, bool], Any] = {}  # (channels, shared buffers) -> communicator
        self._arms: dict[str, tuple[Arm, CollectiveData]] = {}
        self._data: dict[tuple[str, str, str, int], CollectiveData] = {}  # (collective, dtype, op, root)
        self._operands = Operands(spec.memory)
        self._cells: dict[int, CellLoop] = {}
        self._numbers = CallNumbers()
        self._sides = TimedSides(self.sync, self._numbers, spec.shared_buffers)
        self._num_set_up = 0

    def obey(self, command: Command) -> Answer:
        """Does what all ranks are told at the same time."""
        match command:
            case SetUp():
                return self._set_up(command)
            case WarmCell():
                arm, data = self._arms[command.arm]
                loop = CellLoop(arm, data, self.sync, command, self._numbers, self._operands)
                self._cells[command.cell] = loop
                return loop.warm_up()
            case VisitCells():
                how = command.untimed, command.timed, command.check
                answers = [self._cells[cell].visit(*how) for cell in command.cells]
                return answers[-1].model_copy(update={"times": [one for each in answers for one in each.times]})
            case AskChoice():
                _, data = self._arms[command.arm]
                count = data.elements(command.size_bytes).count
                comm = self._engine(1, command.shared_buffers)
                return Answer(choice=comm.choice(data.collective, count, data.dtype))
            case TimeSide():
                return self._sides.run(*self._arms[command.arm], command)
            case ReplaySteps():
                return replay_steps(command, self._spec.rank, self._arms, self.sync)
            case TraceCalls():
                comm = self._engine(command.num_channels, command.shared_buffers)
                for part in trace_calls(comm, command, self.sync):
                    self._report(part)
        return Answer()

    def tear_down(self) -> None:
        """Gives back what arms hold, with all ranks alike."""
        self.sync.barrier()
        for arm, _ in self._arms.values():
            arm.teardown()

    def _set_up(self, asked: SetUp) -> Answer:
        spec, error = self._spec, None
        try:
            arm = make_arm(asked.name)
            arm.setup(self._setting(asked))
            of = asked.collective, asked.dtype, asked.op, asked.root
            if of not in self._data:
                self._data[of] = CollectiveData(*of[:2], spec.num_ranks, spec.rank, spec.seed, *of[2:])
            self._arms[asked.arm] = arm, self._data[of]
        except Exception as raised:  # any failure disqualifies this arm only, if all ranks agree on it
            error = f"{type(raised).__name__}: {raised}"
        if self.sync.all_true(error is None):
            return Answer()
        self._arms.pop(asked.arm, None)
        return Answer(error=error or "could not be set up on another rank")

    def _setting(self, asked: SetUp) -> Setting:
        spec = self._spec
        self._num_set_up += 1
        return Setting(
            rank=spec.rank,
            num_ranks=spec.num_ranks,
            collective=asked.collective,
            op=asked.op,
            dtype=asked.dtype,
            communicator=self._engine,
            torch_store=spec.torch_store,
            torch_host=spec.torch_host,
            local_rank=spec.local_rank,
            share=self._share,
            agreed=self.sync.all_true,
            rendezvous=f"{spec.session}-arm{self._num_set_up}",
            boundary=spec.boundary,
            timeout=spec.timeout,
            factor=factor_of(asked.op, spec.rank),
            all_arguments=asked.all_arguments,
        )

    def _share(self, number: int) -> int:
        """Rank 0's number, on all ranks."""
        return self.sync.decide([number])[0]

    def _engine(self, channels: int, shared_buffers: bool) -> Any:
        kind = (channels, shared_buffers or self._spec.shared_buffers)
        if kind not in self._engine_comms:
            emulation = self._spec.emulation
            self._engine_comms[kind] = self._init(
                f"engine-{channels}-{shared_buffers}",
                self._spec.timeout,
                memory_cap=self._spec.memory_cap,
                profile=self._spec.profile,
                emulate=emulation and Emulation(**emulation.model_dump()),
                channels=channels,
                shared_buffers=kind[1],
            )
        return self._engine_comms[kind]

    def _init(self, purpose: str, timeout: float, **options: Any) -> Any:
        spec = self._spec
        communicator = init(
            rank=spec.rank,
            world_size=spec.num_ranks,
            store=spec.store or f"unix:{spec.session}-{purpose}",
            name=f"{spec.session}-{purpose}",
            timeout=timeout,
            **options,
        )
        return self._stack.enter_context(communicator)


def run_ranks(
    spec: RankSpec, report: ReportTo, commands_from: int | None, program: type[RankProgram] = RankProgram
) -> None:
    """Runs the ranks of this process. `commands_from`: rank 0's pipe; `program`: what obeys the commands."""
    if spec.num_threads == 1:
        run_rank(spec, report, commands_from, program)
    else:
        first = spec.local_rank
        own = [
            spec.model_copy(
                update={"rank": spec.rank + thread, "local_rank": None if first is None else first + thread}
            )
            for thread in range(spec.num_threads)
        ]
        on_threads(lambda thread: run_rank(own[thread], report, commands_from, program), spec.num_threads)


def run_rank(spec: RankSpec, report: ReportTo, commands_from: int | None, program_type: type[RankProgram]) -> None:
    """Joins the other ranks and does what the lab says; leaves them at once if this one fails."""
    with ExitStack() as stack:
        program = program_type(spec, report, stack)
        gc.collect()
        gc.disable()  # a collection inside a timed region would be charged to whichever arm it hits
        while True:
            if spec.rank == 0:
                assert commands_from is not None, "the lab gives rank 0 a pipe"
                command = commands.validate_json(read_json(commands_from))
                program.sync.tell(command)
            else:
                command = commands.validate_json(program.sync.hear())
            answers = program.sync.gather(program.obey(command))
            if spec.rank == 0:
                report(AnswersReport(of_ranks=[Answer.model_validate_json(answer) for answer in answers]))
            if isinstance(command, Leave):
                program.tear_down()
                return


def main(arguments: list[str], program: type[RankProgram] = RankProgram) -> int:
    """Runs one rank; returns the exit code."""
    commands_from = int(arguments[2]) if len(arguments) > 2 else None
    return rank_main(arguments, lambda spec, report: run_ranks(spec, report, commands_from, program))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
