"""Ranks of the lab forked from a server that has imported their program, which costs each 0.45 s of a core else.

    from forked_ranks import forked_ranks

    __all__ = ["forked_ranks"]  # all launches of this module

For: tests that start launches in their own process and look at no time; forked_ringtree.py, for labs that are processes
themselves. Not for: how ranks start, which the tests of rank_group.py see.

Who sets what only a new interpreter reads (PYTHONPATH, LD_PRELOAD, …) gets one: there a rank starts as it does for
users.
"""

from __future__ import annotations

import fcntl
import importlib
import os
import subprocess
import sys
import traceback
from collections.abc import Callable, Iterator, Mapping, Sequence
from multiprocessing import reduction
from multiprocessing.process import BaseProcess
from typing import Any

import pytest
from forked import preload, start, wants_its_own

from ringtree.measure import rank_start
from ringtree.measure.rank_start import RankProcess

preload("ringtree.measure.rank_process", "pytest")  # which this file imports


class Descriptor:
    """An open descriptor, under the same number in the process that it is handed to."""

    def __init__(self, number: int) -> None:
        self.number = number

    def __reduce__(self) -> tuple[Any, ...]:
        return _arrived, (reduction.DupFd(self.number), self.number)


class Arrived:
    def __init__(self, descriptor: int, number: int) -> None:
        self.descriptor, self.number = descriptor, number


def _arrived(handed_over: Any, number: int) -> Arrived:
    return Arrived(handed_over.detach(), number)


class _Forked:
    """As subprocess.Popen, of a process that the server has forked."""

    def __init__(self, process: BaseProcess) -> None:
        assert process.pid is not None
        self._process, self.pid = process, process.pid

    def poll(self) -> int | None:
        return self._process.exitcode

    def wait(self, timeout: float | None = None) -> int:
        self._process.join(timeout)
        if self._process.exitcode is None:
            raise subprocess.TimeoutExpired("a forked rank", timeout or 0.0)
        return self._process.exitcode

    def terminate(self) -> None:
        self._process.terminate()

    def kill(self) -> None:
        self._process.kill()


@pytest.fixture(scope="module", autouse=True)
def forked_ranks() -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(rank_start, "start_process", forking())
        yield


def forking() -> Callable[..., RankProcess]:
    """What starts ranks instead of rank_start.start_process()."""
    before, path = rank_start.start_process, list(sys.path)

    def start_process(
        module: str, arguments: Sequence[int], inherited: Sequence[int], output: int, environment: Mapping[str, str]
    ) -> RankProcess:
        if sys.path != path or wants_its_own(environment):
            return before(module, arguments, inherited, output, environment)
        descriptors = [*arguments, *inherited]
        handed = [Descriptor(number) for number in descriptors]
        return _Forked(start(_be_rank, module, arguments, handed, Descriptor(output), dict(environment)))

    return start_process


def _be_rank(
    module: str, arguments: Sequence[int], handed: Sequence[Arrived], output: Arrived, environment: Mapping[str, str]
) -> None:
    """What `python -m module <arguments>` does, in a process that was forked."""
    os.environ.clear()
    os.environ.update(environment)
    sys.path[:] = environment["PYTHONPATH"].split(os.pathsep)
    os.chdir("/")
    _have_only([*handed, output])
    code = 1
    try:
        nothing = os.open(os.devnull, os.O_RDONLY)
        for standard, descriptor in enumerate((nothing, output.number, output.number)):
            os.dup2(descriptor, standard)
        os.close(nothing)
        os.close(output.number)
        code = importlib.import_module(module).main([str(number) for number in arguments])
        sys.stdout.flush()
    except BaseException:
        traceback.print_exc()
    finally:
        os._exit(code)  # what multiprocessing does at the end of a process wants descriptors that are gone


def _have_only(arrived: Sequence[Arrived]) -> None:
    """Puts descriptors under the numbers that they had, above standard error; all others are closed."""
    above = max(max(one.descriptor, one.number) for one in arrived) + 1
    moved = [fcntl.fcntl(one.descriptor, fcntl.F_DUPFD, above) for one in arrived]
    os.closerange(3, above)
    for now, one in zip(moved, arrived, strict=True):
        os.dup2(now, one.number)
        os.close(now)
