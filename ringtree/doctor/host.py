"""The machine as probes see it: its files, variables, cores, programs and packages, in one value.

For: every probe's only argument, so that tests hand in a machine that they made up. Not for: what a probe looks for,
/proc and /sys that provenance reads too (ringtree.measure.host_files, with `root` of this).
"""

from __future__ import annotations

import os
import platform
import pwd
import shutil
import subprocess
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from importlib.util import find_spec
from io import BytesIO
from pathlib import Path
from typing import Any

from ringtree.arms.kind import ArmKind
from ringtree.arms.mpi_libraries import Found, MpiProgram
from ringtree.arms.registry import KINDS
from ringtree.comm.cpuinfo import ROOT
from ringtree.gpu import nccl_version
from ringtree.gpu.libraries import NCCL, of_packages
from ringtree.launchers import command_lines_above
from ringtree.logs import read_stream
from ringtree.measure.environment import version_of
from ringtree.measure.host_files import text

_SECONDS = 20.0  # nvidia-smi takes several where persistence mode is off


class NotKnown(Exception):
    """Something can't be found out here; the text says why."""


class Hung(NotKnown):
    """A program did not answer."""


def run_program(command: Sequence[str]) -> str:
    """Returns what a program prints. Raises NotKnown if it is missing, fails or hangs."""
    name = command[0]
    pipe = subprocess.PIPE
    try:
        process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=pipe, stderr=pipe, errors="replace")
    except FileNotFoundError:
        raise NotKnown(f"{name} is not on PATH") from None
    except OSError as error:
        raise NotKnown(f"{name} can't be started: {error.strerror or error}") from None
    try:
        printed, errors = process.communicate(timeout=_SECONDS)
    except subprocess.TimeoutExpired:
        process.kill()
        # One that waits for a dead driver can't be killed: it is not waited for, as subprocess.run would.
        with suppress(subprocess.TimeoutExpired):
            process.wait(timeout=1.0)
        for stream in (process.stdout, process.stderr):
            if stream is not None:
                stream.close()
        raise Hung(f"{name} did not answer within {_SECONDS:g} s") from None
    if process.returncode:
        said = " ".join((printed + errors).split())
        raise NotKnown(f"{name} failed ({process.returncode}): {said[:200]}")
    return printed


def _folder_of(package: str) -> Path | None:
    found = find_spec(package)
    return None if found is None or found.origin is None else Path(found.origin).parent


class Programs:
    """Starts programs, each command once: what it printed, or why that is not known, is remembered. One that hung is
    not started again with other arguments either: every probe would wait for it."""

    def __init__(self, start: Callable[[Sequence[str]], str] = run_program) -> None:
        self._start = start
        self._said: dict[tuple[str, ...], str | NotKnown] = {}
        self._hung: dict[str, Hung] = {}

    def __call__(self, command: Sequence[str]) -> str:
        """Returns what a program prints. Raises NotKnown."""
        if command[0] in self._hung:
            raise self._hung[command[0]]
        if tuple(command) not in self._said:
            self._said[tuple(command)] = self._outcome(command)
        said = self._said[tuple(command)]
        if isinstance(said, NotKnown):
            raise said
        return said

    def _outcome(self, command: Sequence[str]) -> str | NotKnown:
        try:
            return self._start(command)
        except Hung as hung:
            self._hung[command[0]] = hung
            return hung
        except NotKnown as because:
            return because


def _home() -> Path | None:
    try:
        return Path(pwd.getpwuid(os.getuid()).pw_dir)
    except KeyError:
        return None


@dataclass(frozen=True)
class Software:
    """What is installed. `nccl`: the version of the libnccl that would be called, raises RingtreeError without one."""

    version_of: Callable[[str], str | None] = version_of
    folder_of: Callable[[str], Path | None] = _folder_of
    which: Callable[[str], str | None] = shutil.which
    nccl: Callable[[], str] = nccl_version
    nccl_of_packages: Callable[[], list[str]] = lambda: of_packages(NCCL)
    mpi: Callable[[str], Found | None] = lambda library: MpiProgram(library).first()
    kinds: Sequence[ArmKind] = KINDS


@dataclass(frozen=True)
class Host:
    """This machine, unless a test says otherwise. `root`: the folder that holds proc/, sys/ and etc/; `home`: of the
    user's entry in passwd, not of HOME; `asked`: kinds of arms that the user named; `above`: the command lines of the
    processes above this one."""

    root: Path = ROOT
    environment: Mapping[str, str] = field(default_factory=lambda: dict(os.environ))
    affinity: Sequence[int] = field(default_factory=lambda: sorted(os.sched_getaffinity(0)))
    name: str = field(default_factory=platform.node)
    home: Path | None = field(default_factory=_home)
    run: Callable[[Sequence[str]], str] = field(default_factory=Programs)
    pause: Callable[[float], None] = time.sleep
    software: Software = field(default_factory=Software)
    asked: frozenset[str] = frozenset()
    above: Callable[[], Iterable[list[str]]] = command_lines_above

    def text(self, path: str) -> str:
        """Returns what a file says, "" if it can't be read. `path`: without the first slash."""
        return text(self.root / path)

    def names(self, path: str) -> list[str]:
        """Returns what lies in a folder, sorted; nothing if it can't be read."""
        try:
            return sorted(entry.name for entry in (self.root / path).iterdir())
        except OSError:
            return []

    def exists(self, path: str) -> bool:
        """Returns whether there is such a file or folder."""
        return (self.root / path).exists()


def documents_of(output: str, kind: str) -> list[dict[str, Any]]:
    """Returns what the readers of logs find in a program's output."""
    read = read_stream(BytesIO(output.encode(errors="replace")), "output")
    return [document.data for document in read.documents if document.kind == kind]
