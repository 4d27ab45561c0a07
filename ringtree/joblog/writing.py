"""The file of one rank while it is written: lines of JSON, appended as steps end.

For: rank-<rank>-<pid>.jsonl, made at the rank's first collective. Not for: the shape of its lines as readers know it
(records.py), nor calls: the recorder in C++ has them, also as lines (ringtree/torch/csrc/trace/lines.h).

It is written in the training's own time, so lines are put together without the records' checks, and in bundles: what a
killed rank loses is at most the last bundle (_FLUSH_EVERY seconds).
"""

from __future__ import annotations

import json
import os
import socket
import sys
import time
from pathlib import Path
from typing import Any, NamedTuple, TextIO

from ringtree.joblog.on_gpu.steps import EndedStep
from ringtree.joblog.operators import Group
from ringtree.joblog.timed_steps import TimedSteps
from ringtree.storable import storable_command

FORMAT = "ringtree.job-trace/2"
_FLUSH_EVERY = 0.5  # seconds


class StepLength(NamedTuple):
    """A step that has ended."""

    step: int
    begin: float
    end: float
    timed: bool


class RankFile:
    """What one process records; `recorder` has its calls. One thread at a time: the tracer's lock."""

    def __init__(self, folder: Path, timed: TimedSteps, recorder: Any) -> None:
        self._folder, self._timed, self._recorder = folder, timed, recorder
        self._file: TextIO | None = None
        self._steps: list[str] = []
        self._groups: dict[Group, int] = {}
        self.num_steps = 0  # the number of the step under way
        self._last: StepLength | None = None
        self._kept: list[str] | None = None  # lines of calls, where they are wanted again
        self._step_begin: tuple[float, float] | None = None
        self._flushed = 0.0
        recorder.enter_step(0, timed.is_timed(0))

    def number_of(self, group: Group, now: float, ran: float) -> int:
        """Returns the number by which lines name a group, which the file has by then. Makes the file for the first."""
        if self._file is None:
            self._open(now, ran)
        if group not in self._groups:
            self._groups[group] = len(self._groups)
            self._write({"kind": "group", "group": self._groups[group], **group._asdict()})
        return self._groups[group]

    def end_step(self, now: float, ran: float) -> StepLength | None:
        """Ends a step; steps before the first collective are not recorded."""
        if self._file is None:
            return None
        begin, ran_begin = self._step_begin or (now, ran)
        last = self._last = StepLength(self.num_steps, begin, now, self._timed.is_timed(self.num_steps))
        self._steps.append(
            f'{{"kind":"step","step":{last.step},"begin":{begin:.7f},"end":{now:.7f},'
            f'"ran_begin":{ran_begin:.7f},"ran_end":{ran:.7f},"timed":{"true" if last.timed else "false"}}}\n'
        )
        self.num_steps += 1
        self.begin_step(now, ran)
        self._recorder.enter_step(self.num_steps, self._timed.is_timed(self.num_steps))
        if now - self._flushed > _FLUSH_EVERY:
            self._flush(now)
        return last

    def begin_step(self, now: float, ran: float) -> None:
        """The step under way begins here; what lies between the last one's end and this is in none."""
        self._step_begin = (now, ran)

    def keep_calls(self, keep: bool) -> None:
        """Whether ended_step() will be asked for the calls of the step under way."""
        self._kept = [] if keep else None

    def ended_step(self) -> EndedStep | None:
        """Returns the last step, with its calls where they were kept; None: there is none."""
        if self._last is None:
            return None
        if self._kept is not None:
            self._flush(self._last.end)
        sizes = [group.size for group in self._groups]
        return EndedStep(self._last.step, self._last.begin, self._last.end, self._kept or [], sizes)

    def add(self, lines: list[str]) -> None:
        """Adds lines as they are, with the next that are written."""
        self._steps += lines

    def make_room(self, now: float, _: float) -> None:
        """Writes what the recorder has kept, so that it can keep more."""
        if self._file is not None:
            self._flush(now)

    def close(self, now: float, ran: float) -> None:
        if self._file is None:
            return
        self._flush(now, all_calls=True)
        begin, ran_begin = self._step_begin or (now, ran)
        last = {"begin": begin, "end": now, "ran_begin": ran_begin, "ran_end": ran}
        self._write({"kind": "end", "num_calls": self._recorder.num_calls(), "num_steps": self.num_steps, **last})
        self._file.close()
        self._file = None

    def _open(self, now: float, ran: float) -> None:
        import torch
        import torch.distributed as dist

        pid = os.getpid()
        rank, size = (dist.get_rank(), dist.get_world_size()) if dist.is_initialized() else (0, 1)
        path = self._folder / f"rank-{rank}-{pid}.jsonl"
        self._file = path.open("x", encoding="utf-8", buffering=1 << 16)
        self._step_begin, self._flushed = (now, ran), now
        about: dict[str, object] = {"host": socket.gethostname(), "pid": pid, "torch": str(torch.__version__)}
        about["command"] = storable_command(sys.orig_argv[:200])
        about |= {"nccl": _nccl_version(), "begun": time.time(), "clock": now}
        self._write({"kind": "rank", "format": FORMAT, "rank": rank, "world_size": size, **about})

    def _flush(self, now: float, all_calls: bool = False) -> None:
        """Calls that are under way stay for the next time, of the last step and of this one alone."""
        assert self._file is not None
        most = 0 if all_calls else self._recorder.capacity // 2
        calls: str = self._recorder.take(self.num_steps - 1, most)
        if self._kept is not None:
            self._kept += calls.splitlines()
        self._file.write(calls)
        self._file.writelines(self._steps)
        self._steps.clear()
        self._file.flush()
        self._flushed = now

    def _write(self, line: dict[str, object]) -> None:
        assert self._file is not None
        self._file.write(json.dumps(line, separators=(",", ":")) + "\n")
        self._file.flush()


def _nccl_version() -> str | None:
    try:
        from torch.cuda import nccl

        compiled = ".".join(map(str, nccl.version()))  # type: ignore[no-untyped-call]
    except (ImportError, AttributeError, RuntimeError):
        return None
    from ringtree.gpu.mapped import mapped_nccl_version  # far more comes with it than a rank on CPUs needs

    return mapped_nccl_version() or compiled
