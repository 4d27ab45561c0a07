"""The communicator: a group of ranks of one host that call collectives together over shared memory.

    with ringtree.init() as comm:                  # RANK and WORLD_SIZE, as torchrun sets them
        comm.all_reduce(gradients)                 # in place; NumPy array or CPU tensor

For: making groups and calling collectives. Not for: algorithms (schedule.py), comparing them (ringtree.lab).
"""

from __future__ import annotations

import hashlib
import os
import threading
import warnings
from dataclasses import dataclass
from types import TracebackType
from typing import Any, NamedTuple, TypeVar

from ringtree import _core
from ringtree import profile as profiles
from ringtree.errors import UsageError
from ringtree.schedule import Schedule

DEFAULT_MEMORY_CAP = 256 << 20

ArrayT = TypeVar("ArrayT")


@dataclass(frozen=True)
class Emulation:
    """A cluster emulated on this machine: rank r lives on host r // ranks_per_host. What hosts send to each other
    leaves through one network card a host at `beta` bytes per second and arrives `alpha` seconds later; messages
    inside a host are not slowed."""

    hosts: int
    ranks_per_host: int
    alpha: float
    beta: float


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
    return tuple(_core.protocols())


def support() -> list[tuple[str, str, str, str]]:
    """Every (collective, algorithm, protocol, reason); reason is "" if it runs, else why not."""
    return _core.support()


class Communicator:
    """One rank's end of a group. Used by one thread at a time. Every collective is called by all ranks in the same
    order, with the same size, dtype and op; if not, every rank raises MismatchError that says who said what.

    Arrays are NumPy arrays or CPU tensors (buffer protocol or DLPack), contiguous, of any dtype that PyTorch has on
    CPU; float16, bfloat16 and float8 are added in float32 and rounded at each hop. All ranks get the same bits. After
    PeerError, DeadlineError or MismatchError the communicator is unusable.

    Every collective also takes, alike on all ranks: algorithm, a name (see ringtree.algorithms.names), "auto", or a
    Schedule of your own; protocol, a name (see ringtree.protocols) or "auto"; slice_bytes, of the pieces that travel
    (0: auto); streaming, whether the output is written around the caches (None: auto; each rank's own); timeout in
    seconds (0: the communicator's).
    """

    def __init__(self, core: _core.Communicator) -> None:
        self._core = core

    @property
    def rank(self) -> int:
        return self._core.rank

    @property
    def world_size(self) -> int:
        return self._core.world_size

    @property
    def own_cores(self) -> bool:
        """Whether there is a core for every rank; if not, times show the scheduler as well."""
        return self._core.own_cores

    @property
    def shared_bytes(self) -> int:
        """Bytes of shared memory that this rank's links take; at most memory_cap."""
        return self._core.shared_bytes

    def all_reduce(
        self,
        array: ArrayT,
        op: str = "sum",
        out: ArrayT | None = None,
        algorithm: str | Schedule = "auto",
        timeout: float = 0,
        *,
        protocol: str = "auto",
        slice_bytes: int = 0,
        streaming: bool | None = None,
    ) -> ArrayT:
        """Combines `array` of all ranks element by element; every rank gets the result.

        array: the contribution, any shape, the same number of elements on all ranks. out: where the result goes; the
        default is `array` itself, in place. op: sum, prod, min, max or avg. Returns the array that holds the result.
        """
        result = array if out is None else out
        self._call("all_reduce", array, result, op, 0, algorithm, (protocol, slice_bytes, streaming), timeout)
        return result

    def reduce_scatter(
        self,
        array: Any,
        out: ArrayT,
        op: str = "sum",
        algorithm: str | Schedule = "auto",
        timeout: float = 0,
        *,
        protocol: str = "auto",
        slice_bytes: int = 0,
        streaming: bool | None = None,
    ) -> ArrayT:
        """Combines `array` (world_size equal blocks) of all ranks; rank r gets block r in `out`. In place: out is
        that block of array."""
        self._call("reduce_scatter", array, out, op, 0, algorithm, (protocol, slice_bytes, streaming), timeout)
        return out

    def all_gather(
        self,
        array: Any,
        out: ArrayT,
        algorithm: str | Schedule = "auto",
        timeout: float = 0,
        *,
        protocol: str = "auto",
        slice_bytes: int = 0,
        streaming: bool | None = None,
    ) -> ArrayT:
        """Puts every rank's `array` into `out` (world_size blocks, by rank) on all ranks. In place: array is the own
        block of out."""
        self._call("all_gather", array, out, "sum", 0, algorithm, (protocol, slice_bytes, streaming), timeout)
        return out

    def broadcast(
        self,
        array: ArrayT,
        root: int = 0,
        algorithm: str | Schedule = "auto",
        timeout: float = 0,
        *,
        out: ArrayT | None = None,
        protocol: str = "auto",
        slice_bytes: int = 0,
        streaming: bool | None = None,
    ) -> ArrayT:
        """Copies the root's `array` into everybody's, in place, or into everybody's `out`; the other ranks' `array` is
        not read. Returns the array that holds the result."""
        result = array if out is None else out
        given = array if self.rank == root else None
        self._call("broadcast", given, result, "sum", root, algorithm, (protocol, slice_bytes, streaming), timeout)
        return result

    def reduce(
        self,
        array: ArrayT,
        root: int = 0,
        op: str = "sum",
        out: ArrayT | None = None,
        algorithm: str | Schedule = "auto",
        timeout: float = 0,
        *,
        protocol: str = "auto",
        slice_bytes: int = 0,
        streaming: bool | None = None,
    ) -> ArrayT:
        """Combines `array` of all ranks; the root gets the result in `out` (by default in place), the others' arrays
        stay as they are."""
        result = array if out is None else out
        taken = result if self.rank == root else None
        self._call("reduce", array, taken, op, root, algorithm, (protocol, slice_bytes, streaming), timeout)
        return result

    def barrier(self, timeout: float = 0) -> None:
        """Returns when all ranks have called it."""
        self._call("all_reduce", _NOTHING, _NOTHING, "sum", 0, "auto", _AUTO, timeout)

    def last_call(self) -> dict[str, Any]:
        """What was executed: collective, sequence, algorithm, protocol, why they were chosen (if `auto` did), passes,
        slice_bytes, streaming, lanes, channels."""
        return dict(self._core.last_call())

    def choice(self, collective: str, count: int, dtype: str = "float32") -> Choice:
        """What "auto" would run for `count` elements, and why."""
        return Choice(*self._core.choose(collective, count, dtype))

    def close(self) -> None:
        """Leaves the group in order. Ranks that still wait for this one get a PeerError."""
        self._core.close()

    def __enter__(self) -> Communicator:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def _call(
        self,
        collective: str,
        array: Any,
        out: Any,
        op: str,
        root: int,
        algorithm: str | Schedule,
        how: tuple[str, int, bool | None],
        timeout: float,
    ) -> None:
        chosen = algorithm.verified() if isinstance(algorithm, Schedule) else algorithm
        self._core.call(collective, array, out, op, root, chosen, how, timeout)


