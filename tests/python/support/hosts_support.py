"""Hosts on one machine: network namespaces, each with network cards of its own, joined by switches.

For: tests that need ranks on several hosts, or a network that breaks. Not for: the ranks (fault_support.Job starts
them there).

    host 0: eth0 10.77.0.10 ──┐                    Cards 1 and up (eth1, 10.77.1.0/24, …) have a switch each.
    host 1: eth0 10.77.0.11 ──┤ br0                With ipv6=True addresses are fd77::10, … and there is no IPv4.
    host 2: eth0 10.77.0.12 ──┘ (a namespace too)  The machine's own interfaces are never touched.

Namespaces have no name and no process: this process holds a descriptor of each, so that nothing of them is left once it
has ended, however it ended.
"""

from __future__ import annotations

import ctypes
import functools
import os
import secrets
import shutil
import subprocess
import sys
import tempfile
import threading
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

_CLONE_NEWNET = 0x40000000
_LISTEN = "0A"  # as /proc/net/tcp writes the state of a socket
_TIME_WAIT = "06"
PATIENCE_S = 120
FORWARDS, BLOCKED = 3, 0  # states of a switch's port


def _new_namespace() -> int:
    """A descriptor of a new network namespace."""
    made: list[int] = []

    def make() -> None:  # on a thread of its own, which enters the namespace and ends
        libc = ctypes.CDLL(None, use_errno=True)
        if libc.unshare(_CLONE_NEWNET) == 0:
            made.append(os.open("/proc/thread-self/ns/net", os.O_RDONLY | os.O_CLOEXEC))
        else:
            errors.append(os.strerror(ctypes.get_errno()))

    errors: list[str] = []
    thread = threading.Thread(target=make)
    thread.start()
    thread.join()
    if errors:
        raise OSError(f"no network namespace can be made: {errors[0]}")
    return made[0]


@dataclass(frozen=True)
class Listening:
    """A TCP socket: the address as the kernel's table writes it, and whether anybody may connect to it."""

    address: str
    listens: bool

    @property
    def on_wildcard(self) -> bool:
        return set(self.address.partition(":")[0]) == {"0"}


