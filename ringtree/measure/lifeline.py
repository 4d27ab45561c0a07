"""Rank processes that end when the lab does, however it ended.

For: kill -9 of the lab must leave nothing running. Not for: the orderly end (launch.py).

Three ways that don't rely on each other:
- the kernel kills a rank when the thread that started it ends (PR_SET_PDEATHSIG);
- the lab holds the only write end of a pipe to each rank; at end of file the rank kills its process group;
- a guard, a shell that leads the launch's process group, waits on such a pipe too and kills the group, which also
  holds what ranks have started themselves.
"""

from __future__ import annotations

import contextlib
import ctypes
import os
import signal
import threading

_PR_SET_PDEATHSIG = 1


class Guard:
    """A guard that runs. `group`: its pid, and so the id of the process group that is to be joined; it belongs to
    nobody else before close(), which alone reaps the guard."""

    def __init__(self) -> None:
        lifeline, self._hold = os.pipe()
        try:
            self.group = _start_guard(lifeline)
        except OSError:
            os.close(self._hold)
            raise
        finally:
            os.close(lifeline)

    def send(self, number: signal.Signals) -> None:
        """Sends a signal to whoever is in the group, the guard included."""
        with contextlib.suppress(ProcessLookupError):
            os.killpg(self.group, number)

    def close(self) -> None:
        """Kills the group and reaps the guard; the others are reaped by their parents. Called once."""
        self.send(signal.SIGKILL)
        os.waitpid(self.group, 0)
        os.close(self._hold)


def _start_guard(lifeline: int) -> int:
    # posix_spawn and not subprocess: a group can be set without running Python between fork and exec.
    return os.posix_spawn(
        "/bin/sh",
        ["sh", "-c", "read _; kill -KILL 0"],
        {},
        setpgroup=0,
        file_actions=[
            (os.POSIX_SPAWN_DUP2, lifeline, 0),
            (os.POSIX_SPAWN_OPEN, 1, "/dev/null", os.O_WRONLY, 0),
            (os.POSIX_SPAWN_DUP2, 1, 2),
        ],
    )


def tie_to_lab(lifeline: int, process_group: int) -> None:
    """Called first in a rank process: joins the launch's process group and ends when the lab does.

    `lifeline`: the read end of a pipe that the lab never writes to from now on.
    """
    with contextlib.suppress(PermissionError, ProcessLookupError):
        os.setpgid(0, process_group)
    with contextlib.suppress(OSError, AttributeError):
        ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)
    threading.Thread(target=_wait_for_end, args=(lifeline, process_group), name="lifeline", daemon=True).start()


def _wait_for_end(lifeline: int, process_group: int) -> None:
    while os.read(lifeline, 1):
        pass
    if os.getpgrp() == process_group:
        os.killpg(process_group, signal.SIGKILL)
    os._exit(1)
