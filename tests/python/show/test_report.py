"""The report in a browser: it shows the store's numbers, its controls do what they say, and hostile text stays text."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from browser_support import Page, browser
from comparison_support import CROSSING, near_then_far, noise, placed_run, run_of_costs, stored_run
from lab_support import make_cell, make_launch, make_plan
from typer.testing import CliRunner

from ringtree.cli import app
from ringtree.errors import UsageError
from ringtree.judge.runs import SINGLE
from ringtree.judge.summary import summarise
from ringtree.results import StoredRun
from ringtree.show.plot.scaling import scaling
from ringtree.show.plotly_source import parsed_once
from ringtree.show.run_page import Extra, report_page
from ringtree.show.views import view_of_run

SIZES = [1 << k for k in (10, 14, 18, 22)]
HOSTILE = "</script><script>window.hostile=1</script><img src=x onerror='window.hostile=2'>"


def run(num_ranks: int = 2, arms: tuple[str, ...] = ("ring", "tree", "gloo"), sizes: list[int] = SIZES) -> StoredRun:
    """Ring takes a third of gloo's time at small sizes and three times as long from 256 KB on; tree as long as gloo."""
    plan = make_plan(arms=list(arms), sizes=sizes, num_ranks=num_ranks, num_launches=8)

    def seconds(arm: str, size: int, launch: int) -> float:
        factor = (1 / 3 if size < 1 << 18 else 3.0) if arm == arms[0] else 1.0
        return factor * noise(launch, arm, size) * (1e-5 + size * 1e-9)

    launches = []
    for launch in range(8):
        cells = [make_cell(arm, size, seconds(arm, size, launch), num_ranks) for size in sizes for arm in arms]
        launches.append(make_launch(launch, cells))
    return stored_run(plan, launches)


@pytest.fixture(scope="module")
def opened() -> Iterator[Any]:
    pytest.importorskip("plotly")
    with browser() as one:
        yield one


def page_of(*runs: StoredRun, title: str, **options: Any) -> str:
    """The page of stored runs."""
    return report_page([view_of_run(one) for one in runs], title=title, **options)


def shown(opened: Any, tmp_path: Path, *runs: StoredRun, title: str = "test", **options: Any) -> Page:
    file = tmp_path / "report.html"
    file.write_text(page_of(*runs, title=title, **options), encoding="utf-8")
    page = Page(opened, file.as_uri())
    page.drawn()
    return page


def test_charts_and_table_show_the_numbers_of_the_summary(opened: Any, tmp_path: Path) -> None:
    stored = run()
    page = shown(opened, tmp_path, stored)
    summary = summarise(stored)
    traces = page.run(
        "document.getElementById('busbw').data.filter(t => t.showlegend !== false).map(t => [t.name, t.x, t.y])"
    )
    assert [name for name, _, _ in traces][:3] == ["ring", "tree", "gloo"]
    for name, sizes, rates in traces[:3]:
        assert sizes == SIZES
        expected = [summary.cell(size, name).busbw for size in SIZES]
        assert rates == pytest.approx(expected, rel=1e-5)
    rows = page.run(
        "[...document.querySelectorAll('#figures tbody tr')].map(r => [...r.cells].map(c => c.textContent))"
    )
    assert len(rows) == len(SIZES) * 3
    verdicts = {(size, arm): verdict for size, arm, *_, verdict, _ in rows}
    for cell in summary.cells:
        word = "reference" if cell.versus_reference is None else cell.versus_reference.verdict
        names = {1 << 10: "1 KB", 1 << 14: "16 KB", 1 << 18: "256 KB", 1 << 22: "4 MB"}
        assert verdicts[names[cell.size_bytes], cell.arm] == word
    assert page.page.inner_text(".verdicts li").startswith(summary.verdicts[0][:10])
    assert page.problems == []
    assert page.requests == [page.page.url]  # nothing else is asked for, from anywhere


