"""Figures of stored runs: they show the run's numbers, noise has no colour, and the same data give the same file."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path

import pytest
from audit_support import as_text, make_table
from comparison_support import (
    CROSSING,
    CROSSING_EARLY,
    near_then_far,
    noise,
    placed_run,
    run_of_costs,
    stored_run,
)
from lab_support import make_cell, make_launch, make_plan
from typer.testing import CliRunner

from ringtree.cli import app
from ringtree.errors import UsageError
from ringtree.show.plot import KINDS, draw
from ringtree.show.plot.heatmap import OPEN, SAME, change, colour_of
from ringtree.show.plot.scaling import scaling
from ringtree.show.plot.words import panels_of
from ringtree.show.views import View, read_views, view_of_run

SIZES = (1024, 1 << 20)


def view(num_ranks: int = 2, slower: float = 1.0) -> View:
    """Ring takes a third of gloo's time at 1 KB and three times as long at 1 MB; eight launches."""
    plan = make_plan(arms=["ring", "gloo"], sizes=list(SIZES), num_ranks=num_ranks, num_launches=8)
    launches = []
    for launch in range(8):
        cells = [
            make_cell(arm, size, slower * factor * noise(launch, arm, size) * size * 1e-9, num_ranks)
            for size, ring in ((SIZES[0], 1 / 3), (SIZES[1], 3.0))
            for arm, factor in (("gloo", 1.0), ("ring", ring))
        ]
        launches.append(make_launch(launch, cells))
    return view_of_run(stored_run(plan, launches))


@pytest.mark.parametrize("kind", [kind for kind in KINDS if kind != "scaling"])
def test_each_kind_names_its_arms_and_is_the_same_again(tmp_path: Path, kind: str) -> None:
    pytest.importorskip("matplotlib")
    run = view()
    files = [tmp_path / "a.svg", tmp_path / "b.svg"]
    for file in files:
        draw(kind, [run], file)
    assert files[0].read_bytes() == files[1].read_bytes()
    text = files[0].read_text()
    assert ">ring<" in text
    assert "all_reduce" in text
    assert re.search(r">1 (K|M)B<", text)


def test_a_crossover_is_marked_where_it_was_found(tmp_path: Path) -> None:
    pytest.importorskip("matplotlib")
    run = view()
    assert [one.kind for one in run.crossovers] == ["crossing"]
    draw("crossover", [run], tmp_path / "a.svg")
    assert "ring and gloo" in (tmp_path / "a.svg").read_text()


@pytest.mark.parametrize(("costs", "least"), [(CROSSING, 5), (CROSSING_EARLY, 1)])
def test_names_of_crossovers_lie_on_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, costs: dict[str, tuple[float, float]], least: int
) -> None:
    pytest.importorskip("matplotlib")
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    kept: list[Figure] = []
    monkeypatch.setattr(Figure, "savefig", lambda self, *_, **__: kept.append(self))
    draw("crossover", [view_of_run(run_of_costs(costs))], tmp_path / "a.png")
    FigureCanvasAgg(kept[0]).draw()
    (axes,) = kept[0].axes
    boxes = [text.get_window_extent() for text in axes.texts]
    assert len(boxes) >= least
    for number, box in enumerate(boxes):
        assert not any(box.overlaps(other) for other in boxes[:number])
        for line in axes.lines:
            if len(line.get_xdata()) > 2:  # a curve
                assert not line.get_path().transformed(line.get_transform()).intersects_bbox(box, filled=False)
        assert axes.bbox.x0 <= box.x0 < box.x1 <= axes.bbox.x1
        assert axes.bbox.y0 <= box.y0 < box.y1 <= axes.bbox.y1


def test_near_and_far_cores_have_a_panel_each(tmp_path: Path) -> None:
    pytest.importorskip("matplotlib")
    plan = make_plan(arms=["ring", "gloo"], sizes=[1024], num_ranks=2, num_launches=8)
    run = view_of_run(
        placed_run(plan, lambda n, s, a, r: 1e-6 * noise(n, a, s, r), lambda n, a, r: near_then_far(n, a, r))
    )
    draw("time", [run], tmp_path / "a.svg")
    text = (tmp_path / "a.svg").read_text()
    assert "near" in text
    assert "far" in text


def test_noise_has_no_colour_however_large_it_is() -> None:
    assert colour_of("inconclusive", 3.0) == colour_of("inconclusive", 0.01) == OPEN
    assert colour_of("equivalent", 1.01) == SAME
    assert colour_of("faster", 0.5) != colour_of("slower", 2.0) != OPEN


def test_changes_are_short() -> None:
    assert [change(ratio) for ratio in (1 / 163, 0.6, 1.031, 5.0)] == ["1/163", "-40%", "+3.1%", "5.0×"]


