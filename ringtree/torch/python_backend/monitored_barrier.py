"""monitored_barrier in the Python backend: rank 0 says who has not come. As csrc/monitored_barrier.cpp: through
PyTorch's store and not through the group, so that it can tell of ranks that are stuck in a collective, and ends no
group where one is late. The texts are Gloo's, by which logs are searched."""

from __future__ import annotations

import time
from datetime import timedelta
from typing import TYPE_CHECKING

from ringtree.torch.python_backend.group import UNSET, Group

if TYPE_CHECKING:
    from torch._C._distributed_c10d import BarrierOptions

_WELL, _ILL = "\x01", "\x00"


class MonitoredBarrier(Group):
    """Under PyTorch's name."""

    _num_monitored = 0  # one at a time

    def monitored_barrier(self, opts: BarrierOptions | timedelta, wait_all_ranks: bool = False) -> None:
        """`opts`: or the timeout itself, as PyTorch's method of that name takes it. RuntimeError: a rank has not come
        in time; rank 0 says which, all others that rank 0 knows."""
        self._check_usable()
        asked = opts if isinstance(opts, timedelta) else opts.timeout
        timeout = self._timeout if asked == UNSET else asked
        end = time.monotonic() + timeout.total_seconds()
        self._num_monitored += 1
        # With the id: a group that is made again with the same store counts from the beginning.
        prefix = f"ringtree/monitored_barrier/{self._collectives.id}/{self._num_monitored}"
        if self._group_rank != 0:
            self._store.set(f"{prefix}/{self._group_rank}", _WELL)
            # Rank 0 may have to wait as long for others before it can say so.
            told = self._comes(f"{prefix}/result", end + timeout.total_seconds())
            if not told or self._store.get(f"{prefix}/result") != _WELL.encode():
                raise RuntimeError(
                    f"Rank {self._group_rank} successfully reached monitoredBarrier, but received errors while waiting "
                    "for send/recv from rank 0. Please check rank 0 logs for faulty rank."
                )
            return
        milliseconds = timeout // timedelta(milliseconds=1)
        absent: list[int] = []
        for peer in range(1, self._group_size):
            if not self._comes(f"{prefix}/{peer}", end):
                absent.append(peer)
                if not wait_all_ranks:
                    break
        self._store.set(f"{prefix}/result", _WELL if not absent and milliseconds > 0 else _ILL)
        if milliseconds <= 0:
            raise RuntimeError(f"[Rank 0]: Rank 0 timed out in monitoredBarrier after {milliseconds} ms.")
        if absent:
            names = ", ".join(map(str, absent))
            raise RuntimeError(
                f"[Rank 0]: {'Ranks' if wait_all_ranks else 'Rank'} {names} failed to pass monitoredBarrier in "
                f"{milliseconds} ms"
            )

    def _comes(self, key: str, end: float) -> bool:
        """Whether it is there in time."""
        left = end - time.monotonic()
        if left > 0:
            try:
                self._store.wait([key], timedelta(seconds=left))
            except RuntimeError:  # not in time, or a store that has gone: then check() raises
                return self._store.check([key])
            return True
        return self._store.check([key])
