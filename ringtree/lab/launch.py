"""One launch: fresh rank processes, what they report, and the end of all of them.

For: starting the ranks, listening, noticing a death, cleaning up. Not for: what ranks do (rank_process.py), or for
storing results (compare.py).

Whatever happens (done, a rank dies, Ctrl-C, an error here), every process that the launch started is gone and reaped
when `run_launch` returns or raises: asked by SIGTERM first, killed after a second.
"""

from __future__ import annotations

import contextlib
import os
import secrets
import selectors
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

import ringtree
from ringtree.lab.environment import available_memory
from ringtree.lab.lifeline import start_guard
from ringtree.lab.messages import (
    CellReport,
    DoneReport,
    FailureReport,
    ProgressReport,
    RankSpec,
    ReportReader,
    write_spec,
)
from ringtree.lab.plan import PlannedLaunch, memory_to_keep
from ringtree.lab.units import count
from ringtree.results import Plan

# What ranks get unless the user has set it. One thread a rank is torchrun's default too: with a rank a core, more only
# get in each other's way. Gloo stays on this host.
RANK_ENVIRONMENT = {"GLOO_SOCKET_IFNAME": "lo", "OMP_NUM_THREADS": "1"}
STALL_LIMIT = 600.0  # seconds without any report, after which a launch is given up
RANK_TIMEOUT = 300.0  # of each wait inside a rank
_LAST_WORDS = 3.0  # seconds that survivors get to say what they saw when a rank has died
_TERMINATE = 1.0  # seconds between asking processes to end and killing them


class LaunchFailed(ringtree.RingtreeError):
    """A launch that can't be completed; the message is one line that names ranks and what they said."""


@dataclass
class RankProcess:
    """One rank as the lab sees it."""

    rank: int
    process: subprocess.Popen[bytes]
    spec_to: int  # held open until the end: the rank's lifeline
    report_from: int
    output: int  # memory file with its standard output and error
    reader: ReportReader = field(default_factory=ReportReader)
    cells: list[CellReport] = field(default_factory=list)
    progress: ProgressReport | None = None  # of rank 0 only
    failure: str | None = None
    done: bool = False
    over: bool = False  # its report pipe has ended


def run_launch(
    plan: Plan,
    launch: PlannedLaunch,
    on_progress: Callable[[ProgressReport], None],
    stall_limit: float = STALL_LIMIT,
) -> tuple[list[int], list[list[CellReport]]]:
    """Runs one launch; returns the ranks' pids and, for each rank, its cells: sizes ascending, arms as in the plan.

    `on_progress` is called with each visit that rank 0 has finished. Call it from the main thread, or one that outlives
    the launch: the kernel ends the ranks with the thread that started them. Raises LaunchFailed if a rank dies, fails
    or stops to report.
    """
    with _started_ranks(plan, launch) as ranks:
        try:
            _listen(ranks, on_progress, stall_limit)
        except LaunchFailed as failed:
            raise LaunchFailed(f"launch {launch.launch + 1} failed {_where(ranks)}: {failed}") from None
        return [rank.process.pid for rank in ranks], [rank.cells for rank in ranks]


@contextlib.contextmanager
def _started_ranks(plan: Plan, launch: PlannedLaunch) -> Iterator[list[RankProcess]]:
    ranks: list[RankProcess] = []
    lifeline, hold = os.pipe()
    guard = start_guard(lifeline)
    os.close(lifeline)
    store = os.memfd_create("ringtree-torch-store")
    try:
        session = secrets.token_hex(16)
        # Half of what is free: the other half is for what arms and libraries take besides.
        keep = memory_to_keep(plan, launch) <= available_memory() // 2
        for rank in range(plan.num_ranks):
            spec = RankSpec(
                plan=plan,
                rank=rank,
                launch=launch.launch,
                keep_operands=keep,
                session=session,
                process_group=guard,
                torch_store=f"/proc/self/fd/{store}",
                timeout=RANK_TIMEOUT,
            )
            ranks.append(_start_rank(rank, store, launch.arms[0].environment))
            with contextlib.suppress(BrokenPipeError):  # a rank that died already is noticed by its report pipe
                write_spec(ranks[-1].spec_to, spec)
        yield ranks
    finally:
        with _interrupts_held():
            _end_all(ranks, guard)
            for rank_process in ranks:
                for descriptor in (rank_process.spec_to, rank_process.report_from, rank_process.output):
                    os.close(descriptor)
            os.close(hold)
            os.close(store)


def _start_rank(rank: int, store: int, environment: dict[str, str]) -> RankProcess:
    spec_from, spec_to = os.pipe()
    report_from, report_to = os.pipe()
    output = os.memfd_create(f"ringtree-rank-{rank}")
    # The rank must find this very ringtree, wherever it was imported from; the working directory must not shadow it.
    path = os.pathsep.join(str(Path(entry or ".").absolute()) for entry in sys.path)
    process = subprocess.Popen(
        [sys.executable, "-m", "ringtree.lab.rank_process", str(spec_from), str(report_to)],
        stdin=subprocess.DEVNULL,
        stdout=output,
        stderr=output,
        cwd="/",
        env={**RANK_ENVIRONMENT, **os.environ, **environment, "PYTHONPATH": path},
        pass_fds=(spec_from, report_to, store),
    )
    os.close(spec_from)
    os.close(report_to)
    return RankProcess(rank, process, spec_to, report_from, output)