def test_noise_is_grey_and_verdicts_have_colour(opened: Any, tmp_path: Path) -> None:
    page = shown(opened, tmp_path, run())
    colours = page.run("document.getElementById('heatmap').layout.shapes.map(s => s.fillcolor)")
    ring, tree = colours[: len(SIZES)], colours[len(SIZES) :]
    assert len(set(ring)) == 2  # blue below the crossover, orange above
    assert set(tree) <= {"rgb(217,217,217)", "rgb(255,255,255)"}


def test_hover_legend_sort_copy_and_keyboard(opened: Any, tmp_path: Path) -> None:
    page = shown(opened, tmp_path, run())
    page.run("Plotly.Fx.hover(document.getElementById('busbw'), [{curveNumber: 2, pointNumber: 0}])")
    assert "ring, 1 KB" in page.page.text_content("#busbw .hoverlayer")
    page.page.locator("#time .legendtoggle").first.click()
    page.until("document.getElementById('time').data.some(t => t.visible === 'legendonly')")
    heading = page.page.locator("#figures th button").nth(2)
    heading.focus()
    page.page.keyboard.press("Enter")
    times = page.run("[...document.querySelectorAll('#figures tbody tr')].map(r => Number(r.cells[2].dataset.value))")
    assert times == sorted(times)
    page.page.keyboard.press("Enter")
    times = page.run("[...document.querySelectorAll('#figures tbody tr')].map(r => Number(r.cells[2].dataset.value))")
    assert times == sorted(times, reverse=True)
    page.page.locator("#figures .copy button").nth(0).click()
    rows = list(csv.reader(io.StringIO(page.run("window.copied"))))
    assert rows[0][:3] == ["size", "arm", "time"]
    assert len(rows) == 1 + 3 * len(SIZES)
    page.page.locator("#figures .copy button").nth(1).click()
    assert set(page.run("window.copied").splitlines()[1]) == set("| -")
    assert page.problems == []


@pytest.mark.parametrize("width", [390, 1280])
def test_names_of_crossovers_lie_on_nothing(opened: Any, tmp_path: Path, width: int) -> None:
    file = tmp_path / "report.html"
    file.write_text(page_of(run_of_costs(CROSSING), title="test"), encoding="utf-8")
    page = Page(opened, file.as_uri(), viewport={"width": width, "height": 800})
    page.drawn()
    box = "(one => { const b = one.getBoundingClientRect(); return [b.left, b.top, b.right, b.bottom]; })"
    for chart in ("busbw", "time"):
        names, points, (area,) = (
            page.run(f"[...document.querySelectorAll('#{chart} {what}')].map({box})")
            for what in (".annotation rect", ".scatterlayer .point", ".nsewdrag")
        )
        assert len(names) >= 5
        assert len(points) == 9 * 5
        # A curve has its points on both sides, so what lies above all of them lies above the curve.
        assert max(bottom for _, _, _, bottom in names) < min(top for _, top, _, _ in points)
        assert all(area[0] <= left and right <= area[2] and area[1] <= top + 1 for left, top, right, _ in names)
        heights = sorted((top, bottom) for _, top, _, bottom in names)
        assert all(above[1] <= below[0] + 1 for above, below in pairwise(heights))
    assert page.problems == []


def test_choosing_cores_and_size_changes_what_is_shown(opened: Any, tmp_path: Path) -> None:
    plan = make_plan(arms=["ring", "gloo"], sizes=[1024, 4096], num_ranks=2, num_launches=8)
    far = 3.0
    stored = placed_run(
        plan,
        lambda launch, size, arm, round_: 1e-9 * size * noise(launch, arm, size, round_) * (far if round_ > 3 else 1.0),
        near_then_far,
    )
    page = shown(opened, tmp_path, stored)
    first = "document.getElementById('time').data[2].y[0]"
    near_time = page.run(first)
    page.page.select_option("#place", index=1)
    page.drawn()
    assert page.run(first) / near_time == pytest.approx(far, rel=0.05)
    page.page.select_option("#size", label="4 KB")
    page.drawn()
    slow = page.run("document.getElementById('order').data[0].y[0]")
    page.page.select_option("#size", label="1 KB")
    page.drawn()
    assert slow / page.run("document.getElementById('order').data[0].y[0]") == pytest.approx(4, rel=0.1)
    assert page.problems == []


