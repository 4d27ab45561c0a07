"""From options to a run that can be started.

For: nccl-tests' options with its defaults, and one line for each mistake. Not for: letters and help (ringtree.cli), or
what follows from the options (rows.py).
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from ringtree.arms import ArmKind, Wish, check_arm, lacks_torch
from ringtree.bench.machine import host_name
from ringtree.bench.names import ALL, NAMES_OP, NOT_IN_NUMPY
from ringtree.errors import UsageError
from ringtree.measure.collective_data import shape_of
from ringtree.measure.crew import Crew
from ringtree.measure.environment import lacks_memory, memory_for
from ringtree.measure.exact_data import check_exact
from ringtree.measure.messages import RANK_TIMEOUT
from ringtree.measure.plan import fresh_seed
from ringtree.measure.timed_loop import NO_BARRIER
from ringtree.nccl.nccl_tests import COLLECTIVES, DTYPES, NO_OP, NO_ROOT, OPS
from ringtree.units import count, format_size, parse_size

PRIVATE, REGISTERED, SYMMETRIC = 0, 1, 2
_REGISTERED_ARM = {REGISTERED: "+registered", SYMMETRIC: "+symmetric"}
MAX_RANKS = 1024


@dataclass(frozen=True)
class Asked:
    """The options as they were given, by nccl-tests' long names; ringtree.cli.bench says what each is. The defaults are
    nccl-tests', but for ngpus, as one rank has nobody to talk to: None is 2 if nthreads is not given either, else 1.
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


