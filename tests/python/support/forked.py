"""Processes that are forked by a server which has imported what is slow to import, and has no threads.

For: ranks that tests start (fault_support.py, torch_ranks.py). Not for: what is read only once. A process has the
variables of who started it, but the interpreter, the dynamic linker and imports have read those of the server: PYTHON*,
LD_*, threads of OpenMP and BLAS, PyTorch's log levels. Who needs these starts a process of its own.

multiprocessing has one such server a process, which starts with the first process: what it is to import is said before.
"""

from __future__ import annotations

import multiprocessing
import os
from collections.abc import Callable, Mapping
from multiprocessing import forkserver
from multiprocessing.process import BaseProcess
from typing import Any

PROCESSES = multiprocessing.get_context("forkserver")
_OF_THE_SERVER = dict(os.environ)  # while tests are collected: no test has changed any yet
_preloaded: list[str] = []


def preload(*modules: str) -> None:
    """From its start the server has these modules, besides those that others want. Installed ones: no helpers of tests,
    as it has another path."""
    _preloaded.extend(modules)
    PROCESSES.set_forkserver_preload(_preloaded)


def start(target: Callable[..., None], *arguments: Any) -> BaseProcess:
    """Starts target(*arguments) with this process's variables; it is killed when this one ends."""
    _start_the_server()
    process = PROCESSES.Process(target=_run, args=(dict(os.environ), target, arguments), daemon=True)
    process.start()
    return process


def _start_the_server() -> None:
    """It runs for all tests, so what one of them sets for itself is not its."""
    now = dict(os.environ)
    _set(_OF_THE_SERVER)
    try:
        forkserver.ensure_running()
    finally:
        _set(now)


def _run(environment: Mapping[str, str], target: Callable[..., None], arguments: tuple[Any, ...]) -> None:
    _set(environment)
    target(*arguments)


def _set(environment: Mapping[str, str]) -> None:
    os.environ.clear()
    os.environ.update(environment)
