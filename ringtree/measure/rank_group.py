"""Fresh rank processes of one launch, what they report, and the end of all of them.

For: starting a module of ours as every rank, listening, noticing a death, cleaning up, whatever the ranks do. Not for:
what is said (messages.py) or measured.

Whatever happened (done, a rank died, Ctrl-C, an error here), every process that was started is gone and reaped after
`close`: asked by SIGTERM first, killed after a second.
"""

from __future__ import annotations

import contextlib
import os
import selectors
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pydantic import BaseModel, TypeAdapter

from ringtree.errors import RingtreeError
from ringtree.measure import rank_start
from ringtree.measure.framing import ReportReader, write_record
from ringtree.measure.lifeline import Guard
from ringtree.measure.messages import DoneReport, FailureReport
from ringtree.measure.rank_start import RankProcess
from ringtree.units import count

# What ranks get unless the user has set it. One thread a rank is torchrun's default too: with a rank a core, more only
# get in each other's way. Gloo stays on this host.
RANK_ENVIRONMENT = {"GLOO_SOCKET_IFNAME": "lo", "OMP_NUM_THREADS": "1"}
STALL_LIMIT = 600.0  # seconds without any report, after which a launch is given up
_LAST_WORDS = 3.0  # seconds that survivors get to say what they saw when a rank has died
_TERMINATE = 1.0  # seconds between asking processes to end and killing them


class LaunchFailed(RingtreeError):
    """A launch that can't be completed; the message is one line that names ranks and what they said."""


@dataclass
class _Rank:
    """One rank as its starter sees it."""

    rank: int
    process: RankProcess
    spec_to: int  # held open until the end: the rank's lifeline
    report_from: int
    output: int  # memory file with its standard output and error
    reader: ReportReader[Any]
    failure: str | None = None
    done: bool = False
    over: bool = False  # its report pipe has ended

    @property
    def failed(self) -> bool:
        return self.failure is not None or (self.over and not self.done)


class RankGroup:
    """The rank processes of a launch, from their start to close(). Make it in the main thread, or in one that outlives
    the ranks: the kernel ends them with the thread that started them."""

    def __init__(
        self,
        module: str,
        numbers: Sequence[int],
        make_spec: Callable[[int, int], BaseModel],
        reports: TypeAdapter[Any],
        environment: Mapping[str, str] | None = None,
        inherited: Sequence[int] = (),
    ) -> None:
        """Starts `python -m module <spec fd> <report fd>` as each of the ranks `numbers`; rank 0 gets a descriptor
        more, to read commands from.

        `make_spec(rank, process group)`: what a rank reads first. `reports`: what ranks may write, DoneReport and
        FailureReport among it. `environment`: variables that count above the inherited ones. `inherited`: descriptors
        that ranks get besides.
        """
        self._ranks: list[_Rank] = []
        self._closed = False
        with contextlib.ExitStack() as on_failure:
            self._selector = on_failure.enter_context(selectors.DefaultSelector())
            commands_from, self._commands_to = os.pipe()
            on_failure.callback(os.close, self._commands_to)
            on_failure.callback(os.close, commands_from)
            self._guard = Guard()
            on_failure.pop_all()
        try:
            for number in numbers:
                spec = make_spec(number, self._guard.group)
                more = (commands_from,) if number == 0 else ()
                rank = _start_rank(module, number, more, ReportReader(reports), environment or {}, inherited)
                self._ranks.append(rank)
                self._selector.register(rank.report_from, selectors.EVENT_READ, rank)
                with contextlib.suppress(BrokenPipeError):  # a rank that died already is noticed by its report pipe
                    write_record(rank.spec_to, spec)
        except BaseException:
            self.close()
            raise
        finally:
            os.close(commands_from)

    @property
    def pids(self) -> list[int]:
        """By rank, of those started here."""
        return [rank.process.pid for rank in self._ranks]

    def tell(self, command: BaseModel) -> None:
        """Sends rank 0 a command. That it is gone already is noticed by who listens."""
        with contextlib.suppress(BrokenPipeError):
            write_record(self._commands_to, command)

    def listen(
        self, on_report: Callable[[int, Any], None], stall_limit: float, is_over: Callable[[], bool] = lambda: False
    ) -> None:
        """Hands reports to `on_report(rank, report)` until `is_over()`, or until all ranks have ended.

        Raises LaunchFailed if a rank dies or fails, or if nothing is heard for `stall_limit` seconds; what `on_report`
        raises passes through.
        """
        failing = any(rank.failed for rank in self._ranks)
        deadline = time.monotonic() + (_LAST_WORDS if failing else stall_limit)
        while self._selector.get_map() and (failing or not is_over()):
            events = self._selector.select(max(0.0, deadline - time.monotonic()))
            if not events:
                raise LaunchFailed(
                    _describe_failure(self._ranks) if failing else _describe_stall(self._ranks, stall_limit)
                )
            for key, _ in events:
                if _hear(key.data, on_report):
                    self._selector.unregister(key.fd)
            if not failing:
                failing = any(rank.failed for rank in self._ranks)
                deadline = time.monotonic() + (_LAST_WORDS if failing else stall_limit)
        if failing:
            raise LaunchFailed(_describe_failure(self._ranks))

    def finish(self, on_report: Callable[[int, Any], None], stall_limit: float = STALL_LIMIT) -> list[int]:
        """Listens until all have ended; returns their pids."""
        self.listen(on_report, stall_limit)
        return self.pids

    def close(self) -> None:
        """Ends and reaps all processes; may be called again."""
        if self._closed:
            return
        self._closed = True
        with _interrupts_held():
            _end_all(self._ranks, self._guard)
            self._selector.close()
            for rank in self._ranks:
                for descriptor in (rank.spec_to, rank.report_from, rank.output):
                    os.close(descriptor)
            os.close(self._commands_to)


