"""Communicator: one of libringtree's, met through PyTorch's store, and left when it goes. As csrc/communicator.h."""

from __future__ import annotations

import ctypes
import weakref
from ctypes import byref, c_int, c_void_p
from datetime import timedelta
from typing import TYPE_CHECKING

from ringtree.torch.python_backend import library
from ringtree.torch.python_backend.library import SUCCESS, Config, UniqueId

if TYPE_CHECKING:
    from torch._C._distributed_c10d import Store


def seconds_of(time: timedelta) -> float:
    """A timeout as the library takes it, in which 0 is none: at least a millisecond."""
    return max(0.001, time.total_seconds())


class Communicator:
    """`name` tells the communicators of one group apart. The id goes through `store`, under a number that each rank
    counts by itself, so that a group which is made again with the same store finds no old id. Making one blocks until
    all ranks have come; errors as library.call(). For one thread at a time, except abort() and state()."""

    def __init__(self, store: Store, name: str, rank: int, size: int, timeout: timedelta, rules: str) -> None:
        unique = _agree_on_id(store, name, rank, timeout)
        self.id = unique.internal.decode()
        self._timeout = timeout
        config = Config(size=ctypes.sizeof(Config), timeout_s=seconds_of(timeout), rules_path=rules.encode() or None)
        self.handle = c_void_p()
        library.call("rtCommInitRankConfig", byref(self.handle), size, unique, rank, byref(config))
        # Not when Python ends: that would wait for calls which nobody answers. group.leave_all() is for that.
        weakref.finalize(self, library.library().rtCommDestroy, self.handle).atexit = False

    def call(self, name: str, *arguments: object) -> None:
        """Calls the function of that name, whose last argument is the communicator."""
        library.call(name, *arguments, self.handle, comm=self.handle)

    def set_timeout(self, timeout: timedelta) -> None:
        """Of the calls that follow; for the thread that makes them."""
        if timeout != self._timeout:
            library.call("rtCommSetTimeout", self.handle, seconds_of(timeout), comm=self.handle)
            self._timeout = timeout

    def leave(self) -> None:
        """Leaves in order; the calls that this rank has started are done first. Later calls fail."""
        library.library().rtCommFinalize(self.handle)

    def state(self) -> int:
        """What has become of it, an rtResult_t."""
        state = c_int(SUCCESS)
        library.call("rtCommGetAsyncError", self.handle, byref(state))
        return state.value

    def abort(self, reason: str) -> None:
        """Ends it on all ranks."""
        library.library().rtCommAbort(self.handle, reason.encode())


def _agree_on_id(store: Store, name: str, rank: int, timeout: timedelta) -> UniqueId:
    prefix = f"ringtree/{name}/"  # the compiled backend's, too
    key = f"{prefix}id/{store.add(f'{prefix}rounds/{rank}', 1)}"
    unique = UniqueId()
    if rank == 0:
        library.call("rtGetUniqueId", byref(unique))
        store.set(key, bytes(unique).decode("ascii"))  # a store takes texts, zeros included
        return unique
    store.wait([key], timeout)
    data = store.get(key)
    if len(data) != ctypes.sizeof(unique):
        raise RuntimeError(f"ringtree: the store gave an id of {len(data)} bytes")
    return UniqueId.from_buffer_copy(data)
