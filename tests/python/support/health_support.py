"""Logs of machines with known links, made by arithmetic: healthy ones and sick ones.

For: tests of ringtree.health. Not for: real logs (logs_support.py).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

from audit_support import as_text, make_table
from nccl_info_support import all_ranks, complete, line, start

from ringtree.audit import Setup
from ringtree.health import HealthReport, Question, health_of
from ringtree.health.entries import Reached

SIZES = tuple(1 << power for power in range(10, 34))
H100X2 = Setup(system="p5.48xlarge", num_hosts=2, num_ranks=16)
Time = Callable[[int], float]


def time_of(alpha: float = 60e-6, rate: float = 260e9) -> Time:
    """Seconds of a call of so many bytes: 260 GB/s of algbw are 487.5 GB/s of busbw with 16 ranks."""
    return lambda size: alpha + size / rate


def log_text(time: Time | None = None, *, ranks: int = 16, hosts: int = 2, sizes: Sequence[int] = SIZES) -> str:
    """Returns what nccl-tests prints on hosts of 8 H100."""
    text = as_text(make_table(num_ranks=ranks, sizes=sizes, time=time or time_of()))
    for rank in range(ranks):
        text = text.replace(f"Pid {1000 + rank} on node-1 ", f"Pid {1000 + rank} on node-{rank * hosts // ranks} ")
    return text


def nccl_lines(*messages: str, ranks: int = 2) -> str:
    """Returns NCCL's lines of a communicator, with `messages` on each rank."""
    begin = "".join(start(rank, ranks) for rank in range(ranks))
    end = "".join(complete(rank, ranks) for rank in range(ranks))
    return begin + "".join(all_ranks(ranks, message) for message in messages) + end


def variable(name: str, value: str) -> str:
    """Returns the line of a variable that NCCL read."""
    return line(0, f"{name} set by environment to {value}.")


def entry(
    time: Time | None = None,
    *,
    system: str = "p5.48xlarge",
    gpu: str = "H100 SXM5 80GB",
    hosts: int = 2,
    ranks: int = 16,
) -> Reached:
    """Returns an entry of the catalogue."""
    times = {size: (time or time_of())(size) * 1e6 for size in SIZES}
    where = {"source": "https://example.org/log", "accessed": "2026-11-22", "tool": "nccl-tests"}
    about = {
        "system": system,
        "gpu": gpu,
        "hosts": hosts,
        "ranks": ranks,
        "collective": "all_reduce",
        "times_us": times,
    }
    return Reached.model_validate({**about, **where})


def checked(folder: Path, *texts: str, setup: Setup = H100X2, **asked: object) -> HealthReport:
    """Checks logs of these texts."""
    paths = []
    for number, text in enumerate(texts):
        paths.append(folder / f"{number}.log")
        paths[-1].write_text(text)
    return health_of(paths, Question(setup, **asked))  # type: ignore[arg-type] # as the test says
