"""An arm that is slowed on purpose, to see whether a comparison finds it.

For: `gloo+10%` beside `gloo`: the same arm, each call made longer by a known share. Not for: emulating networks
(ringtree.Emulation).

Each rank spins after its call, for the share of the time that the call took it; where ranks share cores the spinning
also delays the others, so the slowing is at least what the name says.
"""

from __future__ import annotations

import re
import time
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import Any

from ringtree.arms.arm import Arm, Array, Setting
from ringtree.arms.kind import ArmKind

_SUFFIX = re.compile(r"(.+)\+([0-9]{1,4}(?:\.[0-9]+)?)%")


def split_slowed(name: str) -> tuple[str, float]:
    """Returns (name of the arm without its suffix, share by which its calls are made longer): "gloo+10%" gives 0.1."""
    match = _SUFFIX.fullmatch(name)
    return (match[1], float(match[2]) / 100) if match else (name, 0.0)


def slowed(kind: ArmKind) -> ArmKind:
    """Returns `kind` for names of its arms that end as slowed ones do."""

    def make(name: str) -> Arm:
        plain, share = split_slowed(name)
        return SlowedArm(name, kind.make(plain), share)

    return replace(
        kind,
        # A call on a GPU returns before its result is there: spinning after it would slow nothing.
        accepts=lambda name, collective: (
            kind.process == "rank" and kind.device == "cpu" and kind.accepts(split_slowed(name)[0], collective)
        ),
        environment=lambda name: kind.environment(split_slowed(name)[0]),
        native=lambda name, collective: None,
        boundaries=tuple(boundary for boundary in kind.boundaries if boundary != "native"),
        several_hosts=lambda name: kind.several_hosts(split_slowed(name)[0]),
        make=make,
    )


class SlowedArm:
    """`inner`, with `share` of each call's time added to it."""

    def __init__(self, name: str, inner: Arm, share: float) -> None:
        self.name = name
        self._inner, self._share = inner, share

    def setup(self, setting: Setting) -> None:
        self._inner.setup(setting)

    def make_buffers(self, count: int, num_buffers: int) -> list[Array]:
        return self._inner.make_buffers(count, num_buffers)

    def bind(self, source: Array, result: Array, root: int = 0) -> Callable[[], object]:
        return partial(self._slow, self._inner.bind(source, result, root))

    def executed(self, call: Callable[[], object]) -> dict[str, Any]:
        own = call.args[0] if isinstance(call, partial) else call  # what the inner arm's bind() returned
        return {**self._inner.executed(own), "slowed_by": self._share}

    def teardown(self) -> None:
        self._inner.teardown()

    def _slow(self, call: Callable[[], object]) -> None:
        start = time.perf_counter()
        call()
        now = time.perf_counter()
        until = now + self._share * (now - start)
        while time.perf_counter() < until:
            pass