_NOTHING = bytearray(0)
_AUTO: tuple[str, int, bool | None] = ("auto", 0, None)


def init(
    rank: int | None = None,
    world_size: int | None = None,
    store: str | _core.Store | None = None,
    *,
    timeout: float = 300.0,
    memory_cap: int = DEFAULT_MEMORY_CAP,
    channels: int = 1,
    emulate: Emulation | None = None,
    name: str = "default",
    profile: str | os.PathLike[str] | None = None,
    shared_buffers: bool = False,
) -> Communicator:
    """Meets the other ranks and returns this rank's communicator.

    rank, world_size: by default from RANK and WORLD_SIZE, as torchrun sets them. store: where ranks find each other:
    "unix:<id>" (an abstract socket that rank 0 serves; leaves no file), "file:<directory>", or a ringtree.ThreadStore
    for ranks that are threads; by default a unix store named after MASTER_ADDR, MASTER_PORT and the run id. timeout:
    seconds for meeting and for each call. memory_cap: most bytes of shared memory for this rank's links. channels:
    copies of each schedule, each on its part of the data. name: tells several communicators of one store apart.
    profile: what `ringtree tune` measured here, by default the file that it wrote, if there is one; "" for none. Rank
    0's profile counts on all ranks. shared_buffers: "auto" chooses for arrays of `ringtree.empty` on every rank; others
    stay right and may be slower. Raises UsageError, DeadlineError (names who did not come), MismatchError.
    """
    rank = _from_environment("RANK", rank)
    world_size = _from_environment("WORLD_SIZE", world_size)
    shape = None if emulate is None else (emulate.hosts, emulate.ranks_per_host, emulate.alpha, emulate.beta)
    if not 0 <= rank < world_size:
        raise UsageError(f"rank {rank} is not within a world of {world_size}")
    if isinstance(store, _core.Store):
        place, prefix = store, name
    else:
        place, prefix = _STORES.meet(store or _store_of_the_launcher(), rank, name, timeout)
    rules = _profile_rules(profile) if rank == 0 and emulate is None else ""
    return Communicator(
        _core.Communicator(place, rank, world_size, timeout, memory_cap, channels, shape, prefix, rules, shared_buffers)
    )


def _profile_rules(profile: str | os.PathLike[str] | None) -> str:
    loaded = profiles.load(None if profile is None else os.fspath(profile))
    if loaded.warning is not None:
        warnings.warn(loaded.warning, stacklevel=3)
    return loaded.rules


class _Stores:
    """The stores of this process. A store stays open once it was used: rank 0 serves it, and a faster rank may come
    back for its next communicator while a slower one still makes the first. The n-th init() with one store and name is
    the same group on all ranks."""

    def __init__(self) -> None:
        self._lock = threading.Lock()  # protects both maps
        self._open: dict[tuple[str, int], _core.Store] = {}
        self._num_meetings: dict[tuple[str, int, str], int] = {}

    def meet(self, store: str, rank: int, name: str, timeout: float) -> tuple[_core.Store, str]:
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


_STORES = _Stores()


def _from_environment(variable: str, given: int | None) -> int:
    if given is not None:
        return given
    text = os.environ.get(variable)
    if text is None:
        raise UsageError(f"give {variable.lower()}=, or start the ranks with torchrun, which sets {variable}")
    try:
        return int(text)
    except ValueError:
        raise UsageError(f"{variable}={text!r} is not a number") from None


def _store_of_the_launcher() -> str:
    if "MASTER_PORT" not in os.environ:
        raise UsageError('give store="unix:<id>", or start the ranks with torchrun, which sets MASTER_PORT')
    keys = ("MASTER_ADDR", "MASTER_PORT", "TORCHELASTIC_RUN_ID", "TORCHELASTIC_RESTART_COUNT")
    job = hashlib.sha256("\0".join(os.environ.get(key, "") for key in keys).encode()).hexdigest()[:32]
    return f"unix:{job}"


def _open_store(store: str, rank: int, timeout: float) -> _core.Store:
    kind, _, place = store.partition(":")
    if kind == "unix" and place:
        return _core.UnixStore(place, rank, timeout)
    if kind == "file" and place:
        return _core.FileStore(place)
    raise UsageError(f'unknown store {store!r}; there are "unix:<id>" and "file:<directory>"')