@dataclass(frozen=True)
class Options:
    """A run that can be started: `asked` is checked, and where its words leave something open it is decided here.

    `num_threads`: ranks of each process. `dtypes`: nccl-tests' names. `shared_buffers`: buffers that the peers read in
    place; `on_gpu`: ranks have a GPU each, and buffers in its memory. `timeout`: of each wait inside a rank, seconds.
    `host_names`: of each of the launcher's processes, which share the ranks' processes evenly; empty: no launcher.
    """

    asked: Asked
    arm: str
    num_processes: int
    num_threads: int
    min_bytes: int
    max_bytes: int
    step_bytes: int
    ops: list[str]
    dtypes: list[str]
    roots: list[int]
    shared_buffers: bool
    on_gpu: bool
    timeout: float
    seed: int
    host_names: tuple[str, ...] = ()

    @property
    def num_ranks(self) -> int:
        return self.num_processes * self.num_threads

    @property
    def num_gpus(self) -> int:
        """What -g counts, as nccl-tests does: ranks' processes of each process that was started."""
        return self.num_processes // max(1, len(self.host_names))

    def host_of(self, rank: int) -> str:
        """Returns the name of a rank's host, without its domain."""
        if not self.host_names:
            return host_name()
        return self.host_names[rank * len(self.host_names) // self.num_ranks].split(".")[0]


def is_through_torch(options: Options) -> bool:
    """Returns whether calls go through PyTorch because NumPy lacks the element type."""
    return options.dtypes[0] in NOT_IN_NUMPY and not options.on_gpu


def make_options(asked: Asked, crew: Crew | None = None) -> Options:
    """Returns a run that can be started, by the processes of `crew` where a launcher has started some. Raises
    UsageError."""
    kind = _check_collective_and_arm(asked)
    num_threads = 1 if asked.nthreads is None else asked.nthreads
    num_processes = asked.ngpus if asked.ngpus is not None else 2 if asked.nthreads is None else 1
    on_several_hosts = crew is not None and crew.on_several_hosts
    if crew is not None:
        num_processes = crew.num_agents * (1 if asked.ngpus is None else asked.ngpus)
        if kind.process == "own":
            raise UsageError(f"{asked.arm} starts its own processes: run bench without a launcher")
        if on_several_hosts and not kind.several_hosts(asked.arm):
            raise UsageError(f"{asked.arm} runs on one host only")
    num_ranks = num_processes * num_threads
    if num_processes < 1 or num_threads < 1 or num_ranks > MAX_RANKS:
        raise UsageError(f"-g times -t must lie in 1..{MAX_RANKS}, not {num_processes} times {num_threads}")
    if num_threads > 1 and not kind.threads:
        raise UsageError(f"{asked.arm} needs a process for each rank: use -g {num_ranks} instead of -t {num_threads}")
    min_bytes, max_bytes, step_bytes = (parse_size(text) for text in (asked.minbytes, asked.maxbytes, asked.stepbytes))
    if min_bytes < 1:
        raise UsageError("-b 0 is not a size to start with: use at least 1 byte")
    if min_bytes > max_bytes:
        raise UsageError(f"-b {asked.minbytes} is larger than -e {asked.maxbytes}")
    if asked.stepfactor <= 1 and step_bytes < 1:
        raise UsageError("-i 0 never gets to the largest size: use a step above 0, or -f")
    _check_counts(asked)
    if kind.process == "own" and kind.device == "cpu" and asked.blocking not in NO_BARRIER:
        raise UsageError(f"-z {asked.blocking} puts barriers between calls, which {asked.arm} has not: leave -z out")
    on_gpu = kind.device == "cuda"
    arm = _registered(asked, kind)
    reason = kind.refuses(Wish(arm, kind.environment(arm), COLLECTIVES[asked.collective], num_ranks, on_several_hosts))
    if reason is not None:
        raise UsageError(f"{arm}: {reason}")
    dtypes = _dtypes(asked, kind)
    ops = _ops(asked, kind) if asked.collective in NAMES_OP else [NO_OP]
    shape = shape_of(COLLECTIVES[asked.collective])
    if shape.reduces:
        _check_data(dtypes, ops, num_ranks)
    lacks = lacks_memory(2 * max_bytes * num_ranks, num_ranks, memory_for("cuda" if on_gpu else None, num_ranks))
    if lacks is not None:
        raise UsageError(f"-e {format_size(max_bytes)} does not fit: {lacks}")
    return Options(
        asked,
        arm,
        num_processes,
        num_threads,
        min_bytes,
        max_bytes,
        step_bytes,
        ops=ops,
        dtypes=dtypes,
        roots=_roots(asked.root, num_ranks) if shape.of_root else [NO_ROOT],
        shared_buffers=asked.local_register == SYMMETRIC and not on_gpu,
        on_gpu=on_gpu,
        timeout=float(asked.timeout) or RANK_TIMEOUT,
        seed=fresh_seed(),
        host_names=() if crew is None else tuple(hello.host_name for hello in crew.hellos),
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
        raise UsageError(f"NCCL_TESTS_MIN_BW={text} is not a bandwidth: give GB/s, for example 12.5")
    return value


def _check_collective_and_arm(asked: Asked) -> ArmKind:
    if asked.collective not in COLLECTIVES:
        raise UsageError(f"bench can't run {asked.collective!r}; it can run: {', '.join(COLLECTIVES)}")
    kind = check_arm(asked.arm, COLLECTIVES[asked.collective])
    reason = kind.lacks()
    if reason is not None:
        raise UsageError(reason)
    return kind


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
            raise UsageError(f"{letter} {value} is invalid; choose from: {', '.join(map(str, range(last + 1)))}")
    if asked.per_iter_skip and not asked.per_iter_timing:
        raise UsageError("-K leaves iterations out of what -I 1 reports: add -I 1, or leave -K out")
    if not 0 <= asked.per_iter_skip < asked.iters:
        raise UsageError(f"-K {asked.per_iter_skip} must leave at least one of {count(asked.iters, 'iteration')}")


def _registered(asked: Asked, kind: ArmKind) -> str:
    """The arm with what -R asks of its buffers."""
    if asked.local_register == PRIVATE:
        return asked.arm
    if kind.registered_buffers and asked.local_register in _REGISTERED_ARM:
        plain, tuner, file = asked.arm.partition("+tuner=")
        return plain + _REGISTERED_ARM[asked.local_register] + tuner + file
    if asked.local_register not in (PRIVATE, SYMMETRIC):
        raise UsageError(f"-R {asked.local_register} is invalid; choose from: 0 (private buffers), 2 (shared buffers)")
    if not kind.shared_buffers:
        raise UsageError(f"-R 2 needs one of ringtree's own arms (auto, ring, …); {asked.arm} has no shared buffers")
    return asked.arm


def _chosen(letter: str, text: str, names: list[str]) -> list[str]:
    if text == ALL:
        return names
    if text not in names:
        raise UsageError(f"{letter} {text} is not available; choose from: {', '.join(names)}, {ALL}")
    return [text]


def _ops(asked: Asked, kind: ArmKind) -> list[str]:
    return _chosen("-o", asked.op, [name for name, op in OPS.items() if op in kind.ops])


def _dtypes(asked: Asked, kind: ArmKind) -> list[str]:
    names = [name for name, dtype in DTYPES.items() if dtype in kind.dtypes]
    if kind.device == "cuda":
        return _chosen("-d", asked.datatype, names)
    if asked.datatype in NOT_IN_NUMPY and asked.datatype in names:
        reason = lacks_torch()
        if reason is not None:
            raise UsageError(f"-d {asked.datatype} is not NumPy's. {reason}")
        return [asked.datatype]
    return _chosen("-d", asked.datatype, [name for name in names if asked.datatype != ALL or name not in NOT_IN_NUMPY])


def _roots(text: str, num_ranks: int) -> list[int]:
    if text == ALL:
        return list(range(num_ranks))
    if not text.isdecimal() or int(text) >= num_ranks:
        raise UsageError(f"-r {text} is not a root of {count(num_ranks, 'rank')}: use 0..{num_ranks - 1} or {ALL}")
    return [int(text)]


def _check_data(dtypes: list[str], ops: list[str], num_ranks: int) -> None:
    """Says now, and not in a rank, that some combination can't have exact results."""
    for dtype in dtypes:
        for op in ops:
            check_exact(DTYPES[dtype], num_ranks, OPS[op])
