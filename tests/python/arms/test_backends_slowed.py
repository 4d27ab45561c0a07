"""An arm that is slowed on purpose takes longer by what its name says, and stays right.

For: ringtree.arms.slowed. Not for: whether a comparison finds it (docs/method.md).
"""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from ringtree.arms import check_arm, make_arm
from ringtree.arms.slowed import SlowedArm, split_slowed
from ringtree.errors import UsageError

pytestmark = pytest.mark.alone


@pytest.mark.parametrize(
    ("name", "plain", "share"),
    [
        ("gloo+10%", "gloo", 0.1),
        ("send-recv:ring+2.5%", "send-recv:ring", 0.025),
        ("gloo", "gloo", 0.0),
        ("gloo+10", "gloo+10", 0.0),
        ("+10%", "+10%", 0.0),
        ("gloo+-5%", "gloo+-5%", 0.0),
    ],
)
def test_names(name: str, plain: str, share: float) -> None:
    assert split_slowed(name) == (plain, pytest.approx(share))


def test_a_slowed_arm_is_an_arm_like_its_plain_one() -> None:
    assert check_arm("ring+10%", "all_reduce").boundaries == ("numpy", "torch")
    assert check_arm("gloo+10%", "all_reduce").boundaries == ("torch",)
    assert make_arm("ring+10%").name == "ring+10%"
    with pytest.raises(UsageError, match="unknown arm"):
        check_arm("nonsense+10%", "all_reduce")


class Clocked:
    """An arm whose call takes what a fake clock says."""

    name = "clocked"

    def __init__(self, clock: list[float]) -> None:
        self.clock = clock

    def bind(self, source: Any, result: Any, root: int = 0) -> Callable[[], None]:
        def call() -> None:
            self.clock[0] += 8.0

        self.bound = call
        return call

    def executed(self, call: object) -> dict[str, Any]:
        return {"algorithm": "ring"} if call is self.bound else {}


def test_the_share_is_added_to_the_time_of_the_call(monkeypatch: pytest.MonkeyPatch) -> None:
    clock = [0.0]

    def tick() -> float:
        clock[0] += 0.0625
        return clock[0]

    monkeypatch.setattr(time, "perf_counter", tick)
    arm = SlowedArm("clocked+25%", Clocked(clock), 0.25)  # type: ignore[arg-type]
    operand = np.zeros(1)
    call = arm.bind(operand, operand)
    call()
    # 8 s and the reading of the clock, a quarter of it again, and at most two more readings.
    assert 1.25 * 8 <= clock[0] <= 1.25 * 8.0625 + 3 * 0.0625
    assert arm.executed(call) == {"algorithm": "ring", "slowed_by": 0.25}
