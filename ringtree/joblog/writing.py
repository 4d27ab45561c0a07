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
from typing import Any, TextIO

from ringtree.joblog.operators import Group

FORMAT = "ringtree.job-trace/1"
_FLUSH_EVERY = 0.5  # seconds


class RankFile:
    """What one process records; `recorder` has its calls. One thread at a time: the tracer's lock."""

    def __init__(self, folder: Path, time_every: int, recorder: Any) -> None:
        self._folder, self._time_every, self._recorder = folder, time_every, recorder
        self._file: TextIO | None = None
        self._steps: list[str] = []
        self._groups: dict[Group, int] = {}
        self._num_steps = 0
        self._step_begin: tuple[float, float] | None = None
        self._flushed = 0.0
        recorder.enter_step(0, self._timed())

    def number_of(self, group: Group, now: float, ran: float) -> int:
        """Returns the number by which lines name a group, which the file has by then. Makes the file for the first."""
        if self._file is None:
            self._open(now, ran)
        if group not in self._groups:
            self._groups[group] = len(self._groups)
            self._write({"kind": "group", "group": self._groups[group], **group._asdict()})
        return self._groups[group]

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
        self._recorder.enter_step(self._num_steps, self._timed())
        if now - self._flushed > _FLUSH_EVERY:
            self._flush(now)

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
        self._write({"kind": "end", "num_calls": self._recorder.num_calls(), "num_steps": self._num_steps, **last})
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
        """Calls that are under way stay for the next time, of the last step and of this one alone."""
        assert self._file is not None
        most = 0 if all_calls else self._recorder.capacity // 2
        self._file.write(self._recorder.take(self._num_steps - 1, most))
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