def test_scaling_takes_one_run_a_number_of_ranks() -> None:
    two, four = view(2), view(4, slower=2.0)
    size, curves = scaling([four, two])
    assert size == SIZES[1]
    # busbw = size/time · 2(n-1)/n: twice the time at 1.5 times the factor is 0.75 of the rate, up to the noise.
    (n, first), (m, second) = curves["gloo"]
    assert (n, m) == (2, 4)
    assert second / first == pytest.approx(0.75, rel=0.02)
    for wrong in ([two], [two, view(2)], [two, replace(four, collective="broadcast")]):
        with pytest.raises(UsageError):
            scaling(wrong)


def test_what_can_not_be_drawn_is_said(tmp_path: Path) -> None:
    run = view()
    with pytest.raises(UsageError, match="invalid kind of figure"):
        draw("pie", [run], tmp_path / "a.svg")
    with pytest.raises(UsageError, match="name a file with"):
        draw("time", [run], tmp_path / "a.gif")
    with pytest.raises(UsageError, match="nothing to draw"):
        draw("time", [replace(run, cells=[])], tmp_path / "a.svg")


def test_a_log_is_drawn_by_the_code_that_draws_runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The curves of a log are the figures that it prints: without bands, as a single run has no interval."""
    pytest.importorskip("matplotlib")
    from matplotlib.figure import Figure

    table = make_table(sizes=SIZES)
    (tmp_path / "a.log").write_text(as_text(table))
    kept: list[Figure] = []
    write = Figure.savefig
    monkeypatch.setattr(Figure, "savefig", lambda self, *args, **more: (kept.append(self), write(self, *args, **more)))
    (tmp_path / "b.log").write_text(as_text(table))
    log, other = str(tmp_path / "a.log"), str(tmp_path / "b.log")
    for kind, names in (("busbw", [log]), ("time", [log]), ("heatmap", [log, other]), ("crossover", [log, other])):
        arguments = ["plot", *names, "--kind", kind, "-o", str(tmp_path / f"{kind}.svg")]
        assert CliRunner().invoke(app, arguments, catch_exceptions=False).exit_code == 0
    with pytest.raises(UsageError, match="two arms"):
        draw("heatmap", read_views([log], tmp_path)[0], tmp_path / "a.svg")
    for drawn, field, scale in ((kept[0], "busbw", 1e9), (kept[1], "time", 1e-6)):
        assert [axes.get_title() for axes in drawn.axes] == ["out of place", "in place"]
        for index, axes in enumerate(drawn.axes):
            curve = axes.lines[0]
            printed = [getattr(row.sides[index], field).value / scale for row in table.rows]
            assert list(curve.get_xdata()) == list(SIZES)
            assert list(curve.get_ydata()) == pytest.approx(printed)
            assert not axes.collections  # no band


@pytest.mark.parametrize(("slower", "unit", "scale"), [(1.0, "µs", 1e6), (1e3, "µs", 1e6), (1e4, "ms", 1e3)])
def test_times_are_in_ms_if_no_call_takes_less(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, slower: float, unit: str, scale: float
) -> None:
    """Ring takes a third of 1 µs × `slower` at 1 KB, which is the shortest."""
    pytest.importorskip("matplotlib")
    from matplotlib.figure import Figure

    kept: list[Figure] = []
    monkeypatch.setattr(Figure, "savefig", lambda self, *_, **__: kept.append(self))
    run = view(slower=slower)
    draw("time", [run], tmp_path / "a.svg")
    (axes,) = kept[0].axes
    assert axes.get_ylabel() == f"time of a call, {unit}"
    medians: dict[str, list[float]] = {cell.arm: [] for cell in run.cells}
    for cell in run.cells:
        assert cell.time is not None
        medians[cell.arm].append(cell.time.median * scale)
    drawn = {str(line.get_label()): list(line.get_ydata()) for line in axes.lines}
    for arm, times in medians.items():
        assert drawn[arm] == pytest.approx(times)


def test_several_views_have_panels_of_their_own(tmp_path: Path) -> None:
    pytest.importorskip("matplotlib")
    tables = [make_table(sizes=SIZES), make_table("all_gather", sizes=SIZES)]
    for name, table in zip("ab", tables, strict=True):
        (tmp_path / f"{name}.log").write_text(as_text(table).replace("all_reduce_perf", f"{table.collective}_perf"))
    views, _ = read_views([str(tmp_path / "a.log"), str(tmp_path / "b.log")], tmp_path)
    panels = panels_of([view(), *views])
    assert [panel.title.partition("\n")[0][:10] for panel in panels] == ["all_reduce"] * 3 + ["all_gather"] * 2
    draw("time", [view(), *views], tmp_path / "a.svg")
    assert "all_gather" in (tmp_path / "a.svg").read_text()
