"""The report of trainings in a browser: the summary's numbers, noise is grey, an arm that trained something else is
marked, and a trace stands beside them."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from browser_support import Page, browser
from cli_support import invoke
from comparison_support import noise, stored_run
from joblog_support import call_line, step_line, whole_rank
from lab_support import make_plan
from needed import needs
from train_support import plan_of, training_run

from ringtree.judge.training import summarise_training
from ringtree.results import CalledCollective, RecordedCall, RecordedStep, RunWriter, StoredRun
from ringtree.show.training_page import read_trainings, stored_data, trace_extra, training_page
from ringtree.train.arms import ALONE

pytest.importorskip("torch")
needs("transformers")
needs("plotly")

ARMS = "gloo,ringtree:ring,ringtree:auto,ringtree:two_shot"
GREY, WHITE = "rgb(217,217,217)", "rgb(255,255,255)"


def steps(block: int, model: str, ranks: int, arm: str, rank: int) -> float:
    """Ring is slower and auto faster on two ranks and more, two_shot differs from launch to launch: ±30 % of noise."""
    step = {1: 0.100, 2: 0.125, 4: 0.150}[ranks] * noise(block, model, ranks, arm)
    if arm == ALONE:
        return 0.08 * (1 + 0.05 * rank)
    factor = {"ringtree:ring": 1.2, "ringtree:auto": 0.8}.get(arm, 1.0) if ranks > 1 else 1.0
    return step * factor * (1 + (0.3 if block % 2 else -0.3) * (arm == "ringtree:two_shot"))


def training() -> StoredRun:
    return training_run(plan_of(models="qwen2.5,mixtral", arms=ARMS, ranks="1,2,4", launches=8), steps)


@pytest.fixture(scope="module")
def opened() -> Iterator[Any]:
    with browser() as one:
        yield one


def shown(opened: Any, tmp_path: Path, *runs: StoredRun, **options: Any) -> Page:
    file = tmp_path / "report.html"
    file.write_text(training_page([stored_data(one) for one in runs], **options), encoding="utf-8")
    page = Page(opened, file.as_uri(), viewport={"width": 1280, "height": 900})
    page.drawn()
    return page


def test_charts_show_the_summary(opened: Any, tmp_path: Path) -> None:
    stored = training()
    summary = summarise_training(stored)
    page = shown(opened, tmp_path, stored)
    bars = page.run("document.getElementById('rates-0-0').data.map(t => [t.name, t.y])")
    assert page.page.locator("[id^=rates-0-]").count() == 2
    for arm, rates in bars:
        cells = [one for one in summary.cells if (one.model, one.arm) == ("qwen2.5 tiny", arm)]
        assert rates == pytest.approx([one.tokens_per_second for one in cells], rel=1e-5)
    lines = page.run("document.getElementById('scaling-0-1').data.map(t => [t.name, t.x, t.y])")
    base = summary.find("mixtral tiny", 1, "gloo")
    assert base is not None
    assert lines[-1][0] == "ideal"
    assert lines[-1][1:] == [[1, 2, 4], pytest.approx([(base.tokens_per_second or 0) * n for n in (1, 2, 4)], rel=1e-5)]
    shares = page.run("document.getElementById('efficiency-0-1').data[0].y")
    cells = [one for one in summary.cells if (one.model, one.arm) == ("mixtral tiny", "gloo")]
    assert shares == pytest.approx([one.efficiency for one in cells], rel=1e-5)
    parts = page.run("document.getElementById('parts-0-0').data.map(t => [t.name, t.x])")
    for name, values in parts:
        cells = [one for one in summary.cells if one.model == "qwen2.5 tiny"]
        assert values == pytest.approx([1e3 * getattr(one.parts, name) for one in cells], rel=1e-5, abs=1e-9)
    rows = page.run("document.querySelectorAll('#figures-0 tbody tr').length")
    assert rows == len(summary.cells)
    assert page.page.locator(".verdicts li").count() == len(summary.verdicts)
    assert page.problems == []
    assert page.requests == [page.page.url]


def recorded(stored: StoredRun) -> StoredRun:
    """The run, in which gloo's ranks recorded a step of 0.1 s that waits for an all-reduce of 8 MB from 0.06 on."""
    call = RecordedCall(
        collective="all_reduce", group="0", group_size=2, size_bytes=8 << 20, begin=0.02, end=0.1, exposed=[(0.06, 0.1)]
    )
    called = [CalledCollective(collective="all_reduce", calls=1, size_bytes=8 << 20)]
    for launch in stored.launches:
        for n, cell in enumerate(launch.cells):
            if cell.arm == "gloo" and len(cell.times) == 2 and cell.trained is not None:
                update = {"recorded": [RecordedStep(seconds=0.1, calls=[call])] * 2, "collectives": called}
                trained = cell.trained.model_copy(update=update)
                launch.cells[n] = cell.model_copy(update={"trained": trained})
    return stored