def _start_rank(
    module: str,
    rank: int,
    more: Sequence[int],
    reader: ReportReader[Any],
    environment: Mapping[str, str],
    inherited: Sequence[int],
) -> _Rank:
    # The rank must find this very ringtree, wherever it was imported from.
    path = os.pathsep.join(str(Path(entry or ".").absolute()) for entry in sys.path)
    variables = {**RANK_ENVIRONMENT, **os.environ, **environment, "PYTHONPATH": path}
    with contextlib.ExitStack() as own:  # what this process keeps, unless the rank can't be started
        with contextlib.ExitStack() as its:
            spec_from, spec_to = os.pipe()
            its.callback(os.close, spec_from)
            own.callback(os.close, spec_to)
            report_from, report_to = os.pipe()
            its.callback(os.close, report_to)
            own.callback(os.close, report_from)
            output = os.memfd_create(f"ringtree-rank-{rank}")
            own.callback(os.close, output)
            process = rank_start.start_process(module, (spec_from, report_to, *more), inherited, output, variables)
        own.pop_all()
    return _Rank(rank, process, spec_to, report_from, output, reader)


def _hear(rank: _Rank, on_report: Callable[[int, Any], None]) -> bool:
    """Takes what has arrived from a rank; returns True if its pipe has ended."""
    received = os.read(rank.report_from, 1 << 16)
    if not received:
        rank.over = True
        return True
    try:
        reports = rank.reader.feed(received)
    except ValueError as error:
        rank.failure = f"sent a malformed report: {str(error).splitlines()[0]}"
        return True
    for report in reports:
        if isinstance(report, FailureReport):
            rank.failure = report.text
        elif isinstance(report, DoneReport):
            rank.done = True
        else:
            on_report(rank.rank, report)
    return False


def _describe_failure(ranks: list[_Rank]) -> str:
    """Names who died of what first, then what each of the others said."""
    dead = [rank for rank in ranks if rank.over and not rank.done and rank.failure is None]
    parts = [f"rank {rank.rank} (pid {rank.process.pid}) {_cause_of_death(rank)}" for rank in dead]
    parts += [f"rank {rank.rank} reported: {rank.failure}" for rank in ranks if rank.failure is not None]
    silent = [str(rank.rank) for rank in ranks if not rank.over and rank.failure is None]
    if silent:
        parts.append(f"rank{'s' if len(silent) > 1 else ''} {', '.join(silent)} did not report")
    return "; ".join(parts)


def _cause_of_death(rank: _Rank) -> str:
    try:
        code = rank.process.wait(timeout=2.0)
    except subprocess.TimeoutExpired:
        return "closed its pipe but is still running"
    if code < 0:
        return f"was killed by {signal.Signals(-code).name}"
    tail = os.pread(rank.output, 1 << 16, max(0, os.fstat(rank.output).st_size - (1 << 16)))
    lines = [line.strip() for line in tail.decode(errors="replace").splitlines() if line.strip()]
    errors = [line for line in lines if "error" in line.lower()]
    return f"exited with code {code}: {(errors or lines or ['without output'])[-1]}"


def _describe_stall(ranks: list[_Rank], stall_limit: float) -> str:
    running = count(sum(not rank.over for rank in ranks), "rank")
    return f"no rank reported for {stall_limit:.0f} s; {running} of {len(ranks)} still running"


def _end_all(ranks: list[_Rank], guard: Guard) -> None:
    """Ends and reaps every process of the launch, guard and ranks' own children included."""
    running = [rank.process for rank in ranks if rank.process.poll() is None]
    if running:
        # A rank that has not joined the group yet is reached by its own pid.
        guard.send(signal.SIGTERM)
        for process in running:
            process.terminate()
        deadline = time.monotonic() + _TERMINATE
        for process in running:
            with contextlib.suppress(subprocess.TimeoutExpired):
                process.wait(timeout=max(0.0, deadline - time.monotonic()))
    guard.send(signal.SIGKILL)  # all at once: large processes take a while to go
    for process in running:
        process.kill()
        process.wait()
    guard.close()


@contextlib.contextmanager
def _interrupts_held() -> Iterator[None]:
    """A second Ctrl-C, or a scheduler's SIGTERM after it, must not stop the cleaning up after the first."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = {number: signal.signal(number, signal.SIG_IGN) for number in (signal.SIGINT, signal.SIGTERM)}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
