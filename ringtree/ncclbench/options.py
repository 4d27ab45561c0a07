"""From options to a run that can be started.

For: nccl-tests' options with its defaults, and one line for each mistake. Not for: letters and help (ringtree.cli), or
what follows from the options (rows.py).
"""

from __future__ import annotations

import importlib.util
import math
from dataclasses import dataclass

from pydantic import Field

from ringtree.backends import HOW_TO_GET_TORCH, arm_ops, check_arm, needs_torch, why_unavailable
from ringtree.errors import UsageError
from ringtree.lab.environment import available_memory
from ringtree.lab.exact_data import check_exact
from ringtree.lab.plan import fresh_seed
from ringtree.lab.rank_group import RANK_TIMEOUT
from ringtree.lab.units import count, format_size, parse_size
from ringtree.ncclbench.names import (
    ALL,
    COLLECTIVES,
    DTYPES,
    NAMES_OP,
    NO_OP,
    NO_ROOT,
    NOT_IN_NUMPY,
    OF_ENGINE,
    OPS,
    REDUCING,
    ROOTED,
)
from ringtree.results import Record

PRIVATE, SYMMETRIC = 0, 2
MAX_RANKS = 1024


@dataclass(frozen=True)
class Asked:
    """The options as they were given; the defaults are nccl-tests', but for ngpus, as one rank has nobody to talk to.

    ngpus None: 2 if nthreads is not given either, else 1.
    """

    collective: str = "all_reduce"
    arm: str = "auto"
    ngpus: int | None = None
    nthreads: int | None = None
    minbytes: str = "32M"
    maxbytes: str = "32M"
    stepbytes: str = "1M"
    stepfactor: int = 1
    iters: int = 20
    agg_iters: int = 1
    warmup_iters: int = 1
    run_cycles: int = 1
    check: int = 1
    op: str = "sum"
    datatype: str = "float"
    root: str = "0"
    average: int = 1
    blocking: int = 0
    per_iter_timing: int = 0
    per_iter_skip: int = 0
    report_timestamps: int = 0
    unalign: int = 0
    local_register: int = PRIVATE
    timeout: int = 0


class Options(Record):
    """A run that can be started: every choice made, every value checked."""

    collective: str
    arm: str
    num_processes: int = Field(description="-g")
    num_threads: int = Field(description="-t: ranks of each process")
    min_bytes: int
    max_bytes: int
    step_bytes: int
    step_factor: int = Field(description="above 1: sizes are multiplied, and step_bytes does not count")
    num_iterations: int
    num_aggregated: int = Field(description="calls of one iteration")
    num_warm_up: int
    num_cycles: int = Field(description="how often all sizes are run; 0: until interrupted")
    num_checks: int
    ops: list[str]
    dtypes: list[str] = Field(description="nccl-tests' names")
    roots: list[int]
    average: int
    blocking: int
    per_iteration: bool
    num_skipped: int = Field(description="leading iterations that the per-iteration summary leaves out")
    timestamps: bool
    unalign: int = Field(description="index of the first element that is used")
    shared_buffers: bool = Field(description="buffers that the peers read in place")
    timeout: float = Field(description="of each wait inside a rank, seconds")
    seed: int

    @property
    def num_ranks(self) -> int:
        return self.num_processes * self.num_threads


def make_options(asked: Asked) -> Options:
    """Returns a run that can be started. Raises UsageError."""
    _check_collective_and_arm(asked)
    num_threads = 1 if asked.nthreads is None else asked.nthreads
    num_processes = asked.ngpus if asked.ngpus is not None else 2 if asked.nthreads is None else 1
    num_ranks = num_processes * num_threads
    if num_processes < 1 or num_threads < 1 or num_ranks > MAX_RANKS:
        raise UsageError(f"-g times -t must lie in 1..{MAX_RANKS}, not {num_processes} times {num_threads}")
    if num_threads > 1 and needs_torch(asked.arm):
        raise UsageError(f"{asked.arm} needs a process for each rank: use -g {num_ranks} instead of -t {num_threads}")
    min_bytes, max_bytes, step_bytes = (parse_size(text) for text in (asked.minbytes, asked.maxbytes, asked.stepbytes))
    if min_bytes < 1:
        raise UsageError("-b 0 is no size to start with: use at least 1 byte")
    if min_bytes > max_bytes:
        raise UsageError(f"-b {asked.minbytes} is larger than -e {asked.maxbytes}")
    if asked.stepfactor <= 1 and step_bytes < 1:
        raise UsageError("-i 0 never gets to the largest size: use a step above 0, or -f")
    _check_counts(asked)
    dtypes = _dtypes(asked)
    ops = _ops(asked) if asked.collective in NAMES_OP else [NO_OP]
    if asked.collective in REDUCING:
        _check_data(dtypes, ops, num_ranks)
    _check_memory(max_bytes, num_ranks)
    return Options(
        collective=asked.collective,
        arm=asked.arm,
        num_processes=num_processes,
        num_threads=num_threads,
        min_bytes=min_bytes,
        max_bytes=max_bytes,
        step_bytes=step_bytes,
        step_factor=asked.stepfactor,
        num_iterations=asked.iters,
        num_aggregated=asked.agg_iters,
        num_warm_up=asked.warmup_iters,
        num_cycles=asked.run_cycles,
        num_checks=asked.check,
        ops=ops,
        dtypes=dtypes,
        roots=_roots(asked.root, num_ranks) if asked.collective in ROOTED else [NO_ROOT],
        average=asked.average,
        blocking=asked.blocking,
        per_iteration=bool(asked.per_iter_timing),
        num_skipped=asked.per_iter_skip,
        timestamps=bool(asked.report_timestamps),
        unalign=asked.unalign,
        shared_buffers=asked.local_register == SYMMETRIC,
        timeout=float(asked.timeout) or RANK_TIMEOUT,
        seed=fresh_seed(),
    )


