"""The collectives as methods: what arrays each takes and what it gives.

For: one signature and one description of each collective, whoever makes the call: a communicator at once, in the
background (work.py) or as part of a group (group.py). Not for: how a call is made.

Every collective also takes, alike on all ranks: algorithm, a name (see ringtree.algorithms.names), "auto", or a
Schedule of your own; protocol, a name (see ringtree.protocols) or "auto"; slice_bytes, of the pieces that travel (0:
auto); streaming, whether the output is written around the caches (None: auto; each rank's own); timeout in seconds (0:
the communicator's). What comes after timeout is meant to be given by name. No star demands it: Python looks up each
default of a parameter behind one in a dictionary, in every call, which took a tenth of a small call.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from operator import index
from typing import Any, TypeVar

import numpy as np

from ringtree.errors import UsageError
from ringtree.schedules.schedule import Schedule

ArrayT = TypeVar("ArrayT")

_NOTHING = np.zeros(0, np.uint8)


class Collectives:
    """What all ranks call together, in the same order, with the same size, dtype and op. Arrays are NumPy arrays or CPU
    tensors, contiguous. op: sum, prod, min, max, avg, band, bor, bxor, land, lor, lxor, or premul_sum with a factor of
    this rank's by which its array is multiplied first."""

    rank: int
    world_size: int

    # Makes a call, as the core's Communicator.call takes it: collective, array, out, op, root, algorithm (a name, or a
    # Schedule, which is verified then), and how: (protocol, slice_bytes, streaming, timeout, counts, factor).
    _call: Callable[..., None]

    def all_reduce(
        self,
        array: ArrayT,
        op: str = "sum",
        out: ArrayT | None = None,
        algorithm: str | Schedule = "auto",
        timeout: float = 0,
        factor: float = 1.0,
        protocol: str = "auto",
        slice_bytes: int = 0,
        streaming: bool | None = None,
    ) -> ArrayT:
        """Combines `array` of all ranks element by element; every rank gets the result.

        array: the contribution, any shape, the same number of elements on all ranks. out: where the result goes; the
        default is `array` itself, in place. Returns the array that holds the result.
        """
        result = array if out is None else out
        how = (protocol, slice_bytes, streaming, timeout, None, factor)
        self._call("all_reduce", array, result, op, 0, algorithm, how)
        return result

    def reduce_scatter(
        self,
        array: Any,
        out: ArrayT,
        op: str = "sum",
        algorithm: str | Schedule = "auto",
        timeout: float = 0,
        counts: Sequence[int] | None = None,
        factor: float = 1.0,
        protocol: str = "auto",
        slice_bytes: int = 0,
        streaming: bool | None = None,
    ) -> ArrayT:
        """Combines `array` (world_size blocks, one after the other) of all ranks; rank r gets block r in `out`.

        counts: elements of each rank's block, alike on all ranks; None: equal blocks. In place: out is that block of
        array."""
        how = (protocol, slice_bytes, streaming, timeout, _whole_numbers(counts), factor)
        self._call("reduce_scatter", array, out, op, 0, algorithm, how)
        return out

    def all_gather(
        self,
        array: Any,
        out: ArrayT,
        algorithm: str | Schedule = "auto",
        timeout: float = 0,
        counts: Sequence[int] | None = None,
        protocol: str = "auto",
        slice_bytes: int = 0,
        streaming: bool | None = None,
    ) -> ArrayT:
        """Puts every rank's `array` into `out` (world_size blocks, by rank) on all ranks. counts: as of reduce_scatter.
        In place: array is the own block of out."""
        how = (protocol, slice_bytes, streaming, timeout, _whole_numbers(counts), 1.0)
        self._call("all_gather", array, out, "sum", 0, algorithm, how)
        return out

    def broadcast(
        self,
        array: ArrayT,
        root: int = 0,
        algorithm: str | Schedule = "auto",
        timeout: float = 0,
        out: ArrayT | None = None,
        protocol: str = "auto",
        slice_bytes: int = 0,
        streaming: bool | None = None,
    ) -> ArrayT:
        """Copies the root's `array` into everybody's, in place, or into everybody's `out`; the other ranks' `array` is
        not read. Returns the array that holds the result."""
        result = array if out is None else out
        given = array if self.rank == root else None
        how = (protocol, slice_bytes, streaming, timeout, None, 1.0)
        self._call("broadcast", given, result, "sum", root, algorithm, how)
        return result

    def reduce(
        self,
        array: ArrayT,
        root: int = 0,
        op: str = "sum",
        out: ArrayT | None = None,
        algorithm: str | Schedule = "auto",
        timeout: float = 0,
        factor: float = 1.0,
        protocol: str = "auto",
        slice_bytes: int = 0,
        streaming: bool | None = None,
    ) -> ArrayT:
        """Combines `array` of all ranks; the root gets the result in `out` (by default in place), the others' arrays
        stay as they are."""
        result = array if out is None else out
        taken = result if self.rank == root else None
        how = (protocol, slice_bytes, streaming, timeout, None, factor)
        self._call("reduce", array, taken, op, root, algorithm, how)
        return result

    def gather(
        self,
        array: Any,
        out: ArrayT | None = None,
        root: int = 0,
        algorithm: str | Schedule = "auto",
        timeout: float = 0,
        counts: Sequence[int] | None = None,
        protocol: str = "auto",
        slice_bytes: int = 0,
        streaming: bool | None = None,
    ) -> ArrayT | None:
        """Puts every rank's `array` into the root's `out` (world_size blocks, by rank); the others' `out` is not used.
        counts: as of reduce_scatter. In place: the root's array is its block of out."""
        taken = out if self.rank == root else None
        how = (protocol, slice_bytes, streaming, timeout, _whole_numbers(counts), 1.0)
        self._call("gather", array, taken, "sum", root, algorithm, how)
        return out

    def scatter(
        self,
        array: Any,
        out: ArrayT,
        root: int = 0,
        algorithm: str | Schedule = "auto",
        timeout: float = 0,
        counts: Sequence[int] | None = None,
        protocol: str = "auto",
        slice_bytes: int = 0,
        streaming: bool | None = None,
    ) -> ArrayT:
        """Cuts the root's `array` into world_size blocks; rank r gets block r in `out`. The others' `array` is not used
        and may be None. counts: as of reduce_scatter. In place: the root's out is its block of array."""
        given = array if self.rank == root else None
        how = (protocol, slice_bytes, streaming, timeout, _whole_numbers(counts), 1.0)
        self._call("scatter", given, out, "sum", root, algorithm, how)
        return out

    def all_to_all(
        self,
        array: Any,
        out: ArrayT,
        algorithm: str | Schedule = "auto",
        timeout: float = 0,
        send_counts: Sequence[int] | None = None,
        recv_counts: Sequence[int] | None = None,
        protocol: str = "auto",
        slice_bytes: int = 0,
        streaming: bool | None = None,
    ) -> ArrayT:
        """Block d of this rank's `array` goes to rank d, which finds it as block of this rank in its `out`.

        send_counts: elements of the blocks of array, by receiver; recv_counts: of those of out, by sender; this rank's
        own, and both or neither (equal blocks). Cannot be in place."""
        counts = None
        if send_counts is not None and recv_counts is not None:
            counts = [*send_counts, *recv_counts]
        elif send_counts is not None or recv_counts is not None:
            raise UsageError("give send_counts and recv_counts, or neither for equal blocks")
        how = (protocol, slice_bytes, streaming, timeout, _whole_numbers(counts), 1.0)
        self._call("all_to_all", array, out, "sum", 0, algorithm, how)
        return out

    def barrier(self, timeout: float = 0) -> None:
        """Returns when all ranks have called it."""
        self._call("all_reduce", _NOTHING, _NOTHING, "sum", 0, "auto", ("auto", 0, None, timeout, None, 1.0))


def _whole_numbers(counts: Sequence[int] | None) -> list[int] | None:
    if counts is None:
        return None
    try:
        numbers = [index(count) for count in counts]
    except TypeError:
        numbers = [-1]
    if not all(0 <= number < 1 << 63 for number in numbers):
        raise UsageError(f"counts must be non-negative integers, not {counts!r}")
    return numbers
