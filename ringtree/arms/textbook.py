"""The textbook arms: the engine's schedules run natively as a first course would write it (core/textbook).

For: `textbook-tcp:<algorithm>`, `textbook-shm:<algorithm>` and `textbook-fused:<algorithm>`: what lies between the
interpreter in Python (send_recv.py) and the engine, one change at a time. Not for: how they run.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

from ringtree._core import TextbookCall, TextbookGroup, UnixStore, textbook_styles
from ringtree.arms.arm import Array, Setting
from ringtree.arms.engine import operand_of
from ringtree.arms.kind import ALGORITHM, OPS, ArmKind, names_algorithm
from ringtree.errors import UsageError
from ringtree.schedules.schedule import schedule
from ringtree.storage import storage_of

COLLECTIVE = "all_reduce"
_STYLES = {f"textbook-{style}": style for style in textbook_styles()}


class TextbookArm:
    """`algorithm` of ringtree in one of the textbook's styles, in place."""

    def __init__(self, name: str) -> None:
        head, _, self._algorithm = name.partition(":")
        self.name, self._style = name, _STYLES[head]
        self._group: TextbookGroup | None = None
        self._prepared: dict[int, TextbookCall] = {}

    def setup(self, setting: Setting) -> None:
        if setting.collective != COLLECTIVE:
            raise UsageError(f"the textbook arms run {COLLECTIVE} only, not {setting.collective}")
        self._setting = setting
        store = UnixStore(setting.rendezvous, setting.rank, setting.timeout)  # needed until the group stands
        self._group = TextbookGroup(store, setting.rank, setting.num_ranks, self._style, setting.timeout)
        self._schedule = schedule(setting.collective, self._algorithm, ranks=setting.num_ranks)

    def make_buffers(self, count: int, num_buffers: int) -> list[Array]:
        return [np.zeros(count, dtype=storage_of(self._setting.dtype)) for _ in range(num_buffers)]

    def bind(self, source: Array, result: Array, root: int = 0) -> Callable[[], object]:
        taken = operand_of(result, self._setting)
        given = taken if source is result else operand_of(source, self._setting)
        return partial(self._run, given, taken, source.size)

    def executed(self, call: Callable[[], object]) -> dict[str, Any]:
        return {
            "backend": f"textbook ({self._style})",
            "through": self._setting.boundary,
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


KIND = ArmKind(
    name="textbook",
    heads=frozenset(_STYLES),
    written=tuple(f"{head}:{ALGORITHM}" for head in _STYLES),
    accepts=names_algorithm,
    make=TextbookArm,
    collectives=(COLLECTIVE,),
    boundaries=("numpy", "torch"),
    ops=tuple(op for op in OPS if op != "premul_sum"),
    several_hosts=lambda name: False,
    threads=True,
)