def test_several_runs_have_scaling_and_a_table_of_what_to_run(opened: Any, tmp_path: Path) -> None:
    two, four = run(2), run(4)
    for launch in two.launches:
        for i, cell in enumerate(launch.cells):
            told = {"algorithm": cell.arm, "protocol": "ll" if cell.size_bytes < 1 << 18 else "simple"}
            launch.cells[i] = cell.model_copy(update={"executed": told})
    page = shown(opened, tmp_path, two, four)
    names = page.run("document.getElementById('scaling').data.map(t => t.name).filter(Boolean)")
    assert names == ["ring", "tree", "gloo"]
    best = page.run("[...document.querySelectorAll('#selection tbody tr')].map(r => r.cells[1].textContent)")
    assert best[0] == "ring (ring/ll)"
    assert best[-1] == "tree (tree/simple), gloo (gloo/simple)"
    assert page.run("document.querySelector('#selection tbody tr').cells[2].textContent") == "ring"
    page.page.locator(".tab").nth(1).click()
    page.drawn()
    assert "4 ranks" in page.page.locator("section.verdict:visible h2").inner_text()
    assert page.problems == []


def test_scaling_has_the_numbers_that_plot_draws(opened: Any, tmp_path: Path) -> None:
    stored = [run(4), run(2), run(8)]
    page = shown(opened, tmp_path, *stored)
    size, expected = scaling([view_of_run(one) for one in stored])
    page.page.select_option("#size", value=str(size))
    page.drawn()
    lines = page.run("document.getElementById('scaling').data.map(t => [t.name, t.x, t.y])")
    shares = page.run("document.getElementById('efficiency').data.map(t => t.y)")
    assert [name for name, _, _ in lines] == list(expected)
    for (name, ranks, rates), share in zip(lines, shares, strict=True):
        points = expected[name]
        assert ranks == [number for number, _ in points]
        assert rates == pytest.approx([rate / 1e9 for _, rate in points], rel=1e-5)
        assert share == pytest.approx([rate / points[0][1] for _, rate in points], rel=1e-5)
    rows = page.run(
        "[...document.querySelectorAll('#scaling-figures tbody tr')].map(r => Number(r.cells[3].dataset.value))"
    )
    assert rows == pytest.approx([rate for points in expected.values() for _, rate in points], rel=1e-5)
    assert page.problems == []


def test_runs_with_as_many_ranks_are_not_on_one_line(opened: Any, tmp_path: Path) -> None:
    page = shown(opened, tmp_path, run(2), run(4), run(4))
    assert page.run("document.getElementById('scaling').data.every(t => t.x.length === 2)")
    assert page.page.inner_text("#scaling-note").startswith("Not drawn")


def test_one_launch_has_no_interval_and_claims_nothing(opened: Any, tmp_path: Path) -> None:
    several = run()
    plan = several.run.plan.model_copy(update={"num_launches": 1})
    header = several.run.model_copy(update={"plan": plan})
    page = shown(opened, tmp_path, StoredRun(several.path, header, several.launches[:1], []))
    assert page.run("['busbw', 'time'].every(id => document.getElementById(id).data.every(t => !t.fill))")
    assert SINGLE in page.page.inner_text("#figures")
    assert page.problems == []


