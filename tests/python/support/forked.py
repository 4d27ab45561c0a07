"""Processes that are forked by a server which has imported what is slow to import, and has no threads.

For: processes that tests start (fault_support.py, torch_ranks.py, forked_ranks.py, forked_ringtree.py). Not for: what
is read only once. A process has the variables of who started it, but the interpreter, the dynamic linker and imports
have read those of the server: PYTHON*, LD_*, threads of OpenMP and BLAS, PyTorch's log levels. Who needs these starts a
process of its own.

multiprocessing has one such server a process, which starts with the first process: what it is to import is said before.
"""

from __future__ import annotations

import ctypes
import gc
import multiprocessing
import os
import socket
import threading
from collections.abc import Callable, Mapping
from multiprocessing import connection, forkserver
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


def have_a_server_of_its_own() -> None:
    """To be called in a process that was forked, before it has threads: what it starts are then descendants of its own,
    in its network, and end after it at the latest. The server is a fork, too, so it has imported what this one has."""
    global _started
    server: Any = forkserver._forkserver  # type: ignore[attr-defined]
    current: Any = multiprocessing.current_process()
    current._config["daemon"] = False  # which multiprocessing would not let start any
    address = connection.arbitrary_address("AF_UNIX")  # type: ignore[attr-defined]
    while_it_lives, alive = os.pipe()
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(address)
        listener.listen()
        pid = os.fork()
        if pid == 0:
            try:
                os.close(alive)
                forkserver.main(listener.detach(), while_it_lives, [])  # type: ignore[attr-defined]
            finally:
                os._exit(0)
    os.close(while_it_lives)
    server._forkserver_address, server._forkserver_alive_fd, server._forkserver_pid = address, alive, pid
    _started = True


def enter_namespace(path: str) -> None:
    """Enters a network namespace. To be called before the process has threads."""
    descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    if ctypes.CDLL(None, use_errno=True).setns(descriptor, 0) != 0:
        raise OSError(ctypes.get_errno(), f"cannot enter {path}")
    os.close(descriptor)


def _run(environment: Mapping[str, str], target: Callable[..., None], arguments: tuple[Any, ...]) -> None:
    _set(environment)
    gc.freeze()  # a collection would write to, and so copy, all that the server has imported: a rank begins with one
    target(*arguments)


def _set(environment: Mapping[str, str]) -> None:
    os.environ.clear()
    os.environ.update(environment)
