"""NCCL's own interface: one communicator's collectives, ready to be put on a stream.

For: calls whose arguments were converted before, so that what is timed is NCCL and one call of ctypes. Not for: what
NCCL chooses (ringtree.nccl), or waiting (driver.py).

Structures and signatures are those of nccl.h 2.21.5, 2.27.3 and 2.30.7; what a release lacks is told by `has`.
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable
from ctypes import POINTER, byref, c_char, c_char_p, c_float, c_int, c_size_t, c_uint, c_void_p
from functools import partial
from typing import Any

from ringtree.errors import RingtreeError
from ringtree.gpu.libraries import NCCL, load
from ringtree.nccl.releases import version_of_code

UNIQUE_ID_BYTES = 128
SYMMETRIC = 1  # NCCL_WIN_COLL_SYMMETRIC
_IN_HOST_MEMORY = 1  # ncclScalarHostImmediate
_IN_PROGRESS = 7
_SIM_MAGIC = 0x74685283
# By their numbers (ncclDataType_t, ncclRedOp_t), in ringtree's names.
DTYPES = ("int8", "uint8", "int32", "uint32", "int64", "uint64", "float16", "float32", "float64", "bfloat16",
          "float8_e4m3fn", "float8_e5m2")  # fmt: skip
OPS = ("sum", "prod", "max", "min", "avg")


class _UniqueId(ctypes.Structure):
    _fields_ = (("internal", c_char * UNIQUE_ID_BYTES),)


class _SimInfo(ctypes.Structure):
    _fields_ = (("size", c_size_t), ("magic", c_uint), ("version", c_uint), ("estimated_us", c_float))


_MOVES = (c_void_p, c_void_p, c_size_t, c_int)  # send, receive, count, dtype
_WHERE = (c_void_p, c_void_p)  # communicator, stream
_PROTOTYPES: dict[str, tuple[Any, ...]] = {
    "ncclGetVersion": (POINTER(c_int),),
    "ncclGetErrorString": (c_int,),
    "ncclGetLastError": (c_void_p,),
    "ncclGetUniqueId": (POINTER(_UniqueId),),
    "ncclCommInitRank": (POINTER(c_void_p), c_int, _UniqueId, c_int),
    "ncclCommDestroy": (c_void_p,),
    "ncclCommAbort": (c_void_p,),
    "ncclCommGetAsyncError": (c_void_p, POINTER(c_int)),
    "ncclMemAlloc": (POINTER(c_void_p), c_size_t),
    "ncclMemFree": (c_void_p,),
    "ncclCommRegister": (c_void_p, c_void_p, c_size_t, POINTER(c_void_p)),
    "ncclCommDeregister": (c_void_p, c_void_p),
    "ncclCommWindowRegister": (c_void_p, c_void_p, c_size_t, POINTER(c_void_p), c_int),
    "ncclCommWindowDeregister": (c_void_p, c_void_p),
    "ncclRedOpCreatePreMulSum": (POINTER(c_int), c_void_p, c_int, c_int, c_void_p),
    "ncclGroupStart": (),
    "ncclGroupEnd": (),
    "ncclGroupSimulateEnd": (POINTER(_SimInfo),),
    "ncclAllReduce": (*_MOVES, c_int, *_WHERE),
    "ncclReduceScatter": (*_MOVES, c_int, *_WHERE),
    "ncclReduce": (*_MOVES, c_int, c_int, *_WHERE),
    "ncclBroadcast": (*_MOVES, c_int, *_WHERE),
    "ncclAllGather": (*_MOVES, *_WHERE),
    "ncclAlltoAll": (*_MOVES, *_WHERE),
    "ncclGather": (*_MOVES, c_int, *_WHERE),
    "ncclScatter": (*_MOVES, c_int, *_WHERE),
    "ncclSend": (c_void_p, c_size_t, c_int, c_int, *_WHERE),
    "ncclRecv": (c_void_p, c_size_t, c_int, c_int, *_WHERE),
}


class NcclError(RingtreeError):
    """A call of NCCL that failed; the message says which, what it returned and what NCCL says of it."""


def nccl_version() -> str:
    """Returns "2.27.3". Raises NotHere or NcclError."""
    code = c_int()
    _call("ncclGetVersion", byref(code))
    return version_of_code(code.value) or str(code.value)


def has(function: str) -> bool:
    """Returns whether the library has a function."""
    return hasattr(_library(), function)


def unique_id() -> bytes:
    """Returns what the ranks of a new communicator meet by; one of them makes it."""
    made = _UniqueId()
    _call("ncclGetUniqueId", byref(made))
    return bytes(made)


def allocate(num_bytes: int) -> int:
    """Returns the address of memory of the current device that is fit for registration (ncclMemAlloc)."""
    address = c_void_p()
    _call("ncclMemAlloc", byref(address), max(1, num_bytes))
    return address.value or 0


def free(address: int) -> None:
    """Gives back memory of `allocate`."""
    _call("ncclMemFree", address)


class Communicator:
    """One rank's end. Every rank makes it with the same `meeting` (unique_id()); calls go to `stream`."""

    def __init__(self, meeting: bytes, num_ranks: int, rank: int, stream: int) -> None:
        self._handle, self.num_ranks, self.rank = c_void_p(), num_ranks, rank
        self._where = self._handle, c_void_p(stream)
        _call("ncclCommInitRank", byref(self._handle), num_ranks, _UniqueId.from_buffer_copy(meeting), rank)

    def collective(
        self, name: str, send: int, receive: int, count: int, dtype: str, op: str, factor: float, root: int
    ) -> Callable[[], None]:
        """Returns the collective as a function that puts it on the stream. `count`: elements of a block, or of the
        vector; `factor`: of premul_sum."""
        moves = c_void_p(send), c_void_p(receive), c_size_t(count), c_int(DTYPES.index(dtype))
        if name in _PAIRWISE:
            own_call, *rooted = _PAIRWISE[name]
            if own_call is None or not has(own_call):
                return self._pairs(name, send, receive, count, dtype, root)
            return self._bound(own_call, *moves, *(c_int(root) for _ in rooted))
        function, *more = _CALLS[name]
        own = {"op": c_int(self._op(op, dtype, factor)) if "op" in more else None, "root": c_int(root)}
        return self._bound(function, *moves, *(own[each] for each in more))

    def estimate(self, call: Callable[[], None]) -> float | None:
        """Returns the seconds that NCCL's model gives to a call, which is not made; None: this release or this call has
        none (ncclGroupSimulateEnd, from 2.22 on)."""
        if not has("ncclGroupSimulateEnd"):
            return None
        code = c_int()
        _call("ncclGetVersion", byref(code))
        info = _SimInfo(ctypes.sizeof(_SimInfo), _SIM_MAGIC, code.value, -1.0)
        _call("ncclGroupStart")
        try:
            call()
        finally:
            failed = _library().ncclGroupSimulateEnd(byref(info))
        return None if failed or info.estimated_us < 0 else info.estimated_us / 1e6

    def register(self, address: int, num_bytes: int, symmetric: bool) -> Callable[[], None]:
        """Registers a buffer, `symmetric` as a window of all ranks, which every rank makes alike; returns what takes it
        back."""
        handle = c_void_p()
        if symmetric:
            _call("ncclCommWindowRegister", self._handle, address, num_bytes, byref(handle), SYMMETRIC)
        else:
            _call("ncclCommRegister", self._handle, address, num_bytes, byref(handle))
        return partial(self._deregister, "ncclCommWindowDeregister" if symmetric else "ncclCommDeregister", handle)

    def look(self) -> None:
        """Raises NcclError, and gives up what is on its way, if NCCL has noticed an error by itself."""
        found = c_int()
        _check("ncclCommGetAsyncError", _library().ncclCommGetAsyncError(self._handle, byref(found)))
        if found.value not in (0, _IN_PROGRESS):
            error = _error("an asynchronous operation", found.value)
            self.abort()
            raise error

    def abort(self) -> None:
        """Ends the communicator and whatever hangs in it."""
        if self._handle:
            _library().ncclCommAbort(self._handle)
            self._handle.value = None

    def close(self) -> None:
        """Ends the communicator; every rank calls it."""
        if self._handle:
            _call("ncclCommDestroy", self._handle)
            self._handle.value = None

    def _op(self, op: str, dtype: str, factor: float) -> int:
        if op != "premul_sum":
            return OPS.index(op)
        made, scalar = c_int(), _scalar(dtype, factor)
        _call("ncclRedOpCreatePreMulSum", byref(made), scalar, DTYPES.index(dtype), _IN_HOST_MEMORY, self._handle)
        return made.value

    def _pairs(self, name: str, send: int, receive: int, count: int, dtype: str, root: int) -> Callable[[], None]:
        """What has no call of its own: sends and receives in one group."""
        kind, ranks, me = DTYPES.index(dtype), range(self.num_ranks), self.rank
        block = count * item_bytes(dtype)
        sends: list[tuple[int, int]] = []  # peer, address
        receives: list[tuple[int, int]] = []
        if name == "send_recv":
            sends, receives = [((me + 1) % self.num_ranks, send)], [((me - 1) % self.num_ranks, receive)]
        elif name == "all_to_all":
            sends = [(peer, send + peer * block) for peer in ranks]
            receives = [(peer, receive + peer * block) for peer in ranks]
        elif name == "gather":
            sends = [(root, send)]
            receives = [(peer, receive + peer * block) for peer in ranks] if me == root else []
        else:
            sends = [(peer, send + peer * block) for peer in ranks] if me == root else []
            receives = [(root, receive)]
        calls = [
            self._bound(function, c_void_p(address), c_size_t(count), c_int(kind), c_int(peer))
            for function, each in (("ncclSend", sends), ("ncclRecv", receives))
            for peer, address in each
        ]
        library = _library()
        start, end = library.ncclGroupStart, library.ncclGroupEnd

        def grouped() -> None:
            _check("ncclGroupStart", start())
            try:
                for call in calls:
                    call()
            finally:
                code = end()
            _check("ncclGroupEnd", code)

        return grouped

    def _bound(self, function: str, *arguments: Any) -> Callable[[], None]:
        call, where = getattr(_library(), function), self._where

        def enqueue() -> None:
            code = call(*arguments, *where)
            if code:
                raise _error(function, code)

        return enqueue

    def _deregister(self, function: str, handle: c_void_p) -> None:
        if self._handle:  # else it went with the communicator
            _call(function, self._handle, handle)


