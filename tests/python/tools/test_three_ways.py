"""The figure of a crossover three ways: the formula counts what textbooks state, and lines cross where they should.

For: tools/three_ways.py. Not for: measuring, how the figure looks.
"""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parents[3] / "tools"))

from three_ways import Line, crossing, draw, formula, main

from ringtree.schedules.emulation import Emulation
from ringtree.schedules.schedule import schedule

EIGHT = Emulation(hosts=8, ranks_per_host=1, alpha=1e-3, beta=20e6)


@pytest.mark.parametrize(("algorithm", "hops", "sent"), [("ring", 14, 1.75), ("tree", 6, 3.0)])
def test_the_formula_is_the_textbooks(algorithm: str, hops: int, sent: float) -> None:
    made = schedule("all_reduce", algorithm, 8, hosts=list(range(8)))
    assert formula(made, EIGHT, 1 << 20) == pytest.approx(hops * 1e-3 + sent * (1 << 20) / 20e6)


def test_lines_cross_where_their_ratio_is_one() -> None:
    # Ratios 1/2 and 2: half way in logarithms.
    first, second = Line("a", "formula", [100, 400], [1.0, 4.0]), Line("b", "formula", [100, 400], [2.0, 2.0])
    assert crossing(first, second) == 200
    assert crossing(first, Line("b", "formula", [100, 400], [2.0, 8.0])) is None


def test_a_figure_is_drawn(tmp_path: Path) -> None:
    pytest.importorskip("matplotlib")
    lines = [
        Line("a", "formula", [100, 400], [1.0, 4.0]),
        Line("b", "emulated", [100, 400], [2.0, 2.0], [(1.0, 3.0), (1.5, 2.5)]),
    ]
    draw(lines, "made up", tmp_path / "figure.svg", "made up")
    text = (tmp_path / "figure.svg").read_text(encoding="utf-8")
    assert "a, formula" in text
    assert "b, emulated" in text


@pytest.mark.parametrize("words", [[], ["runs/one"], ["runs/one", "figure.svg", "more"]])
def test_other_numbers_of_words_are_one_line(
    words: list[str], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(sys, "argv", ["three_ways.py", *words])
    assert main() == 2
    assert capsys.readouterr().err == "usage: python tools/three_ways.py RUN FIGURE.svg\n"