def test_hostile_text_of_a_run_never_runs(opened: Any, tmp_path: Path) -> None:
    stored = run(arms=(HOSTILE, "<b>b</b>", "gloo"))
    provenance = stored.run.provenance.model_copy(
        update={"host_name": HOSTILE, "command": [HOSTILE], "environment": {"X": HOSTILE}}
    )
    plan = stored.run.plan.model_copy(update={"left_out": {HOSTILE: HOSTILE}})
    header = stored.run.model_copy(update={"provenance": provenance, "plan": plan, "run_id": f"x{HOSTILE}"})
    extra = Extra(HOSTILE, headings=(HOSTILE,), rows=((HOSTILE,),))
    page = shown(opened, tmp_path, StoredRun(stored.path, header, stored.launches, []), title=HOSTILE, extras=[extra])
    page.run("Plotly.Fx.hover(document.getElementById('busbw'), [{curveNumber: 2, pointNumber: 0}])")
    page.run("Plotly.Fx.hover(document.getElementById('heatmap'), [{curveNumber: 0, pointNumber: 0}])")
    assert page.run("window.hostile === undefined")
    assert page.run("document.querySelectorAll('img[src=x], .verdicts b, td b').length") == 0
    assert page.problems == []


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [390, 1280])
def test_it_fits_phones_and_both_colour_schemes(opened: Any, tmp_path: Path, scheme: str, width: int) -> None:
    file = tmp_path / "report.html"
    file.write_text(page_of(run(), title="test"), encoding="utf-8")
    page = Page(opened, file.as_uri(), viewport={"width": width, "height": 800}, color_scheme=scheme)
    page.drawn()
    assert page.run("document.documentElement.scrollWidth") <= width
    background = page.run("getComputedStyle(document.body).backgroundColor")
    assert (background == "rgb(255, 255, 255)") == (scheme == "light")
    assert page.problems == []


def test_paper_is_light_and_everything_is_on_it(opened: Any, tmp_path: Path) -> None:
    file = tmp_path / "report.html"
    file.write_text(page_of(run(sizes=[1 << k for k in range(30)]), title="test"), encoding="utf-8")
    page = Page(opened, file.as_uri(), viewport={"width": 700, "height": 900}, color_scheme="dark")
    page.drawn()
    assert page.run("document.getElementById('heatmap').clientWidth") > 700  # a narrow screen scrolls
    assert page.run("document.getElementById('heatmap').data[0].text.every(one => one !== '')")
    page.page.emulate_media(media="print", color_scheme="dark")
    page.until("document.getElementById('heatmap').layout.font.color === '#000'")
    assert page.run("['busbw', 'heatmap'].every(id => document.getElementById(id)._fullLayout.width <= 700)")
    assert page.run("document.getElementById('heatmap').data[0].text.every(one => one === '')")  # they have no room
    assert page.run(
        "document.querySelector('#figures table').offsetWidth <= document.querySelector('main').clientWidth"
    )
    assert page.run("getComputedStyle(document.querySelector('#figures .scroll')).maxHeight") == "none"
    assert page.run("getComputedStyle(document.querySelector('.copy')).display") == "none"


NUM_DRAWN = "[...document.querySelectorAll('.chart')].filter(one => one.querySelector('.main-svg')).length"
# As if the page were opened anew, in one go, so that no chart is drawn in between.
EMPTY = "document.querySelectorAll('.chart').forEach(one => { Plotly.purge(one); }); report.choose(0)"
TOPS = "[...document.querySelectorAll('section')].map(one => one.offsetTop)"


