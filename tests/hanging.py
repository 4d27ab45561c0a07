"""What ends a process that hangs in code which tests call: with the stack of each thread, in which one sees where.

For: commands that run in the test's own process, which no limit of a subprocess ends. Not for: tests that start
processes, whose limits their helpers have.

The stack goes to pytest's own stderr: what a test writes is lost with the process. Under pytest-xdist the test counts
as failed, and a new process runs the rest.
"""

from __future__ import annotations

import contextlib
import faulthandler
import os
from collections.abc import Iterator

import pytest

_stderr: list[int] = []  # a descriptor of pytest's own


def pytest_configure(config: pytest.Config) -> None:
    """While a test runs, descriptor 2 is a file that pytest reads."""
    capture = config.pluginmanager.getplugin("capturemanager")
    with capture.global_and_fixture_disabled() if capture else contextlib.nullcontext():
        _stderr.append(os.dup(2))


@contextlib.contextmanager
def ended_after(seconds: float) -> Iterator[None]:
    """Ends this process with exit code 1 unless the body has ended by then."""
    faulthandler.dump_traceback_later(seconds, exit=True, file=_stderr[-1])
    try:
        yield
    finally:
        faulthandler.cancel_dump_traceback_later()
