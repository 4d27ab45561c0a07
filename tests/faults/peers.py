"""The same faults for Gloo and Open MPI: killed, stopped for ever, cut off, in all_reduce.

For: rows beside ours: Gloo, over TCP on one host and on several, and what is common to both libraries. Not for: Open
MPI's own way (open_mpi.py), or bars, they are ours. Survivors stay alive, as ours do.
"""

from __future__ import annotations

import contextlib
import json
import os
import re
import selectors
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from hosts_support import Hosts

from faults.trial import Cell, Survivor, Trial

HERE = Path(__file__).resolve().parent
DEADLINE_S = 10.0  # of each call of Gloo's
START_S = 60.0


@dataclass(frozen=True)
class Line:
    """What a process wrote. source: its place among those that were started."""

    source: int
    what: dict[str, Any]


class Programs:
    """Processes that write lines of JSON; a context manager that ends them."""

    def __init__(self, commands: Sequence[Sequence[str]], environment: dict[str, str]) -> None:
        self._selector = selectors.DefaultSelector()
        self.processes = []
        for source, command in enumerate(commands):
            process = subprocess.Popen(
                command,
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT,
                env={**os.environ, **environment},
                start_new_session=True,
            )
            assert process.stdout is not None
            os.set_blocking(process.stdout.fileno(), False)
            self._selector.register(process.stdout, selectors.EVENT_READ, source)
            self.processes.append(process)
        self._rest = [b""] * len(self.processes)
        self.said = ""  # that was no JSON

    def lines(self, until: float, enough: Callable[[Line], bool]) -> list[Line]:
        """What they write, until `enough` says so of a line, `until`, or all have ended."""
        found: list[Line] = []
        while self._selector.get_map() and (left := until - time.monotonic()) > 0:
            for key, _ in self._selector.select(left):
                data = os.read(key.fd, 1 << 16)
                if not data:
                    self._selector.unregister(key.fileobj)
                    continue
                *whole, self._rest[key.data] = (self._rest[key.data] + data).split(b"\n")
                for raw in whole:
                    if not raw.startswith(b"{"):
                        self.said += raw.decode(errors="replace") + "\n"
                        continue
                    found.append(Line(key.data, json.loads(raw)))
                    if enough(found[-1]):
                        return found
        return found

    def __enter__(self) -> Programs:
        return self

    def __exit__(self, *_: object) -> None:
        for process in self.processes:
            _end_session(process.pid)
            process.wait()
            assert process.stdout is not None
            process.stdout.close()
        self._selector.close()


def _end_session(leader: int) -> None:
    """Kills a session's processes, also those that have a group of their own, as daemons have."""
    for entry in Path("/proc").iterdir():
        if entry.name.isdecimal():
            with contextlib.suppress(ProcessLookupError):
                if os.getsid(int(entry.name)) == leader:
                    os.kill(int(entry.name), signal.SIGKILL)


def collect(programs: Programs, num: int, seconds: float, key: str) -> list[Line]:
    """Lines until `num` of them have `key`."""
    count = [0]

    def enough(line: Line) -> bool:
        count[0] += key in line.what
        return count[0] == num

    return [line for line in programs.lines(time.monotonic() + seconds, enough) if key in line.what]


def befall(fault: str, pid: int, hosts: Hosts | None, host: int) -> float:
    if fault.startswith("network"):
        assert hosts is not None
        hosts.cut(host)
    else:
        os.kill(pid, signal.SIGKILL if fault.startswith("killed") else signal.SIGSTOP)
    return time.monotonic()


def gloo(cell: Cell) -> Trial:
    ranks, victim = cell.world.ranks, cell.world.ranks - 1
    with TemporaryDirectory(prefix="ringtree-faults-") as directory:
        rank_of = [sys.executable, str(HERE / "gloo_rank.py")]
        arguments = [[*rank_of, str(rank), str(ranks), f"{directory}/store", str(DEADLINE_S)] for rank in range(ranks)]
        if not cell.world.hosts:
            with Programs(arguments, {"GLOO_SOCKET_IFNAME": "lo"}) as programs:
                return _of_gloo(cell, programs, victim, None, list(range(victim)))
        with Hosts(cell.world.hosts, cell.world.each) as hosts:
            inside = [
                ["nsenter", f"--net={hosts.namespace(hosts.host_of(rank))}", *arguments[rank]] for rank in range(ranks)
            ]
            others = [
                rank
                for rank in range(victim)
                if not cell.fault.startswith("network") or hosts.host_of(rank) != hosts.host_of(victim)
            ]
            with Programs(inside, {"GLOO_SOCKET_IFNAME": "eth0"}) as programs:
                return _of_gloo(cell, programs, victim, hosts, others)


def _of_gloo(cell: Cell, programs: Programs, victim: int, hosts: Hosts | None, others: list[int]) -> Trial:
    up = {line.source: int(line.what["pid"]) for line in collect(programs, victim + 1, START_S, "pid")}
    assert len(up) == victim + 1, programs.said
    at = befall(cell.fault, up[victim], hosts, hosts.host_of(victim) if hosts else 0)
    expected = len(others) if not cell.fault.startswith("network") else victim + 1
    told = {line.source: line.what for line in collect(programs, expected, DEADLINE_S + 5, "error")}
    return Trial(cell, [survivor(rank, told.get(rank), at, victim) for rank in others], DEADLINE_S)


def survivor(rank: int, what: dict[str, Any] | None, at: float, victim: int) -> Survivor:
    if what is None:
        return Survivor(rank, "none")
    named = re.search(rf"\brank {victim}\b", what["text"]) is not None
    return Survivor(rank, "error", what["text"], what["at"] - at, named=named)