def test_a_recorded_step_is_a_timeline_and_divides_exposed_time(opened: Any, tmp_path: Path) -> None:
    stored = recorded(training())
    cell = summarise_training(stored).find("qwen2.5 tiny", 2, "gloo")
    assert cell is not None
    assert cell.parts is not None
    page = shown(opened, tmp_path, stored)
    bars = page.run("document.getElementById('timeline-0-0').data.map(t => [t.name, t.base, t.x])")
    assert bars == [
        ["compute", [0], [pytest.approx(60)]],
        ["exposed all_reduce", [pytest.approx(60)], [pytest.approx(40)]],
        ["in flight", [pytest.approx(20)], [pytest.approx(80)]],
    ]
    parts = dict(page.run("document.getElementById('parts-0-0').data.map(t => [t.name, t.x])"))
    names = page.run("document.getElementById('parts-0-0').data[0].y")
    at = names.index("2 ranks, gloo")
    assert parts["exposed"][at] == 0
    assert parts["exposed all_reduce"][at] == pytest.approx(1e3 * cell.parts.exposed, rel=1e-5)
    assert sum(values[at] for values in parts.values()) == pytest.approx(1e3 * cell.parts.step, rel=1e-5)
    rows = page.run("[...document.querySelectorAll('#collectives-0 tbody tr')].map(r => r.innerText.split(/\\s*\\t/))")
    assert [row[2:6] for row in rows] == [["gloo", "all_reduce", "1", "8 MB"]] * 2  # of each model
    assert page.problems == []
    plain = shown(opened, tmp_path, training())
    for chart in ("timeline-0-0", "collectives-0"):
        assert plain.run(f"document.getElementById('{chart}').closest('section').hidden")
    assert "no step was recorded" in plain.page.inner_text("main")


def test_all_figures_fit_a_page_and_scroll_in_a_narrow_one(opened: Any, tmp_path: Path) -> None:
    """Every column can be reached: cut off at the right, one looks like the last."""
    page = shown(opened, tmp_path, training())
    widths = (
        "(() => { const e = document.querySelector('#figures-0 .scroll'); return [e.scrollWidth, e.clientWidth]; })()"
    )
    needed, there = page.run(widths)
    assert 0 < needed <= there
    page.page.set_viewport_size({"width": 600, "height": 900})
    needed, there = page.run(widths)
    assert needed > there
    hidden = page.run(
        "(() => { const e = document.querySelector('#figures-0 .scroll'); e.scrollLeft = e.scrollWidth; "
        "const right = (one) => one.getBoundingClientRect().right; "
        "return right(e.querySelector('thead th:last-child')) - right(e); })()"
    )
    assert hidden <= 1


def test_what_is_not_shown_to_differ_is_grey_however_large(opened: Any, tmp_path: Path) -> None:
    stored = training()
    verdicts = {
        (one.arm, one.model, one.num_ranks): one.versus_reference.verdict
        for one in summarise_training(stored).cells
        if one.versus_reference is not None
    }
    page = shown(opened, tmp_path, stored)
    colours = page.run("document.getElementById('heatmap-0').layout.shapes.map(s => s.fillcolor)")
    for (where, verdict), colour in zip(verdicts.items(), _by_arm(verdicts, colours), strict=True):
        assert (colour == GREY) == (verdict == "inconclusive"), where
        assert (colour == WHITE) == (verdict == "equivalent"), where
    assert {verdicts["ringtree:two_shot", "qwen2.5 tiny", 2]} == {"inconclusive"}
    assert set(verdicts.values()) == {"inconclusive", "faster", "slower", "equivalent"}


