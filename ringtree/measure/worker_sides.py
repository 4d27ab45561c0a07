"""Native workers as `ringtree bench` asks them: one arm, set up anew for each combination, sides of rows timed.

For: nccl-tests' loop in processes that a library's own launcher starts. Not for: comparisons (worker_set.py), or rows
(ringtree.bench).

What a library has not in place (a reduce_scatter into the own block, an all_to_all) is called out of place there, as a
caller would have to.
"""

from __future__ import annotations

from dataclasses import replace

from ringtree.arms import Native
from ringtree.measure.messages import Answer, SetUp, TimeSide
from ringtree.measure.probe import usable_cores
from ringtree.measure.worker_ranks import Answer as Timed
from ringtree.measure.worker_ranks import HasWorkers, Refused, Work, WorkerRanks
from ringtree.measure.worker_set import read_controls
from ringtree.storage import storage_of

ALIGNMENT = 64  # of workers' buffers, bytes


class WorkerSides(HasWorkers):
    """One arm's workers; `timeout`: seconds of each wait. Raises SetFailed where they die, hang or fail."""

    def __init__(self, native: Native, num_ranks: int, seed: int, timeout: float) -> None:
        super().__init__()
        self._native, self._num_ranks, self._seed, self._timeout = native, num_ranks, seed, timeout
        self._asked: SetUp | None = None
        self._num_calls = 0

    @property
    def pids(self) -> list[int]:
        """By rank; complete once it was asked for something."""
        return [] if self._ranks is None else self._ranks.pids

    def start(self) -> None:
        """Starts the processes without waiting for them. Raises SetFailed."""
        cores, variables = usable_cores()[: self._num_ranks], dict(self._native.controls.variables)
        self._ranks = WorkerRanks(self._native.program, self._num_ranks, cores, variables)
        self._ranks.ready(self._timeout)

    def ask(self, command: SetUp | TimeSide) -> list[Answer]:
        """Returns all ranks' answers. Raises SetFailed."""
        try:
            return self._set_up(command) if isinstance(command, SetUp) else self._time(command)
        except Refused as refused:
            return [Answer(error=str(refused))] * self._num_ranks

    def _set_up(self, asked: SetUp) -> list[Answer]:
        assert self._ranks is not None, "it was started"
        self._ranks.give_data(asked.collective, asked.dtype, asked.op, self._seed, self._timeout)
        read_controls(self._ranks, dict(self._native.controls.wanted), self._timeout)
        if self._native.words is not None:
            self._ranks.tell(f"algorithm {self._native.words}", self._timeout)
        self._asked = asked
        return [Answer() for _ in range(self._num_ranks)]

    def _time(self, side: TimeSide) -> list[Answer]:
        assert self._asked is not None, "it was set up"
        if side.num_untimed:
            self._run(side, side.num_untimed, 1)
        answers = [Answer() for _ in range(self._num_ranks)]
        if side.num_iterations:
            calls = side.num_calls if side.each else side.num_iterations * side.num_calls
            times = [[one / calls for one in of_rank] for of_rank in self._timed(side, calls)]
            answers = [
                Answer(seconds=sum(of_rank) / len(of_rank), times=of_rank if side.each else []) for of_rank in times
            ]
        if side.num_checks:
            wrong = self._run(side, 1, side.num_checks).wrong
            answers = [answer.model_copy(update={"num_wrong": of}) for answer, of in zip(answers, wrong, strict=True)]
        told = {"backend": self._native.program.name, "through": "native"}
        return [answer.model_copy(update={"executed": told}) for answer in answers]

    def _timed(self, side: TimeSide, calls: int) -> tuple[tuple[float, ...], ...]:
        return self._run(side, calls, side.num_iterations if side.each else 1).times

    def _run(self, side: TimeSide, calls: int, batches: int) -> Timed:
        assert self._ranks is not None
        assert self._asked is not None
        asked, first = self._asked, self._num_calls
        self._num_calls += calls * (batches + 1)  # workers add a batch where buffers are new
        work = Work(
            *(asked.collective, asked.dtype, asked.op, side.size_bytes, calls, batches, 0, first),
            offset=side.first_element * storage_of(asked.dtype).itemsize % ALIGNMENT,
            shared=self._native.shared,
            in_place=side.in_place,
            root=asked.root,
        )
        try:
            return self._ranks.run(work, self._timeout)
        except Refused:
            if not side.in_place:
                raise
            return self._ranks.run(replace(work, in_place=False), self._timeout)
