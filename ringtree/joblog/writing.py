"""The file of one rank while it is written: lines of JSON, appended as steps end.

For: rank-<rank>-<pid>.jsonl, made at the rank's first collective. Not for: the shape of its lines as readers know it
(records.py), nor when a call ends (tracer.py).

It is written in the training's own time, so lines are put together here without the records' checks, and in bundles:
what a killed rank loses is at most the last bundle (_FLUSH_EVERY seconds).
"""

from __future__ import annotations

import json
import os
import socket
import sys
import time
from pathlib import Path
from typing import TextIO

from ringtree.joblog.operators import Described, Group

FORMAT = "ringtree.job-trace/1"
_FLUSH_EVERY = 0.5  # seconds


class OpenCall:
    """A call that was issued; `end` is None until it is over."""

    __slots__ = ("begin", "described", "end", "issued", "number", "ran_begin", "ran_end", "step", "timed")

    def __init__(self, number: int, step: int, described: Described, timed: bool, begin: float, ran: float) -> None:
        self.timed = timed and described.device == "cpu"  # the host can't time a GPU's
        self.number, self.step, self.described, self.begin, self.ran_begin = number, step, described, begin, ran
        self.issued: float | None = None
        self.end: float | None = None
        self.ran_end: float | None = None

    def complete(self, now: float, ran: float) -> None:
        self.ran_end, self.end = ran, now


class RankFile:
    """What one process records. One thread at a time: the tracer's lock."""

    def __init__(self, folder: Path, time_every: int) -> None:
        self._folder, self._time_every = folder, time_every
        self._file: TextIO | None = None
        self._calls: list[OpenCall] = []
        self._steps: list[str] = []
        self._groups: dict[Group, int] = {}
        self._num_calls = self._num_steps = 0
        self._step_begin: tuple[float, float] | None = None
        self._flushed = 0.0

    def begin_call(self, described: Described, now: float, ran: float) -> OpenCall:
        if self._file is None:
            self._open(now, ran)
        if described.group not in self._groups:
            self._groups[described.group] = len(self._groups)
            number, group = len(self._groups) - 1, described.group
            self._write({"kind": "group", "group": number, **group._asdict()})
        call = OpenCall(self._num_calls, self._num_steps, described, self._timed(), now, ran)
        self._num_calls += 1
        self._calls.append(call)
        return call

    def awaits_an_end(self) -> bool:
        """Says whether the last call, if it is timed, has not ended."""
        last = self._calls[-1] if self._calls else None
        return last is not None and last.end is None and last.timed

    def end_step(self, now: float, ran: float) -> None:
        """Ends a step; steps before the first collective are not recorded."""
        if self._file is None:
            return
        begin, ran_begin = self._step_begin or (now, ran)
        self._steps.append(
            f'{{"kind":"step","step":{self._num_steps},"begin":{begin:.7f},"end":{now:.7f},'
            f'"ran_begin":{ran_begin:.7f},"ran_end":{ran:.7f},"timed":{"true" if self._timed() else "false"}}}\n'
        )
        self._num_steps += 1
        self._step_begin = (now, ran)
        if now - self._flushed > _FLUSH_EVERY:
            self._flush(now)

    def close(self, now: float, ran: float) -> None:
        if self._file is None:
            return
        self._flush(now, all_calls=True)
        begin, ran_begin = self._step_begin or (now, ran)
        last = {"begin": begin, "end": now, "ran_begin": ran_begin, "ran_end": ran}
        self._write({"kind": "end", "num_calls": self._num_calls, "num_steps": self._num_steps, **last})
        self._file.close()
        self._file = None

    def _timed(self) -> bool:
        """Says whether this step is timed: the first, which may be all that there is, and one of each `time_every`."""
        return not self._num_steps or self._num_steps % self._time_every == min(2, self._time_every - 1)

    def _open(self, now: float, ran: float) -> None:
        import torch
        import torch.distributed as dist

        pid = os.getpid()
        rank, size = (dist.get_rank(), dist.get_world_size()) if dist.is_initialized() else (0, 1)
        path = self._folder / f"rank-{rank}-{pid}.jsonl"
        self._file = path.open("x", encoding="utf-8", buffering=1 << 16)
        self._step_begin, self._flushed = (now, ran), now
        about: dict[str, object] = {"host": socket.gethostname(), "pid": pid, "torch": str(torch.__version__)}
        about["command"] = sys.orig_argv[:200]
        about |= {"nccl": _nccl_version(), "begun": time.time(), "clock": now}
        self._write({"kind": "rank", "format": FORMAT, "rank": rank, "world_size": size, **about})

    def _flush(self, now: float, all_calls: bool = False) -> None:
        assert self._file is not None
        under_way = []
        for call in self._calls:
            given_up = all_calls or call.step < self._num_steps - 1 or not call.timed
            if call.end is not None or given_up:
                self._file.write(self._line(call))
            else:
                under_way.append(call)
        self._calls = under_way
        self._file.writelines(self._steps)
        self._steps.clear()
        self._file.flush()
        self._flushed = now

    def _line(self, call: OpenCall) -> str:
        said = call.described
        end, ran_end = ("null", "null") if call.end is None else (f"{call.end:.7f}", f"{call.ran_end:.7f}")
        issued = "null" if call.issued is None else f"{call.issued:.7f}"
        return (
            f'{{"kind":"call","call":{call.number},"step":{call.step},"collective":"{said.collective}",'
            f'"operator":"{said.operator}","group":{self._groups[said.group]},"in_bytes":{said.in_bytes},'
            f'"out_bytes":{said.out_bytes},"dtype":"{said.dtype}","device":"{said.device}",'
            f'"num_tensors":{said.num_tensors},"begin":{call.begin:.7f},"issued":{issued},"end":{end},'
            f'"ran_begin":{call.ran_begin:.7f},"ran_end":{ran_end}}}\n'
        )

    def _write(self, line: dict[str, object]) -> None:
        assert self._file is not None
        self._file.write(json.dumps(line, separators=(",", ":")) + "\n")
        self._file.flush()


def _nccl_version() -> str | None:
    try:
        from torch.cuda import nccl

        return ".".join(map(str, nccl.version()))  # type: ignore[no-untyped-call]
    except (ImportError, AttributeError, RuntimeError):
        return None
