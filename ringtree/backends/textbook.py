"""The textbook arms: the engine's schedules run natively as a first course would write it (core/textbook).

For: `textbook-tcp:<algorithm>`, `textbook-shm:<algorithm>` and `textbook-fused:<algorithm>`: what lies between the
interpreter in Python (send_recv.py) and the engine, one change at a time. Not for: how they run.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

import ringtree
from ringtree import _core
from ringtree.backends.arm import Array, Operands, Setting
from ringtree.backends.engine import operand_of

PREFIXES = {f"textbook-{style}:": style for style in _core.textbook_styles()}


def split_textbook(name: str) -> tuple[str, str] | None:
    """Returns (style, algorithm) of "textbook-shm:ring"; None for another arm's name."""
    prefix, colon, algorithm = name.partition(":")
    style = PREFIXES.get(prefix + colon)
    return None if style is None else (style, algorithm)


class TextbookArm:
    """`algorithm` of ringtree in one of the textbook's styles, in place."""

    def __init__(self, style: str, algorithm: str) -> None:
        self.name = f"textbook-{style}:{algorithm}"
        self._style, self._algorithm = style, algorithm
        self._group: _core.TextbookGroup | None = None
        self._prepared: dict[int, _core.TextbookCall] = {}

    def setup(self, setting: Setting) -> None:
        if setting.collective != "all_reduce":
            raise ringtree.UsageError(f"the textbook arms run all_reduce only, not {setting.collective}")
        self._setting = setting
        store = _core.UnixStore(setting.rendezvous, setting.rank, setting.timeout)  # needed until the group stands
        self._group = _core.TextbookGroup(store, setting.rank, setting.num_ranks, self._style, setting.timeout)
        self._schedule = ringtree.schedule(setting.collective, self._algorithm, ranks=setting.num_ranks)

    def make_operands(self, count: int, num_buffers: int) -> Operands:
        arrays: list[Array] = [np.zeros(count, dtype=self._setting.dtype) for _ in range(num_buffers)]
        operands = [operand_of(array, self._setting) for array in arrays]
        return Operands([partial(self._run, operand, operand, count) for operand in operands], arrays)

    def call(self, operands: Operands, index: int) -> None:
        operands.calls[index]()

    def bind(self, source: Array, result: Array, root: int = 0) -> Callable[[], object]:
        taken = operand_of(result, self._setting)
        given = taken if source is result else operand_of(source, self._setting)
        return partial(self._run, given, taken, source.size)

    def executed(self) -> dict[str, Any]:
        return {
            "backend": f"textbook ({self._style})",
            "through": "torch" if self._setting.use_torch else "numpy",
            "algorithm": self._algorithm,
        }

    def teardown(self) -> None:
        if self._group is not None:
            self._group.close()

    def _run(self, given: Any, taken: Any, count: int) -> None:
        assert self._group is not None
        prepared = self._prepared.get(count)
        if prepared is None:
            # In the first call, not before: all ranks get ready together, and what fails is this arm's failure.
            prepared = self._group.prepare(self._schedule.core, count, self._setting.dtype, self._setting.op)
            self._prepared[count] = prepared
        self._group.run(prepared, given, taken)
