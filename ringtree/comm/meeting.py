"""Where ranks find each other: stores by name, and what a launcher says about it in the environment.

For: ringtree.init. Not for: how a store works (core/bootstrap).
"""

from __future__ import annotations

import hashlib
import os
import threading

from ringtree._core import FileStore, Store, TcpStore, UnixStore
from ringtree.comm.torchrun import torchrun_store
from ringtree.errors import UsageError


class Stores:
    """The stores of this process. A store stays open once it was used: rank 0 serves it, and a faster rank may come
    back for its next communicator while a slower one still makes the first. The n-th init() with one store and name is
    the same group on all ranks."""

    def __init__(self) -> None:
        self._lock = threading.Lock()  # protects both maps
        self._open: dict[tuple[str, int], Store] = {}
        self._num_meetings: dict[tuple[str, int, str], int] = {}

    def meet(self, store: str, rank: int, name: str, timeout: float) -> tuple[Store, str]:
        """The store and the prefix of this group's keys in it."""
        with self._lock:
            place = self._open.get((store, rank))
        if place is None:
            place = _open_store(store, rank, timeout)  # waits for rank 0, which may be a thread of this process
        with self._lock:
            self._open[store, rank] = place
            count = self._num_meetings.get((store, rank, name), 0)
            self._num_meetings[store, rank, name] = count + 1
        return place, f"{name}/{count}"


STORES = Stores()


def from_environment(variable: str, given: int | None) -> int:
    """Returns `given` or, if it is None, the number in that variable. Raises UsageError if there is none."""
    if given is not None:
        return given
    text = os.environ.get(variable)
    if text is None:
        raise UsageError(f"give {variable.lower()}=, or start the ranks with torchrun, which sets {variable}")
    try:
        return int(text)
    except ValueError:
        raise UsageError(f"{variable}={text!r} is not a number") from None


def store_of_the_launcher() -> str:
    """Returns the name of the store that all ranks of a job of torchrun derive alike. Raises UsageError without one.

    On one host a unix store; on several (LOCAL_WORLD_SIZE says so) torchrun's own, or where there is none, one that
    rank 0 serves at MASTER_ADDR and MASTER_PORT.
    """
    if "MASTER_PORT" not in os.environ:
        raise UsageError('give store="unix:<id>", or start the ranks with torchrun, which sets MASTER_PORT')
    if not on_several_hosts():
        keys = ("MASTER_ADDR", "MASTER_PORT", "TORCHELASTIC_RUN_ID", "TORCHELASTIC_RESTART_COUNT")
        job = hashlib.sha256("\0".join(os.environ.get(key, "") for key in keys).encode()).hexdigest()[:32]
        return f"unix:{job}"
    address = f"{os.environ.get('MASTER_ADDR', '')}:{os.environ['MASTER_PORT']}"
    return f"torchrun://{address}" if os.environ.get("TORCHELASTIC_USE_AGENT_STORE") == "True" else f"tcp://{address}"


def store_to_join() -> str:
    """Returns the launcher's store as processes reach it that ranks of the launcher start: nobody of them serves it."""
    return store_of_the_launcher().replace("tcp://", "tcp-join://")


def host_of(store: str) -> str | None:
    """Returns the host at which a store is reached over the network, None if it is not."""
    kind, _, place = store.partition("://")
    return _split_address(place)[0] if kind in ("tcp", "tcp-join", "torchrun") else None


def on_several_hosts() -> bool:
    """Whether a launcher has started this process as a rank, and ranks on other hosts as well."""
    world, local = os.environ.get("WORLD_SIZE"), os.environ.get("LOCAL_WORLD_SIZE")
    return world is not None and local is not None and world != local


def refuse_several_hosts(command: str) -> None:
    """Raises UsageError where a launcher has started ranks on several hosts: `command` would run once for each."""
    if on_several_hosts():
        raise UsageError(
            f"a launcher has started this on several hosts (WORLD_SIZE is not LOCAL_WORLD_SIZE), and {command} runs on "
            "one: `ringtree compare` and `ringtree tune` run there"
        )


def _split_address(place: str) -> tuple[str, int]:
    host, colon, port = place.rpartition(":")
    host = host.removeprefix("[").removesuffix("]")
    if not (host and colon and port.isdecimal() and int(port) < 1 << 16):
        raise UsageError(f"invalid address of a store {place!r}: write <host>:<port>, or [<IPv6>]:<port>")
    return host, int(port)


def _open_store(store: str, rank: int, timeout: float) -> Store:
    kind, _, place = store.partition(":")
    if kind == "unix" and place:
        return UnixStore(place, rank, timeout)
    if kind == "file" and place:
        return FileStore(place)
    if kind == "tcp" and place:
        return TcpStore(*_split_address(place.removeprefix("//")), rank, timeout)
    if kind == "tcp-join" and place:
        return TcpStore(*_split_address(place.removeprefix("//")), max(rank, 1), timeout)  # only 0 would serve it
    if kind == "torchrun" and place:
        return torchrun_store(*_split_address(place.removeprefix("//")), timeout)
    raise UsageError(f'unknown store {store!r}; there are "unix:<id>", "file:<directory>" and "tcp://<host>:<port>"')
