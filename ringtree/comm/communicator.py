"""The communicator: a group of ranks that call collectives together: over shared memory inside a host, over TCP
between hosts.

    with ringtree.init() as comm:                  # rank and world size from torchrun, srun, mpirun, …
        comm.all_reduce(gradients)                 # in place; NumPy array or CPU tensor

For: making groups and calling collectives. Not for: algorithms (ringtree.schedules), comparing them (ringtree.measure).
"""

from __future__ import annotations

import os
import warnings
from contextlib import AbstractContextManager
from typing import Any, Literal, NamedTuple

from ringtree._core import Communicator as CoreCommunicator
from ringtree._core import Store
from ringtree._core import protocols as core_protocols
from ringtree._core import support as core_support
from ringtree.comm import profile as profiles
from ringtree.comm.collectives import Collectives
from ringtree.comm.meeting import STORES, host_of, identity_of, store_of
from ringtree.comm.rank_trace import DEFAULT_EVENTS, RankTrace, from_core
from ringtree.comm.work import Starter, Work
from ringtree.errors import UsageError
from ringtree.schedules.emulation import Emulation

DEFAULT_MEMORY_CAP = 256 << 20


class Choice(NamedTuple):
    """What "auto" runs for a call, and why. slice_bytes 0: as the plan cuts. streaming: the output is written around
    the caches. channels: copies of the schedule, each on its part of the data."""

    algorithm: str
    protocol: str
    slice_bytes: int
    streaming: bool
    channels: int
    reason: str


def protocols() -> tuple[str, ...]:
    """Names of the protocols: how the receiver of a message knows that its bytes are there (docs/engine.md)."""
    return tuple(core_protocols())


def support() -> list[tuple[str, str, str, str]]:
    """Every (collective, algorithm, protocol, reason); reason is "" if it runs, else why not."""
    return core_support()


class Communicator(Collectives, AbstractContextManager["Communicator"]):
    """One rank's end of a group. Used by one thread at a time. Every collective (collectives.py) is called by all ranks
    in the same order, with the same size, dtype and op; if not, every rank raises MismatchError that says who said
    what.

    Arrays are NumPy arrays or CPU tensors (buffer protocol or DLPack), contiguous, of any dtype that PyTorch has on
    CPU; float16, bfloat16 and float8 are added in float32 and rounded at each hop. All ranks get the same bits. After
    PeerError, DeadlineError or MismatchError the communicator is unusable; shrink() makes one of those that are left.
    """

    def __init__(self, core: CoreCommunicator) -> None:
        self._core = core
        # What Collectives calls. Bound once: a method of this class would take another frame and tuple in each call.
        self._call = core.call
        self.rank, self.world_size = core.rank, core.world_size
        self._started: list[Work] = []  # those that may still be under way: they keep their arrays

    @property
    def core(self) -> CoreCommunicator:
        """The C++ object, for ringtree's own modules."""
        return self._core

    @property
    def own_cores(self) -> bool:
        """Whether there is a core for every rank; if not, times show the scheduler as well."""
        return self._core.own_cores

    @property
    def shared_bytes(self) -> int:
        """Bytes of shared memory that this rank's links take; at most memory_cap."""
        return self._core.shared_bytes

    @property
    def hosts(self) -> list[int]:
        """By rank, the number of its host; hosts are counted in the order of their first ranks. Ranks share a host if
        they run on one kernel and in one network namespace, or by RINGTREE_HOSTID where that is set."""
        return self._core.hosts

    @property
    def gone(self) -> dict[int, Literal["died", "left"]]:
        """Ranks that are no longer there, as far as this one has heard: they died, or left in order (close())."""
        return {rank: "died" if died else "left" for rank, died in self._core.gone.items()}

    @property
    def network_bytes(self) -> tuple[int, int]:
        """Bytes that this rank has sent to and received from ranks of other hosts in calls, headers included."""
        return self._core.network_bytes

    def send(self, array: Any, peer: int, timeout: float = 0) -> Any:
        """Sends `array` to rank `peer`, which must receive as many elements of the same dtype; returns it. Returns when
        the array may be changed, which may be before the peer has it. Messages of one rank to another arrive in the
        order in which they are sent; ranks that send to each other at the same time use a group (ringtree.group)."""
        self._core.transfer([(True, peer, array)], timeout)
        return array

    def recv(self, array: Any, peer: int, timeout: float = 0) -> Any:
        """Receives into `array` what rank `peer` sends; returns it."""
        self._core.transfer([(False, peer, array)], timeout)
        return array

    def start(self, name: str, *arguments: Any, **options: Any) -> Work:
        """Starts the collective of that name (or "send", "recv") with these arguments in the background.

        Arrays must not be touched until Work.wait() has returned. Calls run in the order in which they were started;
        one that is not started, as comm.all_reduce(x), first waits for all that were. Wrong arrays raise UsageError at
        once.
        """
        starter = Starter(self._core)
        method = getattr(starter, name, None) if not name.startswith("_") else None
        if not callable(method):
            raise UsageError(f"there is no collective {name!r} that could be started")
        result = method(*arguments, **options)
        if starter.started is None:
            raise UsageError(f"{name} cannot be started")
        work = Work(starter.started, result, starter.held)
        self._started = [earlier for earlier in self._started if not earlier.test()] + [work]
        return work

    def split(self, color: int, key: int = 0) -> Communicator | None:
        """Makes communicators of parts of this one: ranks that give the same `color` (0 or above) form one, in the
        order of `key`, then of rank. Returns None for a negative color. Called by all ranks."""
        part = self._core.split(color, key)
        return None if part is None else Communicator(part)

    def shrink(self) -> Communicator:
        """After ranks have died: returns a communicator of those that are left, in the order of ranks. Called by all of
        them. Raises DeadlineError if not all come. Close this one afterwards."""
        return Communicator(self._core.shrink())

    def abort(self, reason: str = "no reason given") -> None:
        """Ends the communicator on all ranks: what is under way, on whatever thread, and what is called later raises
        RingtreeError that says who aborted and why."""
        self._core.abort(reason)

    def last_call(self) -> dict[str, Any]:
        """What was executed: collective, sequence, algorithm, protocol, why they were chosen (if `auto` did), passes,
        slice_bytes, streaming, lanes, channels."""
        return dict(self._core.last_call())

    def start_trace(self, capacity: int = DEFAULT_EVENTS) -> None:
        """From now on collectives (not send and recv) write down what this rank does in them: slice steps, what lanes
        wait for, sleeps. capacity: events that there is memory for, 64 bytes each; when it is full the oldest go. What
        was traced before and not taken is gone."""
        self._core.start_trace(capacity)

    def take_trace(self) -> RankTrace:
        """Ends that and returns what was written, also after a failure: what this rank then waited for is in it."""
        return from_core(self._core.take_trace())

    def choice(self, collective: str, count: int, dtype: str = "float32") -> Choice:
        """What "auto" would run for `count` elements, and why."""
        return Choice(*self._core.choose(collective, count, dtype))

    def close(self) -> None:
        """Leaves the group in order. Ranks that still wait for this one get a PeerError."""
        self._core.close()

    def __exit__(self, *_: object) -> None:
        self.close()