class Hosts:
    """`count` hosts of `ranks_per_host` ranks each, as a context manager. rate: what a card sends at most ("200mbit").
    cards: of each host."""

    def __init__(
        self, count: int, ranks_per_host: int = 1, *, rate: str | None = None, ipv6: bool = False, cards: int = 1
    ) -> None:
        self.count, self.ranks_per_host, self.cards = count, ranks_per_host, cards
        self._ipv6, self._rate = ipv6, rate
        self._namespaces: list[int] = []  # of the hosts, then of the switches
        self._next_port = 29500
        self._folder = Path(tempfile.mkdtemp(prefix="ringtree-hosts-"))
        self.secret_file = self.new_secret("secret")
        try:
            self._make()
        except BaseException:
            self.close()
            raise

    @property
    def num_ranks(self) -> int:
        return self.count * self.ranks_per_host

    def host_of(self, rank: int) -> int:
        return rank // self.ranks_per_host

    def address(self, host: int, card: int = 0) -> str:
        return f"fd77:{card}::{10 + host}" if self._ipv6 else f"10.77.{card}.{10 + host}"

    def store(self) -> str:
        """The name of a store on host 0 that no job had before."""
        self._next_port += 1
        host = self.address(0)
        return f"tcp://[{host}]:{self._next_port}" if self._ipv6 else f"tcp://{host}:{self._next_port}"

    def namespace(self, host: int) -> str:
        """A path by which other processes enter the namespace of a host."""
        return f"/proc/{os.getpid()}/fd/{self._namespaces[host]}"

    def new_secret(self, name: str) -> Path:
        """A file with a secret of its own."""
        path = self._folder / name
        with open(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w") as file:
            file.write(secrets.token_hex(32) + "\n")
        return path

    def environment(self) -> dict[str, str]:
        """What ranks must find in theirs."""
        return {"RINGTREE_SECRET_FILE": str(self.secret_file)}

    def run(self, host: int, *command: str, check: bool = True, text: str | None = None) -> str:
        """Runs a command on a host; returns what it printed."""
        return self._inside(self._namespaces[host], *command, check=check, text=text)

    def sockets(self, host: int) -> list[Listening]:
        """The TCP sockets that exist on a host; those that only wait for stray packets of the past do not count."""
        found = []
        for line in self.run(host, "cat", "/proc/net/tcp", "/proc/net/tcp6").splitlines():
            fields = line.split()
            if ":" in fields[1] and fields[3] != _TIME_WAIT:
                found.append(Listening(fields[1], fields[3] == _LISTEN))
        return found

    def bytes_sent(self, host: int, card: int) -> int:
        """What has left a host over a card, headers of all layers included."""
        table = self.run(host, "cat", "/proc/net/dev")
        return int(table.partition(f"eth{card}:")[2].split()[8])

    def hold_in_sockets(self, num_bytes: int) -> None:
        """A TCP socket that is made from now on takes so much before it is full, whatever the network does."""
        for host in range(self.count):
            size = f"{num_bytes} {num_bytes} {num_bytes}"
            self.run(host, "sh", "-c", f"echo {size} > /proc/sys/net/ipv4/tcp_wmem")

    # --- faults

    def cut(self, host: int) -> None:
        """From now on all that a host sends or should get is lost; nobody is told. As a dropping firewall does."""
        self._set_ports(host, BLOCKED)

    def mend(self, host: int) -> None:
        """Takes cut() back."""
        self._set_ports(host, FORWARDS)

    def set_link(self, host: int, state: str) -> None:
        """ "down" pulls the host's cables, "up" plugs them in."""
        commands = "".join(f"link set dev port{card}-{host} {state}\n" for card in range(self.cards))
        self._inside(self._namespaces[self.count], "ip", "-batch", "-", text=commands)

    # --- the life of it

    def close(self) -> None:
        while self._namespaces:
            os.close(self._namespaces.pop())
        shutil.rmtree(self._folder, ignore_errors=True)

    def __enter__(self) -> Hosts:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _make(self) -> None:
        self._namespaces = [_new_namespace() for _ in range(self.count + 1)]
        switches = []
        for card in range(self.cards):
            switches += [f"link add name br{card} type bridge", f"link set dev br{card} up"]
            for host in range(self.count):
                port = f"port{card}-{host}"
                switches += [
                    f"link add name {port} type veth peer name eth{card} netns {self.namespace(host)}",
                    f"link set dev {port} master br{card}",
                    f"link set dev {port} up",
                ]
        self._inside(self._namespaces[self.count], "ip", "-batch", "-", text="\n".join(switches) + "\n")
        for host in range(self.count):
            lines = ["link set dev lo up"]
            for card in range(self.cards):
                network = f"{self.address(host, card)}/64 dev eth{card} nodad"
                network = network if self._ipv6 else f"{self.address(host, card)}/24 dev eth{card}"
                lines += [f"addr add {network}", f"link set dev eth{card} up"]
            self.run(host, "ip", "-batch", "-", text="\n".join(lines) + "\n")
            for card in range(self.cards if self._rate else 0):
                shaping = f"qdisc add dev eth{card} root tbf rate {self._rate} burst 64kb latency 50ms"
                self.run(host, "tc", *shaping.split())

    def _set_ports(self, host: int, state: int) -> None:
        for card in range(self.cards):
            port = f"port{card}-{host}"
            self._inside(self._namespaces[self.count], "bridge", "link", "set", "dev", port, "state", str(state))

    def _inside(self, namespace: int, *command: str, check: bool = True, text: str | None = None) -> str:
        done = subprocess.run(
            ["nsenter", f"--net=/proc/{os.getpid()}/fd/{namespace}", *command],
            input=text or "",
            capture_output=True,
            text=True,
            check=False,
            timeout=60,
        )
        if check and done.returncode != 0:
            raise OSError(f"{' '.join(command)}: {done.stderr.strip() or done.returncode}")
        return done.stdout


@functools.cache
def why_no_hosts() -> str:
    """Why this process cannot make hosts; "" if it can. Decides by making two."""
    missing = [tool for tool in ("ip", "bridge", "tc", "nsenter") if shutil.which(tool) is None]
    if missing:
        return f"not installed: {', '.join(missing)}"
    try:
        Hosts(2, rate="1gbit").close()
    except (OSError, subprocess.TimeoutExpired) as error:
        return str(error)
    return ""


def on_host(hosts: Hosts, host: int, *command: str) -> list[str]:
    """The command that runs `command` on a host."""
    return ["nsenter", f"--net={hosts.namespace(host)}", *command]


def rank_variables(hosts: Hosts, rank: int, store: str) -> dict[str, str]:
    """What torchrun would tell a rank; `store` is what Hosts.store() named."""
    address, port = store.removeprefix("tcp://").rsplit(":", 1)
    return {
        "RANK": str(rank),
        "WORLD_SIZE": str(hosts.num_ranks),
        "LOCAL_WORLD_SIZE": str(hosts.ranks_per_host),
        "MASTER_ADDR": address,
        "MASTER_PORT": port,
        **hosts.environment(),
    }


def run_on(hosts: Hosts, *command: str, **environment: str) -> list[subprocess.CompletedProcess[str]]:
    """Runs `ringtree <command>` as every rank of the hosts, as torchrun would start it; what became of each rank."""
    return run_python_on(hosts, ["-m", "ringtree", *command], PATIENCE_S, **environment)


def run_python_on(
    hosts: Hosts, words: Sequence[str], patience: float, **environment: str
) -> list[subprocess.CompletedProcess[str]]:
    """Runs Python with `words` as every rank. Raises TimeoutExpired, with none left, after `patience` seconds."""
    store = hosts.store()
    started = [
        subprocess.Popen(
            on_host(hosts, hosts.host_of(rank), sys.executable, *words),
            env={**os.environ, **rank_variables(hosts, rank, store), **environment},
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        for rank in range(hosts.num_ranks)
    ]
    ended = []
    try:
        for process in started:
            out, err = process.communicate(timeout=patience)
            ended.append(subprocess.CompletedProcess(process.args, process.returncode, out, err))
    finally:
        for process in started:
            process.kill()
            process.wait()
    return ended
