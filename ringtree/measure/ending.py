"""The end that a scheduler orders: SIGTERM, some seconds before SIGKILL.

For: commands that measure, so that SIGTERM ends them as Ctrl-C does: all processes gone, what was measured stored, and
a line that says how to go on. Not for: the cleaning up itself (rank_group.py), or exit codes (ringtree.cli.outcome).
"""

from __future__ import annotations

import contextlib
import signal
import threading
from collections.abc import Iterator
from types import FrameType

# Of the agents that are not the lab: schedulers signal all of them at once, and the lab ends them in order if it can.
GRACE = 10.0


class Terminated(KeyboardInterrupt):
    """SIGTERM has come. A KeyboardInterrupt, as whatever holds processes must let go of them in the same way."""


@contextlib.contextmanager
def ended_by_sigterm() -> Iterator[None]:
    """Inside, SIGTERM raises Terminated in the main thread."""
    with _handled({signal.SIGTERM: _terminate}):
        yield


@contextlib.contextmanager
def ended_by_the_lab() -> Iterator[None]:
    """Inside, SIGTERM and Ctrl-C raise Terminated only after GRACE: until then the lab, which got the same signal, ends
    this process in order."""

    def wait(number: int, frame: FrameType | None) -> None:
        signal.setitimer(signal.ITIMER_REAL, GRACE)

    with _handled({signal.SIGTERM: wait, signal.SIGINT: wait, signal.SIGALRM: _terminate}):
        try:
            yield
        finally:
            signal.setitimer(signal.ITIMER_REAL, 0)


@contextlib.contextmanager
def _handled(handlers: dict[signal.Signals, object]) -> Iterator[None]:
    if threading.current_thread() is not threading.main_thread():  # which alone gets signals
        yield
        return
    before = {number: signal.signal(number, handler) for number, handler in handlers.items()}  # type: ignore[arg-type]
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def _terminate(number: int, frame: FrameType | None) -> None:
    raise Terminated