def test_what_is_on_the_screen_is_drawn_first_and_nothing_moves(opened: Any, tmp_path: Path) -> None:
    arms = tuple("abcdefg")  # whose legend makes a chart higher than others
    page = shown(opened, tmp_path, run(2, arms), run(4, arms))
    page.run(
        "window.order = []; const look = () => document.querySelectorAll('.chart:has(.main-svg)').forEach("
        "one => { if (!order.includes(one.id)) order.push(one.id); });"
        "new MutationObserver(look).observe(document, { childList: true, subtree: true })"
    )
    drawn, state, before = page.run(f"{EMPTY}; [{NUM_DRAWN}, document.documentElement.dataset.charts, {TOPS}]")
    assert (drawn, state) == (0, "drawing")
    page.drawn()
    assert page.run("order.slice(0, 2)") == ["busbw", "time"]
    assert page.run(NUM_DRAWN) == page.run("document.querySelectorAll('section:not([hidden]) .chart').length") == 8
    assert page.run(TOPS) == before
    # Whoever is elsewhere by a link, a key or a search sees what is there first.
    page.run(f"document.getElementById('scaling').scrollIntoView(); {EMPTY}; order.length = 0")
    page.drawn()
    assert set(page.run("order.slice(0, 2)")) == {"scaling", "efficiency"}
    assert page.run(TOPS) == before
    assert page.problems == []


def test_a_link_into_the_page_leads_to_its_chart(opened: Any, tmp_path: Path) -> None:
    file = tmp_path / "report.html"
    file.write_text(page_of(run(2), run(4), title="test"), encoding="utf-8")
    page = Page(opened, f"{file.as_uri()}#distribution", viewport={"width": 1000, "height": 600})
    page.drawn()
    assert abs(page.run("document.getElementById('distribution').getBoundingClientRect().top")) < 2


def test_paper_does_not_wait(opened: Any, tmp_path: Path) -> None:
    page = shown(opened, tmp_path, run(2), run(4))
    before, after = page.run(
        f"{EMPTY}; const before = {NUM_DRAWN}; window.dispatchEvent(new Event('beforeprint')); [before, {NUM_DRAWN}]"
    )
    assert (before, after) == (0, 8)
    page.page.emulate_media(media="print")
    page.until("document.getElementById('busbw').layout.width > 0")
    assert page.run(f"{EMPTY}; {NUM_DRAWN}") == 8
    assert page.problems == []


def test_a_chart_that_fails_does_not_keep_the_others_back(opened: Any, tmp_path: Path) -> None:
    page = shown(opened, tmp_path, run(2))
    page.run(f"{EMPTY}; drawSoon(document.getElementById('busbw'), () => {{ throw new Error('told'); }})")
    page.drawn()
    assert page.run(f"[{NUM_DRAWN}, document.getElementById('busbw').children.length]") == [5, 0]
    assert any("told" in one for one in page.problems)


def test_a_page_without_charts_is_drawn(opened: Any, tmp_path: Path) -> None:
    stored = run()
    page = shown(opened, tmp_path, StoredRun(stored.path, stored.run, [], []))
    assert page.run(NUM_DRAWN) == 0
    assert page.problems == []


def test_plotly_is_read_once() -> None:
    pytest.importorskip("plotly")
    head = page_of(run(), title="test").partition("plotly.js v")[2][:1000]
    assert ", (() => {" in head
    umd = "(function(f) { f(); }(this, () => {\n1;\n}));\n"
    assert parsed_once(umd) == "(function(f) { f(); }(this, (() => {\n1;\n})));\n"
    for other in ("!function(f) { f(); }(function() {\n1;\n});", "(function(f) {}(this, () => {\n1;\n})); more();"):
        assert parsed_once(other) == other


def test_ten_runs_of_thirty_sizes_and_six_arms_are_small() -> None:
    sizes = [1 << k for k in range(30)]
    stored = run(arms=("a", "b", "c", "d", "e", "f"), sizes=sizes)
    text = report_page([view_of_run(stored)] * 10, title="large")
    assert len(text.encode()) < 8_000_000


def test_the_command_and_what_it_refuses(tmp_path: Path) -> None:
    runner = CliRunner()
    assert runner.invoke(app, ["report", "last", "--runs", str(tmp_path)]).exit_code == 2
    with pytest.raises(UsageError):
        report_page([], title="none")
