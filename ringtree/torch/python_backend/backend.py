"""PythonBackend: all of it, as the object that PyTorch calls. It names what each Backend of PyTorch's has; the rest is
in the classes that it is made of."""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING

from torch._C._distributed_c10d import Backend, DebugLevel, get_debug_level

from ringtree.torch.python_backend.gathers import Gathers
from ringtree.torch.python_backend.messages import Messages
from ringtree.torch.python_backend.monitored_barrier import MonitoredBarrier
from ringtree.torch.python_backend.movements import Movements
from ringtree.torch.python_backend.reductions import Reductions

if TYPE_CHECKING:
    from torch._C._distributed_c10d import Store


class Calls(Reductions, Gathers, Movements, Messages, MonitoredBarrier):
    """Every collective and message of a group. Needs no class of PyTorch's, so that tests of every version have it."""


# With TORCH_DISTRIBUTED_DEBUG=DETAIL PyTorch wraps backends, and its wrapper keeps no object of Python's alive.
_wrapped: set[PythonBackend] = set()


class PythonBackend(Calls, Backend):
    """A backend of torch.distributed; errors and arguments as csrc/backend.h."""

    def __init__(self, store: Store, rank: int, size: int, timeout: timedelta, rules: str) -> None:
        Backend.__init__(self, rank, size)
        Calls.__init__(self, store, rank, size, timeout, rules)
        if get_debug_level() == DebugLevel.DETAIL:
            _wrapped.add(self)

    def shutdown(self) -> None:
        """As Group's."""
        super().shutdown()
        _wrapped.discard(self)

    def getBackendName(self) -> str:  # noqa: N802 # PyTorch looks for this name
        return "ringtree"

    @property
    def options(self) -> Backend.Options:
        return Backend.Options("ringtree", self._timeout)

    # Each property that a class of Python's does not have asks itself again, without end, in PyTorch 2.14.
    supports_coalescing = supports_splitting = supports_shrinking = False
    supports_reconfigure = supports_window = supports_time_estimate = _supports_time_estimate = False
