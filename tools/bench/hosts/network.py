"""The hosts of the bench: network namespaces, as the tests make them (tests/python/support/hosts_support.py).

For: making hosts, and the command that runs something on one of them. Not for: what runs there (arms.py, agent.py).
"""

from __future__ import annotations

import importlib
import os
import subprocess
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Protocol

from ringtree.errors import RingtreeError, UsageError

_PATIENCE, _LEAST_PATIENCE = 10.0, 300.0  # times what was asked for; seconds


class Hosts(Protocol):
    """What the bench asks of hosts_support.Hosts."""

    count: int
    ranks_per_host: int
    secret_file: Path

    @property
    def num_ranks(self) -> int: ...
    def host_of(self, rank: int) -> int: ...
    def address(self, host: int) -> str: ...
    def store(self) -> str: ...
    def namespace(self, host: int) -> str: ...
    def environment(self) -> dict[str, str]: ...
    def run(self, host: int, *command: str) -> str: ...


def _support() -> Any:
    try:
        return importlib.import_module("hosts_support")
    except ModuleNotFoundError as error:
        raise UsageError(
            "hosts_support is not found: PYTHONPATH must hold tests/python/support, as `make bench-hosts` sets it"
        ) from error


def require_hosts() -> None:
    """Raises UsageError if this process cannot make hosts, as most users cannot."""
    why = _support().why_no_hosts()
    if why:
        raise UsageError(f"no hosts can be made here, which takes root and network namespaces: {why}")


@contextmanager
def made_hosts(count: int, ranks_per_host: int, shaping: str | None = None) -> Iterator[Hosts]:
    """`count` hosts; what each sends goes through tc's token bucket with the words of `shaping`, if there are any.

    Raises RingtreeError if they can't be made.
    """
    try:
        made = _support().Hosts(count, ranks_per_host)
    except OSError as error:
        raise RingtreeError(f"no hosts: {error}") from error
    with made as hosts:
        for host in range(count if shaping else 0):
            hosts.run(host, "tc", "qdisc", "add", "dev", "eth0", "root", "tbf", *str(shaping).split())
        yield hosts


def on_host(hosts: Hosts, host: int, command: Sequence[str]) -> list[str]:
    """The command that runs `command` on a host."""
    return ["nsenter", f"--net={hosts.namespace(host)}", *command]


def rank_variables(hosts: Hosts, rank: int, store: str) -> dict[str, str]:
    """What a launcher would tell a rank; `store` is tcp://HOST:PORT."""
    address, _, port = store.removeprefix("tcp://").rpartition(":")
    return {
        "RANK": str(rank),
        "WORLD_SIZE": str(hosts.num_ranks),
        "LOCAL_RANK": str(rank % hosts.ranks_per_host),
        "LOCAL_WORLD_SIZE": str(hosts.ranks_per_host),
        "MASTER_ADDR": address,
        "MASTER_PORT": port,
        **hosts.environment(),
    }


def patience_for(seconds: float) -> float:
    """Returns after how many seconds something hangs that was to take `seconds`: the fewest visits of large sizes may
    take more than a share."""
    return max(_LEAST_PATIENCE, _PATIENCE * seconds)


def run_on_ranks(hosts: Hosts, command: Sequence[str], patience: float) -> str:
    """Runs `command` as every rank, as a launcher would; returns what rank 0 printed. Raises RingtreeError if a rank
    fails, or if they take longer than `patience` seconds."""
    store = hosts.store()
    running = [
        subprocess.Popen(
            on_host(hosts, hosts.host_of(rank), command),
            env={**os.environ, **rank_variables(hosts, rank, store)},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        for rank in range(hosts.num_ranks)
    ]
    try:
        said = [process.communicate(timeout=patience) for process in running]
    except subprocess.TimeoutExpired as late:
        raise RingtreeError(f"ranks did not end within {patience:.0f} s") from late
    finally:
        for process in running:
            process.kill()
            process.wait()
    for rank, process in enumerate(running):
        if process.returncode != 0:
            why = (said[rank][1].strip().splitlines() or ["it said nothing"])[-1]
            raise RingtreeError(f"rank {rank} ended with {process.returncode}: {why}")
    return said[0][0]