def _by_arm(verdicts: dict[tuple[str, str, int], str], colours: list[str]) -> list[str]:
    """The page goes arm by arm, the summary place by place."""
    arms = list(dict.fromkeys(arm for arm, _, _ in verdicts))
    places = list(dict.fromkeys((model, ranks) for _, model, ranks in verdicts))
    return [colours[arms.index(arm) * len(places) + places.index((model, ranks))] for arm, model, ranks in verdicts]


def test_an_arm_that_trained_something_else_is_marked_and_not_drawn(opened: Any, tmp_path: Path) -> None:
    broken = [
        one.model_copy(update={"verified": False, "error": "<b>lost a gradient</b>"})
        if one.arm == "ringtree:auto"
        else one
        for one in training().launches[0].cells
    ]
    stored = training()
    stored.launches[0].cells[:] = broken
    page = shown(opened, tmp_path, stored)
    assert "Yellow: disqualified." in page.page.inner_text("main")
    texts = page.run("document.getElementById('heatmap-0').data[0].text")
    assert texts.count("✗ disqualified") == 1
    auto = page.run("document.getElementById('rates-0-0').data.find(t => t.name === 'ringtree:auto').x.length")
    assert auto == 2  # of three
    assert page.run("document.querySelectorAll('td b, li b').length") == 0
    assert page.problems == []


def test_a_trace_stands_beside_it_and_the_command_refuses_a_mixture(tmp_path: Path) -> None:
    run = training()
    writer = RunWriter(tmp_path, run.run)
    for launch in run.launches:
        writer.append(launch)
    writer.close()
    trace = tmp_path / "job-trace"
    calls = [call_line(0, 0.1, 0.2, (0.1, 0.1)), call_line(1, 1.1, 1.2, (1.1, 1.1), step=1)]
    whole_rank(trace, calls, [step_line(0, 0.0, 1.0, (0.0, 1.0)), step_line(1, 1.0, 2.0, (1.0, 2.0))])
    extra = trace_extra(trace, [stored_data(run)])
    assert extra.lines[0] == "traced: train"
    assert not [line for line in extra.lines if line.startswith("note")]  # the sweep has one rank, too
    swept = training_run(plan_of(arms="gloo", ranks="2,4", launches=1), steps)
    noted = trace_extra(trace, [stored_data(swept)]).lines[-1]
    assert noted == "note: the trace is of 1 rank, the training of 2, 4: they are not the same job"
    assert "which may overlap. Exposed" in extra.below[0]
    assert extra.rows[0][:3] == ("all_reduce (gloo)", "4 KB", "float32")
    output = tmp_path / "page.html"
    result = invoke("report", run.run.run_id, "--runs", tmp_path, "--trace", trace, "-o", output)
    assert result.exit_code == 0, result.stderr
    text = output.read_text()
    assert "Collectives of the traced job job-trace" in text
    assert "4 KB" in text
    plain = stored_run(make_plan(arms=["gloo"]), [])
    other = RunWriter(tmp_path, plain.run.model_copy(update={"run_id": "plain"}))
    other.close()
    assert read_trainings(["plain"], tmp_path) == []
    result = invoke("report", run.run.run_id, "plain", "--runs", tmp_path, "-o", output)
    assert result.exit_code == 2
    assert "each has a report of its own" in result.stderr


def test_a_script_counts_in_units_of_its_own() -> None:
    stored = training()
    asked = stored.run.plan.training
    assert asked is not None
    assert stored_data(stored)["unit"] == "tokens/s"
    plan = stored.run.plan.model_copy(update={"training": asked.model_copy(update={"strategy": "script"})})
    scripted = stored_data(dataclasses.replace(stored, run=stored.run.model_copy(update={"plan": plan})))
    page = training_page([scripted])
    assert "<h2>Units/s of the script of qwen2.5 tiny by ranks</h2>" in page
    assert "In units/s of the script." in page