def parse_min_busbw(text: str | None) -> float | None:
    """Returns GB/s of the variable NCCL_TESTS_MIN_BW, None if it is not set. Raises UsageError."""
    if not text:
        return None
    try:
        value = float(text)
    except ValueError:
        value = math.nan
    if not 0 <= value < math.inf:
        raise UsageError(f"NCCL_TESTS_MIN_BW={text} is no bandwidth: give GB/s, for example 12.5")
    return value


def _check_collective_and_arm(asked: Asked) -> None:
    if asked.collective not in COLLECTIVES:
        raise UsageError(f"bench can't run {asked.collective!r}; it can run: {', '.join(COLLECTIVES)}")
    check_arm(asked.arm, COLLECTIVES[asked.collective])
    reason = why_unavailable(asked.arm)
    if reason is not None:
        raise UsageError(reason)


def _check_counts(asked: Asked) -> None:
    least = {"-n": (asked.iters, 1), "-m": (asked.agg_iters, 1), "-w": (asked.warmup_iters, 0), "-c": (asked.check, 0)}
    least |= {
        "-N": (asked.run_cycles, 0),
        "-u": (asked.unalign, 0),
        "-T": (asked.timeout, 0),
        "-f": (asked.stepfactor, 0),
    }
    for letter, (value, bound) in least.items():
        if value < bound:
            raise UsageError(f"{letter} {value} is too small: use at least {bound}")
    choices = {"-a": (asked.average, 3), "-z": (asked.blocking, 3), "-I": (asked.per_iter_timing, 1)}
    choices |= {"-S": (asked.report_timestamps, 1)}
    for letter, (value, last) in choices.items():
        if not 0 <= value <= last:
            raise UsageError(f"{letter} {value} is no choice; there are: {', '.join(map(str, range(last + 1)))}")
    if asked.per_iter_skip and not asked.per_iter_timing:
        raise UsageError("-K leaves iterations out of what -I 1 reports: add -I 1, or leave -K out")
    if not 0 <= asked.per_iter_skip < asked.iters:
        raise UsageError(f"-K {asked.per_iter_skip} must leave at least one of {count(asked.iters, 'iteration')}")
    if asked.local_register not in (PRIVATE, SYMMETRIC):
        raise UsageError(f"-R {asked.local_register} is no choice; there are: 0 (private buffers), 2 (shared ones)")
    if asked.local_register == SYMMETRIC and needs_torch(asked.arm):
        raise UsageError(f"-R 2 is for arms of the engine; {asked.arm} knows no shared buffers")


def _chosen(letter: str, text: str, names: list[str]) -> list[str]:
    if text == ALL:
        return names
    if text not in names:
        raise UsageError(f"{letter} {text} is not here; there are: {', '.join(names)}, {ALL}")
    return [text]


def _ops(asked: Asked) -> list[str]:
    return _chosen("-o", asked.op, [name for name, op in OPS.items() if op in arm_ops(asked.arm)])


def _dtypes(asked: Asked) -> list[str]:
    names = [name for name in DTYPES if not (needs_torch(asked.arm) and name in OF_ENGINE)]
    if asked.datatype in NOT_IN_NUMPY and asked.datatype in names:
        if importlib.util.find_spec("torch") is None:
            raise UsageError(f"-d {asked.datatype} is not NumPy's. {HOW_TO_GET_TORCH}")
        return [asked.datatype]
    return _chosen("-d", asked.datatype, [name for name in names if asked.datatype != ALL or name not in NOT_IN_NUMPY])


def _roots(text: str, num_ranks: int) -> list[int]:
    if text == ALL:
        return list(range(num_ranks))
    if not text.isdecimal() or int(text) >= num_ranks:
        raise UsageError(f"-r {text} is no root of {count(num_ranks, 'rank')}: use 0..{num_ranks - 1} or {ALL}")
    return [int(text)]


def _check_data(dtypes: list[str], ops: list[str], num_ranks: int) -> None:
    """Says now, and not in a rank, that some combination can't have exact results."""
    for dtype in dtypes:
        for op in ops:
            check_exact(DTYPES[dtype], num_ranks, OPS[op])


def _check_memory(max_bytes: int, num_ranks: int) -> None:
    needed, available = 2 * max_bytes * num_ranks, available_memory()
    if 0 < available < needed:
        raise UsageError(
            f"-e {format_size(max_bytes)} does not fit: {count(num_ranks, 'rank')} need about "
            f"{format_size(needed >> 20 << 20)} of memory and {format_size(available >> 20 << 20)} are free"
        )
