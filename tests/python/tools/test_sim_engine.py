"""The page about the simulator against the engine: errors, orders and bars, and that a wrong order is found.

For: tools/sim_engine without measuring. Not for: the simulator.
"""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parents[3] / "tools"))

from sim_engine.held import Held, median_error, wrong_orders


def cell(algorithm: str, size: int, measured: float, simulated: float) -> Held:
    return Held(algorithm, size, measured, measured, measured, simulated)


def test_errors_are_of_either_sign() -> None:
    cells = [cell("a", 1, 1.0, 1.2), cell("b", 1, 1.0, 0.9), cell("c", 1, 2.0, 2.0)]
    assert median_error(cells) == pytest.approx(0.1)


def test_a_clear_order_that_is_wrong_is_found() -> None:
    cells = [cell("a", 1, 1.0, 3.0), cell("b", 1, 2.0, 2.0), cell("a", 2, 1.0, 1.0), cell("b", 2, 2.0, 3.0)]
    wrong, clear = wrong_orders(cells)
    assert clear == 2
    assert [(one.algorithm, other.algorithm, one.size_bytes) for one, other in wrong] == [("a", "b", 1)]


def test_what_differs_by_little_has_no_order() -> None:
    assert wrong_orders([cell("a", 1, 1.0, 3.0), cell("b", 1, 1.2, 2.0)]) == ([], 0)
