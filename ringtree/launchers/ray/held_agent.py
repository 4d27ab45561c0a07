"""An agent's process, held by the process of an actor: its output as it comes, signals, and its end with the holder's.

For: starting `ringtree …` so that nothing is left behind however the holder ends. Not for: what it is told to do, or
Ray (actor.py).

A guard, a child of the agent's own pid, reads a pipe that the holder keeps open: at its end the agent gets SIGTERM, as
from a scheduler, and 20 s later SIGKILL; then the guard removes its files. The agent's
ranks end with it (ringtree.measure.lifeline).
"""

from __future__ import annotations

import contextlib
import os
import selectors
import signal
import subprocess
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Literal

# The shell starts the guard and becomes the agent. A line on the pipe: all is well, the agent has ended.
_GUARDED = """\
exec 3<&0 </dev/null
agent=$$
{ read -r _ <&3 || {
  kill -TERM $agent && for _ in 1 2 3 4 5 6 7 8 9 10; do sleep 2; kill -0 $agent || break; done
  kill -KILL $agent; rm -rf "$0"; }
} >/dev/null 2>&1 &
exec "$@" 3<&-
"""
_ENDING = (signal.SIGINT, signal.SIGTERM)

Output = tuple[Literal["out", "err"], bytes]


class HeldAgent:
    """From its start to close()."""

    def __init__(self, command: Sequence[str], environment: Mapping[str, str], folder: Path, place: Path) -> None:
        """Starts `command` in `folder`; `environment` counts above the inherited one. `place`: what the guard removes
        if the holder is lost, else the holder does."""
        lifeline, self._hold = os.pipe()
        # Ray blocks signals in its workers, and a process inherits what the thread that starts it blocks.
        before = signal.pthread_sigmask(signal.SIG_UNBLOCK, _ENDING)
        try:
            self.process = subprocess.Popen(
                ["/bin/sh", "-c", _GUARDED, str(place), *command],
                stdin=lifeline,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                env={**os.environ, **environment},
                cwd=folder,
                start_new_session=True,
            )
        finally:
            signal.pthread_sigmask(signal.SIG_SETMASK, before)
            os.close(lifeline)

    def output(self, tick: float) -> Iterator[list[Output]]:
        """Yields what the agent has written, at least every `tick` seconds, until it has ended."""
        assert self.process.stdout is not None
        assert self.process.stderr is not None
        with selectors.DefaultSelector() as selector:
            selector.register(self.process.stdout, selectors.EVENT_READ, "out")
            selector.register(self.process.stderr, selectors.EVENT_READ, "err")
            while True:
                over = self.process.poll() is not None  # asked before the last look at what it has written
                come: list[Output] = []
                for key, _ in selector.select(0 if over else tick):
                    if content := os.read(key.fd, 1 << 16):
                        come.append((key.data, content))
                    else:
                        selector.unregister(key.fileobj)
                yield come
                if over and not come:
                    return
                if not over and not selector.get_map():
                    with contextlib.suppress(subprocess.TimeoutExpired):
                        self.process.wait(tick)

    def signal(self, number: int) -> None:
        """Sends a signal, if the agent still runs."""
        if self.process.poll() is None:
            self.process.send_signal(number)

    def close(self) -> int:
        """Ends the agent if it runs, and its guard; returns its exit code, below 0: the signal that killed it."""
        if self.process.poll() is None:
            self.process.kill()
        code = self.process.wait()
        with contextlib.suppress(BrokenPipeError):
            os.write(self._hold, b"\n")
        os.close(self._hold)
        for pipe in (self.process.stdout, self.process.stderr):
            if pipe is not None:
                pipe.close()
        return code