def _listen(ranks: list[RankProcess], on_progress: Callable[[ProgressReport], None], stall_limit: float) -> None:
    with selectors.DefaultSelector() as selector:
        for rank in ranks:
            selector.register(rank.report_from, selectors.EVENT_READ, rank)
        deadline, failing = time.monotonic() + stall_limit, False
        while selector.get_map():
            events = selector.select(max(0.0, deadline - time.monotonic()))
            if not events:
                raise LaunchFailed(_describe_failure(ranks) if failing else _describe_stall(ranks, stall_limit))
            for key, _ in events:
                if _hear(key.data, on_progress):
                    selector.unregister(key.fd)
            if not failing:
                failing = any(rank.failure is not None or (rank.over and not rank.done) for rank in ranks)
                deadline = time.monotonic() + (_LAST_WORDS if failing else stall_limit)
    if failing:
        raise LaunchFailed(_describe_failure(ranks))


def _hear(rank: RankProcess, on_progress: Callable[[ProgressReport], None]) -> bool:
    """Takes what has arrived from a rank; returns True if its pipe has ended."""
    received = os.read(rank.report_from, 1 << 16)
    if not received:
        rank.over = True
        return True
    try:
        reports = rank.reader.feed(received)
    except ValueError as error:
        rank.failure = f"sent what is no report: {str(error).splitlines()[0]}"
        return True
    for report in reports:
        if isinstance(report, CellReport):
            rank.cells.append(report)
        elif isinstance(report, ProgressReport):
            rank.progress = report
            on_progress(report)
        elif isinstance(report, FailureReport):
            rank.failure = report.text
        elif isinstance(report, DoneReport):
            rank.done = True
    return False


def _where(ranks: list[RankProcess]) -> str:
    last = ranks[0].progress if ranks else None
    if last is None:
        return "before its first cell"
    return "after its last cell" if last.done >= last.total else f"after {last.text}"


def _describe_failure(ranks: list[RankProcess]) -> str:
    """Names who died of what first, then what each of the others said."""
    dead = [rank for rank in ranks if rank.over and not rank.done and rank.failure is None]
    parts = [f"rank {rank.rank} (pid {rank.process.pid}) {_cause_of_death(rank)}" for rank in dead]
    parts += [f"rank {rank.rank} said: {rank.failure}" for rank in ranks if rank.failure is not None]
    silent = [str(rank.rank) for rank in ranks if not rank.over and rank.failure is None]
    if silent:
        parts.append(f"rank{'s' if len(silent) > 1 else ''} {', '.join(silent)} said nothing")
    return "; ".join(parts)


def _cause_of_death(rank: RankProcess) -> str:
    try:
        code = rank.process.wait(timeout=2.0)
    except subprocess.TimeoutExpired:
        return "closed its pipe but is still running"
    if code < 0:
        return f"was killed by {signal.Signals(-code).name}"
    tail = os.pread(rank.output, 1 << 16, max(0, os.fstat(rank.output).st_size - (1 << 16)))
    lines = [line.strip() for line in tail.decode(errors="replace").splitlines() if line.strip()]
    errors = [line for line in lines if "error" in line.lower()]
    return f"exited with code {code}: {(errors or lines or ['without a word'])[-1]}"


def _describe_stall(ranks: list[RankProcess], stall_limit: float) -> str:
    running = count(sum(not rank.over for rank in ranks), "rank")
    return f"no rank reported for {stall_limit:.0f} s; {running} of {len(ranks)} still running"


def _end_all(ranks: list[RankProcess], guard: int) -> None:
    """Ends and reaps every process of the launch, guard and ranks' own children included."""
    running = [rank.process for rank in ranks if rank.process.poll() is None]
    if running:
        # A rank that has not joined the group yet is reached by its own pid.
        _signal_group(guard, signal.SIGTERM)
        for process in running:
            process.terminate()
        deadline = time.monotonic() + _TERMINATE
        for process in running:
            with contextlib.suppress(subprocess.TimeoutExpired):
                process.wait(timeout=max(0.0, deadline - time.monotonic()))
    # The guard is not reaped before, so its pid, the group's id, can't have been given to someone else.
    _signal_group(guard, signal.SIGKILL)
    for process in running:
        process.kill()
        process.wait()
    os.waitpid(guard, 0)


def _signal_group(process_group: int, number: signal.Signals) -> None:
    with contextlib.suppress(ProcessLookupError):
        os.killpg(process_group, number)


@contextlib.contextmanager
def _interrupts_held() -> Iterator[None]:
    """A second Ctrl-C must not stop the cleaning up after the first."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)
