"""A rank of a program that uses libringtree alone: `python capi_rank.py <library> <rank> <ranks> <timeout in s>`.

For: test_hosts_capi.py, which passes the id from rank 0 to the others as a program's own means would: rank 0 writes it
to standard output, and every rank reads it from standard input, both in hexadecimal digits. The last line says how it
went. Imports nothing of ringtree's, so that what is tested is the library.
"""

from __future__ import annotations

import ctypes
import sys

FLOAT32, SUM = 11, 0  # rtFloat32, rtSum
COUNT = 1 << 20


class UniqueId(ctypes.Structure):
    _fields_ = [("internal", ctypes.c_char * 128)]


class Config(ctypes.Structure):
    _fields_ = [
        ("size", ctypes.c_size_t),
        ("timeout_s", ctypes.c_double),
        ("memory_cap_bytes", ctypes.c_size_t),
        ("num_channels", ctypes.c_int),
        ("shared_buffers", ctypes.c_int),
        ("deterministic", ctypes.c_int),
        ("rules_path", ctypes.c_char_p),
    ]


class Library:
    """The functions that are used here, with exceptions instead of results."""

    def __init__(self, path: str) -> None:
        self._functions = ctypes.CDLL(path)
        self._functions.rtGetLastError.restype = ctypes.c_char_p

    def call(self, name: str, *arguments: object) -> None:
        result = getattr(self._functions, name)(*arguments)
        if result != 0:
            text = self._functions.rtGetLastError(None).decode()
            raise OSError(f"{name} returned {result}: {text}")

    def sum_of(self, comm: ctypes.c_void_p, value: int, count: int) -> set[float]:
        """What differs in the all-reduced vectors in which this rank has `value` everywhere."""
        data = (ctypes.c_float * count)(*[value] * count)
        self.call("rtAllReduce", data, data, ctypes.c_size_t(count), FLOAT32, SUM, comm)
        return set(data)


def be_rank(path: str, rank: int, ranks: int, timeout_s: float) -> str:
    """Returns what the sums of 1 + rank of all ranks are, then of those of the same parity: large and small ones."""
    library = Library(path)
    unique_id = UniqueId()
    if rank == 0:
        library.call("rtGetUniqueId", ctypes.byref(unique_id))
        print(bytes(unique_id).hex(), flush=True)
    unique_id = UniqueId.from_buffer_copy(bytes.fromhex(sys.stdin.readline()))
    config = Config(size=ctypes.sizeof(Config), timeout_s=timeout_s)
    comm, part = ctypes.c_void_p(), ctypes.c_void_p()
    library.call("rtCommInitRankConfig", ctypes.byref(comm), ranks, unique_id, rank, ctypes.byref(config))
    sums = library.sum_of(comm, 1 + rank, COUNT)
    library.call("rtCommSplit", comm, rank % 2, 0, ctypes.byref(part))
    of_part = library.sum_of(part, 1 + rank, 10)
    library.sum_of(comm, 0, 1)  # rank 0 serves the store in which the others may still make theirs
    library.call("rtCommDestroy", part)
    library.call("rtCommDestroy", comm)
    return f"sums {sorted(sums)} {sorted(of_part)}"


def main() -> None:
    path, rank, ranks, timeout_s = sys.argv[1:]
    try:
        said = be_rank(path, int(rank), int(ranks), float(timeout_s))
    except OSError as error:
        said = str(error)
    print(said, flush=True)


if __name__ == "__main__":
    main()
