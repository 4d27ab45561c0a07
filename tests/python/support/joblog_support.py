"""Job traces for tests, written line by line: no process, no PyTorch.

For: `rank_lines()` and what it is made of. Not for: traces of real jobs (joblog_ranks.py records those).
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

FORMAT = "ringtree.job-trace/1"


def rank_line(rank: int = 0, world_size: int = 1, **more: Any) -> dict[str, Any]:
    about = {"host": "a", "pid": 1, "torch": "2.13.0", "nccl": None, "begun": 1.0, "clock": 0.0, "command": ["train"]}
    return {"kind": "rank", "format": FORMAT, "rank": rank, "world_size": world_size, **about, **more}


def group_line(group: int = 0, size: int = 2, backend: str = "gloo") -> dict[str, Any]:
    return {"kind": "group", "group": group, "name": str(group), "backend": backend, "size": size, "ranks": [0, 1]}


def call_line(call: int, begin: float, end: float | None, ran: Sequence[float], **more: Any) -> dict[str, Any]:
    """`ran`: CPU time of the rank's threads at begin and end."""
    said = {"collective": "all_reduce", "operator": "allreduce_", "group": 0, "in_bytes": 4096, "out_bytes": 4096}
    times = {
        "begin": begin,
        "issued": begin,
        "end": end,
        "ran_begin": ran[0],
        "ran_end": None if end is None else ran[1],
    }
    rest = {"step": 0, "dtype": "float32", "device": "cpu", "num_tensors": 1}
    return {"kind": "call", "call": call, **said, **rest, **times, **more}


def step_line(step: int, begin: float, end: float, ran: Sequence[float] = (0.0, 0.0)) -> dict[str, Any]:
    times = {"begin": begin, "end": end, "ran_begin": ran[0], "ran_end": ran[1]}
    return {"kind": "step", "step": step, **times, "timed": True}


def end_line(num_calls: int, num_steps: int, end: float) -> dict[str, Any]:
    times = {"begin": end, "end": end, "ran_begin": 0.0, "ran_end": 0.0}
    return {"kind": "end", "num_calls": num_calls, "num_steps": num_steps, **times}


def write_rank(folder: Path, lines: Sequence[dict[str, Any]], rank: int = 0, pid: int = 1) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    file = folder / f"rank-{rank}-{pid}.jsonl"
    file.write_text("".join(json.dumps(line) + "\n" for line in lines))
    return file


def whole_rank(folder: Path, calls: Sequence[dict[str, Any]], steps: Sequence[dict[str, Any]], **more: Any) -> Path:
    """A rank that ended by itself."""
    groups = more.pop("groups", [group_line()])
    end = max([0.0, *(line["end"] or 0.0 for line in (*calls, *steps))])
    lines = [rank_line(**more), *groups, *calls, *steps, end_line(len(calls), len(steps), end)]
    return write_rank(folder, lines, more.get("rank", 0))


def gpu_call(call: int, step: int, begin: float, **more: Any) -> dict[str, Any]:
    """As the host records it: issued, with no end."""
    return call_line(call, begin, None, (0.0, 0.0), step=step, device="cuda", **more)


def device_call(call: int, begin: float, end: float, exposed: float) -> dict[str, Any]:
    times = {"begin": begin, "end": end, "in_flight": end - begin, "exposed": exposed}
    return {"kind": "device_call", "call": call, **times}


def device_step(step: int, exposed: float, **more: Any) -> dict[str, Any]:
    return {"kind": "device_step", "step": step, "exposed": exposed, "lost": [], "unmatched": 0, "kernels": [], **more}
