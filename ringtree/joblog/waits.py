"""When a call is over whose Work has no Future: when somebody has waited for it.

For: Gloo's reduce-scatter and its like, while there is such a call: `Work.wait` is then a function that tells the
recorder when it returns. Not for: which call that was (csrc/trace/waits.h in ringtree/torch), nor calls with a Future,
which says it by itself; nor waits in C++, which nothing here sees, so that such a call has no end.
"""

from __future__ import annotations

from typing import Any


class Waits:
    """PyTorch's `Work.wait`, watched."""

    def __init__(self) -> None:
        self._original: Any = None

    def watch(self, recorder: Any) -> None:
        """From now on `recorder` is told of each Work that a wait has returned for."""
        from torch._C._distributed_c10d import Work

        self._original = original = Work.wait
        waited = recorder.waited

        def wait(work: Any, *arguments: Any, **named: Any) -> Any:
            result = original(work, *arguments, **named)
            waited(work)
            return result

        Work.wait = wait  # type: ignore[method-assign,assignment]

    def stop(self) -> None:
        """Puts PyTorch's function back."""
        from torch._C._distributed_c10d import Work

        if self._original is not None:
            Work.wait = self._original  # type: ignore[method-assign]
            self._original = None