_CALLS = {
    "all_reduce": ("ncclAllReduce", "op"),
    "reduce_scatter": ("ncclReduceScatter", "op"),
    "reduce": ("ncclReduce", "op", "root"),
    "broadcast": ("ncclBroadcast", "root"),
    "all_gather": ("ncclAllGather",),
}
# Calls of their own since 2.28; before, and for send_recv, a group of sends and receives.
_PAIRWISE: dict[str, tuple[str | None, ...]] = {
    "all_to_all": ("ncclAlltoAll",),
    "gather": ("ncclGather", "root"),
    "scatter": ("ncclScatter", "root"),
    "send_recv": (None,),
}
COLLECTIVES = (*_CALLS, *_PAIRWISE)


def called(collective: str) -> str:
    """Returns the name of what is called for a collective."""
    function = _CALLS[collective][0] if collective in _CALLS else _PAIRWISE[collective][0]
    return function if function is not None and has(function) else "ncclSend and ncclRecv in a group"


def item_bytes(dtype: str) -> int:
    """Returns the bytes of an element."""
    return (1, 1, 4, 4, 8, 8, 2, 4, 8, 2, 1, 1)[DTYPES.index(dtype)]


def _scalar(dtype: str, factor: float) -> Any:
    """A whole number in the memory of the host, as an element of `dtype`."""
    kinds: dict[str, Any] = {
        "int8": ctypes.c_int8, "uint8": ctypes.c_uint8, "int32": ctypes.c_int32, "uint32": ctypes.c_uint32,
        "int64": ctypes.c_int64, "uint64": ctypes.c_uint64, "float32": c_float, "float64": ctypes.c_double,
    }  # fmt: skip
    if dtype not in kinds:
        raise NcclError(f"premul_sum is not offered here for {dtype}; choose from: {', '.join(kinds)}")
    return byref(kinds[dtype](factor if dtype.startswith("float") else int(factor)))


def _library() -> ctypes.CDLL:
    return load(NCCL, _PROTOTYPES)


def _call(function: str, *arguments: Any) -> None:
    if not has(function):
        raise NcclError(f"NCCL {nccl_version()} has no {function}: use a newer one")
    _check(function, getattr(_library(), function)(*arguments))


def _check(function: str, code: int) -> None:
    if code:
        raise _error(function, code)


def _error(function: str, code: int) -> NcclError:
    library = _library()
    texts = []
    for name, argument in (("ncclGetErrorString", code), ("ncclGetLastError", None)):  # the second: from 2.13 on
        if hasattr(library, name):
            getattr(library, name).restype = c_char_p
            texts.append(" ".join((getattr(library, name)(argument) or b"").decode(errors="replace").split()))
    return NcclError(f"{function} failed ({code}): {': '.join(filter(None, texts))}")
