"""When a call is over whose Work has no Future: when somebody has waited for it.

For: Gloo's reduce-scatter and its like. Not for: calls with a Future, which says it by itself (operators.py); waits in
C++, which nothing here sees, so that such a call has no end.

While there is such a call, `Work.wait` is a function that notes when it returns. A Work is known by its Python object,
which is kept until then, so that whoever waits has the same one; drop() forgets those that nobody waited for, at the
end of a step, as they keep their tensors.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any


class Waits:
    """The calls that are waited for."""

    def __init__(self) -> None:
        self._then: dict[int, tuple[Any, Callable[[Any], None]]] = {}
        self._original: Any = None

    def add(self, work: Any, then: Callable[[Any], None]) -> None:
        """Calls `then(None)` when a wait for `work` returns."""
        if self._original is None:
            self._patch()
        self._then[id(work)] = (work, then)

    def drop(self) -> None:
        self._then.clear()

    def stop(self) -> None:
        """Puts PyTorch's function back."""
        from torch._C._distributed_c10d import Work

        if self._original is not None:
            Work.wait = self._original  # type: ignore[method-assign]
            self._original = None
        self.drop()

    def _patch(self) -> None:
        from torch._C._distributed_c10d import Work

        self._original = original = Work.wait

        def wait(work: Any, *arguments: Any, **named: Any) -> Any:
            result = original(work, *arguments, **named)
            _, then = self._then.pop(id(work), (None, None))
            if then is not None:
                then(None)
            return result

        Work.wait = wait  # type: ignore[method-assign,assignment]
