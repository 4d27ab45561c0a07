"""The processes of native workers: their launcher, the ranks and whatever these started, and their certain end.

For: nothing of them must outlive a launch, not even if the lab is killed. Not for: what is said to the ranks
(worker_ranks.py).

A guard (lifeline.py) leads their process group and kills it when the lab ends, however it ended.
Launchers of MPI put their children into groups of their own, so at an orderly end the tree of descendants is looked up
and killed too; after a kill -9 of the lab those are left to notice that their socket has closed.
"""

from __future__ import annotations

import contextlib
import os
import re
import select
import signal
import time
from collections.abc import Collection, Mapping, Sequence
from pathlib import Path

from ringtree.measure.lifeline import Guard

_POLL = 0.01  # seconds between two looks at a process that is to end
_TERMINATE = 2.0  # seconds that a launcher gets to clean up after SIGTERM
_KILLED = 1.0  # seconds that the kernel gets to end what was killed
# A line that says what went wrong; not that of a backtrace through some handle_error().
_OF_ERROR = re.compile(r"\berror|\binvalid\b|caught signal", re.IGNORECASE)


class WorkerProcesses:
    """A command and everything that it starts; `pid` is the command's own."""

    def __init__(self, command: Sequence[str], environment: Mapping[str, str]) -> None:
        """Starts `command` with exactly `environment`, output kept in memory. Raises OSError if it can't be started."""
        self._exit: int | None = None
        self._output = os.memfd_create("ringtree-workers")
        self._guard = Guard()
        try:
            self.pid = os.posix_spawnp(
                command[0],
                list(command),
                dict(environment),
                setpgroup=self._guard.group,
                file_actions=[
                    (os.POSIX_SPAWN_OPEN, 0, "/dev/null", os.O_RDONLY, 0),
                    (os.POSIX_SPAWN_DUP2, self._output, 1),
                    (os.POSIX_SPAWN_DUP2, self._output, 2),
                ],
            )
        except OSError:
            self._end_group()
            raise

    def poll(self) -> int | None:
        """Returns the command's exit code (negative: the signal that killed it); None while it runs."""
        if self._exit is None:
            pid, status = os.waitpid(self.pid, os.WNOHANG)
            if pid:
                self._exit = os.waitstatus_to_exitcode(status)
        return self._exit

    def wait(self, timeout: float) -> int | None:
        """As poll(), but waits up to `timeout` seconds for the end."""
        deadline = time.monotonic() + timeout
        while self.poll() is None and time.monotonic() < deadline:
            time.sleep(_POLL)
        return self._exit

    def last_words(self) -> str:
        """Returns the last line of output that speaks of an error, else the last one; "" without output."""
        size = os.fstat(self._output).st_size
        tail = os.pread(self._output, 1 << 16, max(0, size - (1 << 16))).decode(errors="replace")
        lines = [line.strip() for line in tail.splitlines() if line.strip(" -=*\t")]
        return ([line for line in lines if _OF_ERROR.search(line)] or lines or [""])[-1]

    def end(self, patience: float, pids: Sequence[int] = ()) -> None:
        """Waits `patience` seconds for the command to end by itself, then ends it and all of its descendants.

        `pids`: further processes that belong to it, some of which may have lost it as their parent. Returns when all of
        them are gone.
        """
        family = {*pids, *descendants(self.pid)}
        if self.wait(patience) is None:
            # Asked first: Open MPI's launcher removes its files and its ranks' shared memory only then.
            os.kill(self.pid, signal.SIGTERM)
            family |= set(descendants(self.pid))
            self.wait(_TERMINATE)
        _kill(family)
        if self.poll() is None:
            os.kill(self.pid, signal.SIGKILL)
            while self.poll() is None:
                time.sleep(_POLL)
        self._end_group()

    def _end_group(self) -> None:
        self._guard.close()
        os.close(self._output)


def _kill(pids: Collection[int]) -> None:
    """Kills processes that need not be children of ours, and waits until they have ended, a second at most."""
    handles = []
    try:
        for pid in pids:
            with contextlib.suppress(ProcessLookupError, PermissionError):
                handles.append(os.pidfd_open(pid))
                signal.pidfd_send_signal(handles[-1], signal.SIGKILL)
        deadline = time.monotonic() + _KILLED
        for handle in handles:
            select.select([handle], [], [], max(0.0, deadline - time.monotonic()))
    finally:
        for handle in handles:
            os.close(handle)


def descendants(pid: int) -> list[int]:
    """Returns the pids of all processes that `pid` started, and of those that these started."""
    children: dict[int, list[int]] = {}
    for stat in Path("/proc").glob("[0-9]*/stat"):
        with contextlib.suppress(OSError):
            # The name, in brackets, may hold anything; the fields after it are state and parent.
            children.setdefault(int(stat.read_text().rpartition(")")[2].split()[1]), []).append(int(stat.parent.name))
    found, todo = [], [pid]
    while todo:
        own = children.get(todo.pop(), [])
        found += own
        todo += own
    return found
