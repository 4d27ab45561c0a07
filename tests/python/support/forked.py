"""Processes that are forked by a server which has imported what is slow to import, and has no threads.

For: ranks that tests start (fault_support.py, torch_ranks.py, forked_ranks.py). Not for: what is read only once. A
process has the variables of who started it, but the interpreter, the dynamic linker and imports have read those of the
server: PYTHON*, LD_*, threads of OpenMP and BLAS, PyTorch's log levels. Who needs these starts a process of its own.

multiprocessing has one such server a process, which starts with the first process: what it is to import is said before.
"""

from __future__ import annotations

import multiprocessing
import os
import threading
from collections.abc import Callable, Mapping
from multiprocessing import forkserver
from multiprocessing.process import BaseProcess
from typing import Any

PROCESSES = multiprocessing.get_context("forkserver")
# What ranks of PyTorch import: DDP imports the last, in 1.5 s.
OF_TORCH = ("torch", "torch.distributed", "torch._dynamo")
# While tests are collected: no test has changed any yet. A thread a process, as the lab's ranks have.
_OF_THE_SERVER = {"OMP_NUM_THREADS": "1", **os.environ}
_READ_AT_START = ("PYTHON", "LD_", "GLIBC_", "MALLOC_", "OMP_", "GOMP_", "KMP_", "MKL_", "OPENBLAS_", "TORCH_")
_preloaded: list[str] = []
_starting = threading.Lock()  # while the variables are the server's
_listed = threading.Lock()  # a start asks every child whether it has ended: none may be closed meanwhile
_started = False


def preload(*modules: str) -> None:
    """From its start the server has these modules, besides those that others want. Installed ones: no helpers of tests,
    as it has another path."""
    _preloaded.extend(modules)
    PROCESSES.set_forkserver_preload(_preloaded)


def wants_its_own(environment: Mapping[str, str]) -> bool:
    """Whether variables that are read once differ from the server's: a fork would not have them. PYTHONPATH aside,
    which is sys.path."""
    return any(
        environment.get(name) != _OF_THE_SERVER.get(name)
        for name in {*environment, *_OF_THE_SERVER} - {"PYTHONPATH"}
        if name.startswith(_READ_AT_START)
    )


def start(target: Callable[..., None], *arguments: Any) -> BaseProcess:
    """Starts target(*arguments) with this process's variables; it is killed when this one ends. Who starts processes on
    several threads calls start_the_server() before."""
    start_the_server()
    process = PROCESSES.Process(target=_run, args=(dict(os.environ), target, arguments), daemon=True)
    with _listed:
        process.start()
    return process


def close(process: BaseProcess) -> None:
    """Frees what belongs to a process that has ended, also while other threads start some."""
    with _listed:
        process.close()


def start_the_server() -> None:
    """Once a process: it runs for all tests, so what one of them sets for itself is not its. Not beside threads that
    start programs: while this one's variables are the server's, they are freed under an execve() (EFAULT)."""
    global _started
    with _starting:
        if _started:
            return
        now = dict(os.environ)
        _set(_OF_THE_SERVER)
        try:
            forkserver.ensure_running()
        finally:
            _set(now)
        _started = True


def _run(environment: Mapping[str, str], target: Callable[..., None], arguments: tuple[Any, ...]) -> None:
    _set(environment)
    target(*arguments)


def _set(environment: Mapping[str, str]) -> None:
    os.environ.clear()
    os.environ.update(environment)
