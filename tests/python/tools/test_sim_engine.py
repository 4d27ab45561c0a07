"""The page about the simulator against the engine: errors, orders and bars, and that a wrong order is found.

For: tools/sim_engine without measuring. Not for: the simulator.
"""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parents[3] / "tools"))

from comparison_support import stored_run
from lab_support import make_cell, make_launch, make_plan
from sim_engine.held import Held, median_error, wrong_orders
from sim_engine.measuring import Part
from sim_engine.page import bars_of, page_text

from ringtree.results import EmulatedCluster


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


def part(name: str, cells: list[Held], emulation: EmulatedCluster | None = None) -> Part:
    plan = make_plan(["a", "b"], [1024], num_launches=1, emulation=emulation)
    run = stored_run(plan, [make_launch(0, [make_cell(arm, 1024, 1e-3, 2) for arm in ("a", "b")])])
    return Part(name, run, cells, [] if emulation is not None else ["fitted: a constant"])


# Off by 20 %, in the right order; and off by 200 % and 0 %, in the wrong one.
CLOSE = [cell("a", 1024, 1e-3, 1.2e-3), cell("b", 1024, 2e-3, 2.4e-3)]
WRONG = [cell("a", 1024, 1e-3, 3e-3), cell("b", 1024, 2e-3, 2e-3)]
SLOW = EmulatedCluster(hosts=2, ranks_per_host=1, alpha=20e-3, beta=10e6)


@pytest.mark.parametrize(
    ("cells", "emulation", "met"),
    [
        (CLOSE, None, [True, True]),
        (WRONG, None, [False, False]),
        # An emulated cluster's constants are known: 20 % are too much there.
        (CLOSE, SLOW, [False, True]),
    ],
)
def test_bars_are_reached_and_missed(cells: list[Held], emulation: EmulatedCluster | None, met: list[bool]) -> None:
    assert [bar.met for bar in bars_of([part("some", cells, emulation)])] == met


def test_the_page_has_bars_cells_and_wrong_orders() -> None:
    text = page_text([part("here-2", WRONG), part("emulated", CLOSE, SLOW)], "make bench-sim-engine")
    assert "- command: `make bench-sim-engine`" in text
    assert "| here-2: median error | ≤ 25% | 100.0% | **missed** |" in text
    assert "| emulated: order where the measured ratio is > 1.3 | all | 1 of 1 | reached |" in text
    assert "- fitted: a constant" in text
    assert "- order wrong at 1 KB: a before b as measured (2.00×), simulated 0.67×" in text
    assert "Between hosts 20.0 ms and 10 MB/s." in text
    assert "| 1 KB | 1.00 ms (1.00 ms to 1.00 ms), simulated 1.20 ms **+20%** | 2.00 ms" in text
    assert text.count("order wrong") == 1
