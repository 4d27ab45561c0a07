"""Where ranks find each other: stores by name, and the one that follows from what a launcher says.

For: ringtree.init. Not for: how a store works (core/bootstrap), or launchers' variables (ringtree.launchers).
"""

from __future__ import annotations

import os
import threading

from ringtree._core import FileStore, Store, TcpStore, UnixStore, missing_ranks, refuse_to_meet
from ringtree.comm.torchrun import torchrun_store
from ringtree.errors import RingtreeError, UsageError
from ringtree.launchers import Identity, Surroundings, address_of, describe, identify, job_key, port_of

_NO_LAUNCHER = (
    "no launcher has started this process as a rank{}: start the ranks with torchrun, srun, mpirun or another that "
    "`ringtree launchers` knows, or give rank=, world_size= and store="
)


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

    def refuse(self, store: str, rank: int, world_size: int, name: str, reason: str, timeout: float) -> bool:
        """Meets the others only to make their init() raise MismatchError with that reason; returns whether any is there
        to hear it. Raises RingtreeError if the store can't be reached."""
        place, prefix = self.meet(store, rank, name, timeout)
        return refuse_to_meet(place, prefix, rank, world_size, reason)

    def missing(self, store: str, rank: int, world_size: int, name: str, most: int) -> list[int]:
        """The first `most` ranks that have not come to the meeting that this rank is in; none where it has not found
        its store."""
        with self._lock:
            place, count = self._open.get((store, rank)), self._num_meetings.get((store, rank, name), 0)
        return [] if place is None or not count else missing_ranks(place, f"{name}/{count - 1}", world_size, most)

    def has_rank_0(self, store: str, rank: int, name: str) -> bool:
        """Whether rank 0 is there, of the meeting in which this rank is or was: its store answers, and holds rank 0's
        word if it is a launcher's."""
        with self._lock:
            place, count = self._open.get((store, rank)), self._num_meetings.get((store, rank, name), 0)
        if place is None or not count:
            return False
        try:
            missing = missing_ranks(place, f"{name}/{count - 1}", 1, 1)
        except RingtreeError:  # the store has ended
            return False
        return not missing or not store.startswith("torchrun:")


STORES = Stores()


def identity_of(rank: int | None, world_size: int | None) -> Identity:
    """Returns who this process is; what is given counts above what the launcher says. Raises UsageError."""
    found = identify()
    if found is None and rank is not None and world_size is not None:  # MASTER_PORT and its like may be set
        found = identify(Surroundings({**os.environ, "RANK": str(rank), "WORLD_SIZE": str(world_size)}))
    if found is None:
        raise UsageError(no_launcher())
    return found


def no_launcher() -> str:
    """Returns what to say to who needs a launcher, with the variables that are there but do not suffice."""
    near = [f"{source} is there, but {value}" for _, value, source in describe(os.environ).rows]
    return _NO_LAUNCHER.format(f" ({'; '.join(near)})" if near else "")


def store_of(identity: Identity) -> str:
    """Returns the name of the store that all ranks of a launcher's job derive alike. Raises UsageError if the launcher
    does not say enough.

    On one host a unix store; on several torchrun's own, or where there is none, one that rank 0 serves.
    """
    if not identity.several_hosts:
        return f"unix:{job_key(identity)}"
    host, port = address_of(identity)[0], port_of(identity)[0]
    where = f"[{host}]:{port}" if ":" in host else f"{host}:{port}"
    return f"torchrun://{where}" if identity.serves_store else f"tcp://{where}"


def to_join(store: str) -> str:
    """Returns the launcher's store as processes reach it that ranks of the launcher start: nobody of them serves it."""
    return store.replace("tcp://", "tcp-join://")


def host_of(store: str) -> str | None:
    """Returns the host at which a store is reached over the network, None if it is not."""
    kind, _, place = store.partition("://")
    return _split_address(place)[0] if kind in ("tcp", "tcp-join", "torchrun") else None


def refuse_launched(command: str) -> None:
    """Raises UsageError where a launcher has started several processes: `command` would run once in each."""
    found = identify()
    if found is not None and found.world_size > 1:
        raise UsageError(
            f"{command} starts its own ranks on one host, but {found.launcher} started {found.world_size} processes: "
            "run it without the launcher (only compare, train, bench and tune run under one)"
        )


def _split_address(place: str) -> tuple[str, int]:
    host, colon, port = place.rpartition(":")
    host = host.removeprefix("[").removesuffix("]")
    if not (host and colon and port.isdecimal() and len(port) < 10 and int(port) < 1 << 16):
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
