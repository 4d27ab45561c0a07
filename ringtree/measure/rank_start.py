"""How a rank process begins: a new interpreter, which imports what it needs.

For: the one line that starts a process for a rank, and what its starter may ask of it. Not for: what is read and said
(rank_group.py), or the rank's own beginning (rank_main.py).

Ranks are never forked from a process that has imported it all, though that would save most of their 0.45 s. Forks share
their parent's addresses, hash seed and heap, so the launches of a run would differ less than those of two runs do, and
an interval over launches would be too narrow; and libraries that read the environment on import would have read the
parent's. Tests, which look at no time, fork them (tests/python/support/forked_ranks.py).
"""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Mapping, Sequence
from typing import Protocol


class RankProcess(Protocol):
    """A process as its starter sees it; as subprocess.Popen."""

    @property
    def pid(self) -> int: ...
    def poll(self) -> int | None: ...
    def wait(self, timeout: float | None = None) -> int: ...
    def terminate(self) -> None: ...
    def kill(self) -> None: ...


def start_process(
    module: str, arguments: Sequence[int], inherited: Sequence[int], output: int, environment: Mapping[str, str]
) -> RankProcess:
    """Starts `python -m module <arguments>`, descriptors that it inherits, as it does those of `inherited`.

    `output`: where its standard output and error go. `environment`: all of its variables, PYTHONPATH among them: the
    working directory is "/", which must not shadow a module.
    """
    return subprocess.Popen(
        [sys.executable, "-m", module, *map(str, arguments)],
        stdin=subprocess.DEVNULL,
        stdout=output,
        stderr=output,
        cwd="/",
        env=environment,
        pass_fds=(*arguments, *inherited),
    )