def init(
    rank: int | None = None,
    world_size: int | None = None,
    store: str | Store | None = None,
    *,
    timeout: float = 300.0,
    memory_cap: int = DEFAULT_MEMORY_CAP,
    channels: int = 1,
    emulate: Emulation | None = None,
    name: str = "default",
    profile: str | os.PathLike[str] | None = None,
    shared_buffers: bool = False,
    deterministic: bool = False,
) -> Communicator:
    """Meets the other ranks and returns this rank's communicator.

    rank, world_size: by default what the launcher says (torchrun, srun, mpirun, …: ringtree.launchers). store: where
    ranks find each other: "unix:<id>" (an abstract socket that rank 0 serves; leaves no file), "file:<directory>",
    "tcp://<host>:<port>" (an address of rank 0's, for several hosts), or a ringtree.ThreadStore for ranks that are
    threads; by default what the launcher says. Several hosts need a secret and know their network by RINGTREE_IFNAME,
    MASTER_ADDR or the store's host; docs/hosts.md. timeout: seconds for meeting and for each call. memory_cap: most
    bytes of shared memory for this rank's links. channels: copies of each schedule, each on its part of the data. name:
    tells several communicators of one store apart. profile: what `ringtree tune` measured here, by default the file
    that it wrote, if there is one; "" for none. Rank 0's profile counts on all ranks. shared_buffers: "auto"
    chooses for arrays of `ringtree.empty` on every rank; others stay right and may be slower. deterministic: the
    same inputs give the same bits whichever algorithm, protocol, slices and channels run; for floats only
    algorithms that fold all ranks in one go in rank order then run. Raises UsageError, DeadlineError (names who did
    not come), MismatchError.
    """
    rank, world_size, store = _who_and_where(rank, world_size, store)
    shape = None if emulate is None else (emulate.hosts, emulate.ranks_per_host, emulate.alpha, emulate.beta)
    towards: str | None = None
    if isinstance(store, Store):
        place, prefix = store, name
    else:
        place, prefix = STORES.meet(store, rank, name, timeout)
        towards = host_of(store)
    rules = _profile_rules(profile) if rank == 0 and emulate is None else ""
    made = Communicator(
        CoreCommunicator(
            place,
            rank,
            world_size,
            timeout,
            memory_cap,
            channels,
            shape,
            prefix,
            rules,
            shared_buffers,
            deterministic,
            towards,
        )
    )
    # Read and kept by now, and gone from what this process's environment shows; os.environ is a copy of its own.
    os.environ.pop("RINGTREE_SECRET", None)
    return made


def _who_and_where(rank: int | None, world_size: int | None, store: str | Store | None) -> tuple[int, int, str | Store]:
    """What is given, and the launcher's word for what is not."""
    if rank is not None and world_size is not None:
        _check_rank(rank, world_size)
        if store is not None:
            return rank, world_size, store
    launched = identity_of(rank, world_size)
    rank = launched.rank if rank is None else rank
    world_size = launched.world_size if world_size is None else world_size
    store = store_of(launched) if store is None else store
    _check_rank(rank, world_size)
    return rank, world_size, store


def _check_rank(rank: int, world_size: int) -> None:
    if not 0 <= rank < world_size:
        raise UsageError(f"rank {rank} is not within a world of {world_size}")


def _profile_rules(profile: str | os.PathLike[str] | None) -> str:
    loaded = profiles.load(None if profile is None else os.fspath(profile))
    if loaded.warning is not None:
        warnings.warn(loaded.warning, stacklevel=3)
    return loaded.rules
