"""What auto loses where blocks differ in length: the layouts, the measurement itself, and what is made of its figures.

For: tools/uneven_regret.py. Not for: any figure of a machine.
"""

from __future__ import annotations

import math
from typing import Any

import pytest
import uneven_regret
from uneven_regret import BLOCKS, Call, half_on_one, measure, ramp, regret, report

import ringtree


@pytest.mark.parametrize("ranks", [2, 3, 8])
@pytest.mark.parametrize("total", [1, 7, 256, 1 << 20])
@pytest.mark.parametrize("layout", BLOCKS)
def test_blocks_are_all_of_the_elements(layout: str, total: int, ranks: int) -> None:
    """None is lost to rounding, and none is negative."""
    blocks = BLOCKS[layout](total, ranks)
    assert len(blocks) == ranks
    assert sum(blocks) == total
    assert min(blocks) >= 0


def test_what_the_layouts_are() -> None:
    """A ramp, and half on rank 1."""
    assert ramp(100, 4) == [10, 20, 30, 40]
    assert half_on_one(96, 4) == [16, 48, 16, 16]


def test_the_best_of_one_half_of_the_launches_is_judged_in_the_other() -> None:
    """ring looks best in even launches and tree in odd ones: each is judged where it has no luck."""
    even = [{"auto": 1.0, "ring": 0.5, "tree": 1.0}]
    odd = [{"auto": 1.0, "ring": 1.0, "tree": 0.5}]
    best, lost = regret([even, odd, even, odd])
    assert best in {"ring", "tree"}
    assert lost == pytest.approx(0)


def test_regret_is_the_share_by_which_auto_takes_longer() -> None:
    """1.2 in one half of the launches and 1.1 in the other."""
    best, lost = regret([[{"auto": 1.2, "ring": 1.0, "tree": 3.0}], [{"auto": 2.2, "ring": 2.0, "tree": 5.0}]])
    assert best == "ring"
    assert lost == pytest.approx(math.sqrt(1.2 * 1.1) - 1)


@pytest.fixture
def small(monkeypatch: pytest.MonkeyPatch) -> None:
    """One size and two rounds."""
    monkeypatch.setattr(uneven_regret, "SIZES", (1 << 10,))
    monkeypatch.setattr(uneven_regret, "ROUNDS", 2)


@pytest.mark.usefixtures("small")
def test_all_arms_are_timed_in_every_round(capsys: pytest.CaptureFixture[str]) -> None:
    """On three ranks that are threads; the report has a line a cell and one a collective."""
    found = ringtree.run(lambda comm: measure(comm, 0), ranks=3, profile="")[0]
    assert [cell for cell, _, _ in found] == [
        (collective, layout, 1 << 10) for collective in uneven_regret.COLLECTIVES for layout in BLOCKS
    ]
    for _, choice, rounds in found:
        assert choice.split("/")[0] in rounds[0]
        assert len(rounds) == 2
        assert all("ring" in one and min(one.values()) > 0 for one in rounds)
    report([{"ranks": 3, "cells": found}] * 2)
    printed = capsys.readouterr().out.splitlines()
    assert len(printed) == len(found) + len(uneven_regret.COLLECTIVES)
    assert printed[-1].startswith("reduce_scatter of 3 ranks, 2 cells: mean regret ")


@pytest.mark.usefixtures("small")
def test_a_wrong_result_ends_it(monkeypatch: pytest.MonkeyPatch) -> None:
    """A call that does nothing."""
    monkeypatch.setattr(Call, "__call__", lambda *_: None)
    with pytest.raises(SystemExit, match="wrong result on rank"):
        ringtree.run(lambda comm: measure(comm, 0), ranks=2, profile="")


def test_an_odd_number_of_launches_is_refused() -> None:
    """As its two halves would not be alike."""
    launch: dict[str, Any] = {"ranks": 2, "cells": [(("all_gather", "ramp", 4), "ring/ll", [{"auto": 1, "ring": 1}])]}
    with pytest.raises(SystemExit, match="1 launches of 2 ranks; needs an even number"):
        report([launch])
