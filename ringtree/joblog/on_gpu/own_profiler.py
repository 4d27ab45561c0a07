"""Makes room for a profiler of the job's own: there can be one at a time.

For: knowing when the job prepares or starts PyTorch's profiler, before it does, and when that is over. Not for: the
tracer's own record, which does not come this way (record.py).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

_BEGINS = ("_prepare_profiler", "_enable_profiler")
_ENDS = "_disable_profiler"


class OwnProfiler:
    """Whether the job has a profiler of its own; `make_room` is called when it gets one."""

    def __init__(self, make_room: Callable[[], None]) -> None:
        self.is_there = False
        self._make_room = make_room
        self._originals: dict[str, Any] = {}

    def watch(self) -> None:
        """From now on the functions by which torch.profiler starts say so first."""
        from torch.autograd import profiler

        for name in (*_BEGINS, _ENDS):
            self._originals[name] = original = getattr(profiler, name)
            setattr(profiler, name, self._watched(original, name != _ENDS))

    def stop(self) -> None:
        """Puts PyTorch's functions back."""
        from torch.autograd import profiler

        for name, original in self._originals.items():
            setattr(profiler, name, original)
        self._originals.clear()

    def _watched(self, original: Any, begins: bool) -> Any:
        def function(*arguments: Any, **named: Any) -> Any:
            if begins and not self.is_there:
                self.is_there = True
                self._make_room()
            try:
                return original(*arguments, **named)
            except Exception:
                from torch._C import _autograd

                self.is_there = _autograd._profiler_enabled()  # not this one, which did not start; one before it, maybe
                raise
            finally:
                if not begins:
                    self.is_there = False

        return function
