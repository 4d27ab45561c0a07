"""libringtree by ctypes: the functions of ringtree.h that a backend needs, its results as PyTorch's exceptions, and the
numbers of PyTorch's element types and ops.

For: communicator.py. Not for: ringtree's own Python API, which is ringtree._core. ctypes gives Python's lock up while a
function runs, and takes it for callbacks.
"""

from __future__ import annotations

import ctypes
from collections.abc import Iterator
from contextlib import contextmanager
from ctypes import CFUNCTYPE, POINTER, byref, c_char, c_char_p, c_double, c_int, c_size_t, c_void_p
from functools import cache
from typing import Any

import torch
import torch.distributed as dist

from ringtree import _core
from ringtree.torch.building import installed_library

SUCCESS, INVALID_ARGUMENT, INVALID_USAGE, REMOTE_ERROR, TIMEOUT = 0, 4, 5, 6, 8  # of rtResult_t

MessageDone = CFUNCTYPE(None, c_void_p, c_int, c_int, c_char_p)


class UniqueId(ctypes.Structure):
    """rtUniqueId."""

    _fields_ = (("internal", c_char * 128),)


class Config(ctypes.Structure):
    """rtConfig_t."""

    _fields_ = (
        ("size", c_size_t),
        ("timeout_s", c_double),
        ("memory_cap_bytes", c_size_t),
        ("num_channels", c_int),
        ("shared_buffers", c_int),
        ("deterministic", c_int),
        ("rules_path", c_char_p),
        ("interrupted", c_void_p),
    )


_IN = _OUT = _COMM = c_void_p
_COUNTS = POINTER(c_size_t)
_DATATYPE = _OP = _ROOT = _PEER = _TAG = c_int

# What each function takes; all but the two of _TEXTS return an rtResult_t. A test holds this against the header.
FUNCTIONS: dict[str, tuple[Any, ...]] = {
    "rtGetUniqueId": (POINTER(UniqueId),),
    "rtCommInitRankConfig": (POINTER(_COMM), c_int, UniqueId, c_int, POINTER(Config)),
    "rtCommFinalize": (_COMM,),
    "rtCommDestroy": (_COMM,),
    "rtCommAbort": (_COMM, c_char_p),
    "rtCommSetTimeout": (_COMM, c_double),
    "rtCommGetAsyncError": (_COMM, POINTER(c_int)),
    "rtRedOpCreatePreMulSum": (POINTER(_OP), c_double, _COMM),
    "rtRedOpDestroy": (_OP, _COMM),
    "rtAllReduce": (_IN, _OUT, c_size_t, _DATATYPE, _OP, _COMM),
    "rtReduce": (_IN, _OUT, c_size_t, _DATATYPE, _OP, _ROOT, _COMM),
    "rtBroadcast": (_IN, _OUT, c_size_t, _DATATYPE, _ROOT, _COMM),
    "rtReduceScatter": (_IN, _OUT, c_size_t, _DATATYPE, _OP, _COMM),
    "rtReduceScatterV": (_IN, _OUT, _COUNTS, _DATATYPE, _OP, _COMM),
    "rtAllGather": (_IN, _OUT, c_size_t, _DATATYPE, _COMM),
    "rtAllGatherV": (_IN, _OUT, _COUNTS, _DATATYPE, _COMM),
    "rtGather": (_IN, _OUT, c_size_t, _DATATYPE, _ROOT, _COMM),
    "rtScatter": (_IN, _OUT, c_size_t, _DATATYPE, _ROOT, _COMM),
    "rtAlltoAllV": (_IN, _COUNTS, _OUT, _COUNTS, _DATATYPE, _COMM),
    "rtBarrier": (_COMM,),
    "rtPostSend": (_IN, c_size_t, _PEER, _TAG, c_double, MessageDone, c_void_p, _COMM),
    "rtPostRecv": (_OUT, c_size_t, _PEER, _TAG, c_double, MessageDone, c_void_p, _COMM),
    "rtGetLastError": (_COMM,),
    "rtGetErrorString": (c_int,),
}
_TEXTS = ("rtGetLastError", "rtGetErrorString")


@cache
def library() -> ctypes.CDLL:
    """Returns the library, its functions declared. BuildError: the installation is not complete."""
    found = ctypes.CDLL(str(installed_library()))
    for name, arguments in FUNCTIONS.items():
        function = getattr(found, name)
        function.argtypes = arguments
        function.restype = c_char_p if name in _TEXTS else c_int
    return found


def call(name: str, *arguments: object, comm: c_void_p | None = None) -> None:
    """Calls the function of that name. Raises what error_of() makes of it if it fails; `comm` is asked for the text if
    this thread has none."""
    result = getattr(library(), name)(*arguments)
    if result == SUCCESS:
        return
    text = library().rtGetLastError(None) or (library().rtGetLastError(comm) if comm else b"")
    raise error_of(result, (text or library().rtGetErrorString(result)).decode())


def error_of(result: int, text: str) -> Exception:
    """DistBackendError for what ends a group (a rank that died, a deadline, a mismatch, the machine), ValueError for
    what was asked wrongly."""
    if result in (INVALID_ARGUMENT, INVALID_USAGE):
        return ValueError(f"ringtree: {text}")
    if result == TIMEOUT:  # in the words by which PyTorch's users search their logs
        return dist.DistBackendError(f"ringtree: Timed out waiting: {text}")
    return dist.DistBackendError(f"ringtree: {text}")


@cache
def _datatypes() -> dict[torch.dtype, int]:
    names = [name for name, _ in _core.dtypes()]  # in the order of their numbers
    return {getattr(torch, name): number for number, name in enumerate(names) if hasattr(torch, name)}


def datatype_of(tensor: torch.Tensor) -> int:
    """Its rtDataType_t. TypeError: no collective can move it (quantized elements, elements of less than a byte)."""
    number = _datatypes().get(tensor.dtype)
    if number is None:
        raise TypeError(f"ringtree moves no tensors of {tensor.dtype}")
    return number


def kind_of(op: object) -> tuple[str, float | torch.Tensor | None]:
    """The name of a ReduceOp and, of PREMUL_SUM, its factor: what PyTorch's pickles of it hold."""
    kind, factor = op.__getstate__()  # type: ignore[attr-defined] # not in PyTorch's own declarations
    return kind.name, factor


@contextmanager
def op_of(op: object, comm: c_void_p) -> Iterator[int]:
    """A ReduceOp's rtRedOp_t, which lives as long as a call: PREMUL_SUM makes one in the communicator, others have a
    name. ValueError: ringtree has none such. For the thread that is in the call."""
    kind, factor = kind_of(op)
    if kind != "PREMUL_SUM":
        known = _core.reduce_ops()  # in the order of their numbers
        name = {"PRODUCT": "prod"}.get(kind, kind.lower())
        if name not in known:
            raise ValueError(f"ringtree does not know the ReduceOp {kind}")
        yield known.index(name)
        return
    if factor is None:
        raise ValueError("PREMUL_SUM needs a factor: torch.distributed._make_nccl_premul_sum(factor)")
    made = c_int()
    call("rtRedOpCreatePreMulSum", byref(made), float(factor), comm, comm=comm)
    try:
        yield made.value
    finally:
        library().rtRedOpDestroy(made, comm)
