"""A schedule whose steps do one thing each: receive, then fold or copy, then send.

For: showing what it is worth that the engine does all of that in one pass over the data: the same algorithm runs either
way. Not for: any other change: order of the folds, links and lanes stay as they are.

What arrives goes to scratch (recv), is folded there or into its destination by steps without messages (reduce), and the
result is sent from where it then lies (send). Lanes run in order, so the steps of a lane share its scratch.
"""

from __future__ import annotations

from ringtree._core import Schedule as CoreSchedule
from ringtree._core import Step
from ringtree.schedules.schedule import Schedule

Place = tuple[str, int]
SUFFIX = "-unfused"


def unfused(schedule: Schedule) -> Schedule:
    """Returns `schedule` with each step that receives and does something else cut into steps that do one thing."""
    core, steps, num_scratch = schedule.core, [], []
    for rank in range(schedule.num_ranks):
        cut = _Program(core, rank)
        steps.append(cut.steps)
        num_scratch.append(cut.num_scratch)
    name = schedule.name + SUFFIX
    shape = (schedule.collective, schedule.num_ranks, schedule.root, schedule.num_chunks, schedule.widest)
    return Schedule(CoreSchedule(name, *shape, steps, num_scratch, shares=schedule.shares))


class _Program:
    """One rank's steps, cut."""

    def __init__(self, core: CoreSchedule, rank: int) -> None:
        program = core.steps(rank)
        self.steps: list[Step] = []
        self.num_scratch = core.num_scratch(rank)
        self._scratch_of: dict[int, int] = {}  # lane -> its first slot of scratch
        for lane in sorted({step.lane for step in program}):
            self._scratch_of[lane] = self.num_scratch
            wanted = [len(step.recv) * step.chunk_range[1] for step in program if step.lane == lane]
            self.num_scratch += max(wanted)
        for step in program:
            if step.recv and (step.send_to or len(step.recv) > 1 or step.src is not None):
                self._cut(step)
            else:
                self.steps.append(step)

    def _cut(self, step: Step) -> None:
        first, count = self._scratch_of[step.lane], step.chunk_range[1]
        arrived: list[Place] = [("scratch", first + i * count) for i in range(len(step.recv))]
        folds = len(step.recv) > 1 or step.src is not None
        if not folds and step.dst is not None:
            arrived = [step.dst]
        for place, end in zip(arrived, step.recv, strict=True):
            self._add("recv", step, recv=[end], dst=place)
        result = self._fold(step, arrived) if folds else arrived[0]
        if step.send_to:
            self._add("send", step, src=result, send_to=step.send_to, send_tag=step.send_tag)

    def _fold(self, step: Step, arrived: list[Place]) -> Place:
        """Folds in the step's own order, from left to right; returns where the result is."""
        before = arrived[: step.src_at] if step.src is not None else arrived
        after = arrived[len(before) :]
        for place in before[1:]:
            self._add("reduce", step, src=place, dst=before[0], src_at=1)
        if step.dst is None or step.src is None:
            # In scratch, where what arrived first lies. Without a destination nothing else may be written.
            result = arrived[0]
            if step.src is not None:
                self._add("reduce", step, src=step.src, dst=result, src_at=1 if before else 0)
                after = after if before else after[1:]
            for place in after:
                self._add("reduce", step, src=place, dst=result, src_at=1)
            if step.dst is not None:
                self._add("copy", step, src=result, dst=step.dst)
                result = step.dst
            return result
        if step.src != step.dst:
            self._add("copy", step, src=step.src, dst=step.dst)  # in place it is there already, and nothing moves
        if before:
            self._add("reduce", step, src=before[0], dst=step.dst, src_at=0)
        for place in after:
            self._add("reduce", step, src=place, dst=step.dst, src_at=1)
        return step.dst

    def _add(
        self,
        verb: str,
        like: Step,
        *,
        recv: list[tuple[int, int]] | None = None,
        src: Place | None = None,
        src_at: int = 0,
        dst: Place | None = None,
        send_to: list[int] | None = None,
        send_tag: int = 0,
    ) -> None:
        self.steps.append(
            Step(verb, like.lane, like.chunk_range, recv or [], src, src_at, dst, send_to or [], send_tag)
        )
