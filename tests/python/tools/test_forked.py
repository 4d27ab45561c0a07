"""Forked processes have the variables of who started them, and their server has none of a test's."""

from __future__ import annotations

import os
import threading
from multiprocessing.connection import Connection
from multiprocessing.process import BaseProcess
from pathlib import Path

import forked
import pytest
from forked import PROCESSES, start


def _tell(pipe: Connection) -> None:
    # The kernel keeps what a process was started with, and a fork has that of its server.
    pipe.send((dict(os.environ), Path("/proc/self/environ").read_bytes()))


def test_a_variable_of_a_test_is_its_processes_and_not_the_servers(monkeypatch: pytest.MonkeyPatch) -> None:
    for value in ("first", "second"):
        monkeypatch.setenv("RINGTREE_OF_A_TEST", value)
        ours, theirs = PROCESSES.Pipe(duplex=False)
        process = start(_tell, theirs)
        theirs.close()
        assert ours.poll(60)
        of_process, of_server = ours.recv()
        process.join()
        assert of_process == dict(os.environ)
        assert b"RINGTREE_OF_A_TEST" not in of_server


def test_variables_stay_while_the_server_runs(monkeypatch: pytest.MonkeyPatch) -> None:
    """Beside threads that start programs: an execve() reads them."""
    forked.start_the_server()
    changed: list[object] = []
    monkeypatch.setattr(forked, "_set", changed.append)
    ours, theirs = PROCESSES.Pipe(duplex=False)
    process = start(_tell, theirs)
    theirs.close()
    assert ours.poll(60)
    process.join()
    assert changed == []


def _nothing() -> None:
    """What a process does here."""


def test_a_process_is_not_closed_in_the_middle_of_a_start(monkeypatch: pytest.MonkeyPatch) -> None:
    """A start of multiprocessing's asks all processes in its list whether they have ended, and a closed one can't be
    asked: AttributeError, seen in the fault matrix."""
    first = start(_nothing)
    first.join()
    starting, closed = threading.Event(), threading.Event()
    seen: list[bool] = []
    start_it = BaseProcess.start

    def slow_start(self: BaseProcess) -> None:
        starting.set()
        seen.append(closed.wait(0.3))
        start_it(self)

    def close() -> None:
        starting.wait()
        forked.close(first)
        closed.set()

    monkeypatch.setattr(BaseProcess, "start", slow_start)
    other = threading.Thread(target=close)
    other.start()
    second = start(_nothing)
    other.join()
    second.join()
    forked.close(second)
    assert seen == [False], "closed while another was being started"
    with pytest.raises(ValueError, match="closed"):
        first.is_alive()
