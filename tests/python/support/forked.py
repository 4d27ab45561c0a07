"""Processes that are forked by a server which has imported what is slow to import, and has no threads.

For: ranks that tests start (fault_support.py, torch_ranks.py). Not for: what is read of the environment by an import:
that is the server's, as is all of the environment that a process is not given.

multiprocessing has one such server a process, which starts with the first process: what it is to import is said before.
"""

from __future__ import annotations

import multiprocessing

PROCESSES = multiprocessing.get_context("forkserver")
_preloaded: list[str] = []


def preload(*modules: str) -> None:
    """From its start the server has these modules, besides those that others want. Installed ones: no helpers of tests,
    as it has another path."""
    _preloaded.extend(modules)
    PROCESSES.set_forkserver_preload(_preloaded)
