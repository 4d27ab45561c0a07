"""`ringtree explain` for real: a tiny ladder with processes, its JSON and picture, and the same again from disk.

For: the path from the command line to the stored runs. Not for: figures (test_explain_ladder.py) or layout
(test_explain_views.py).
"""

from __future__ import annotations

import importlib.util
from pathlib import Path
from xml.etree import ElementTree

import pytest
from lab_support import start_ringtree
from typer.testing import CliRunner

from ringtree.cli import app
from ringtree.explain.ladder_record import Ladder
from ringtree.explain.pilot import Decided
from ringtree.explain.plan import Asked, ladder_plan, pilot_plan
from ringtree.results import list_runs, read_run
from ringtree.show.plot import figure

HAS_TORCH = importlib.util.find_spec("torch") is not None
HAS_MATPLOTLIB = importlib.util.find_spec("matplotlib") is not None


def run(*arguments: str) -> tuple[int, str, str]:
    process = start_ringtree("explain", *arguments)
    try:
        out, err = process.communicate(timeout=180)
    finally:
        process.kill()
    return process.returncode, out, err


def test_a_ladder_is_measured_stored_and_shown_again(tmp_path: Path) -> None:
    runs, record = tmp_path / "runs", tmp_path / "ladder.json"
    code, out, err = run(
        *("--sizes", "4K", "--launches", "1", "--budget", "10s", "--seed", "7"),
        *("--runs", str(runs), "--json", str(record)),
    )
    assert code == 0, err
    stored = [read_run(listing.path) for listing in list_runs(runs)]
    assert sorted(one.run.plan.purpose for one in stored) == ["comparison", "pilot"]
    assert {one.run.plan.preset for one in stored} == {"explain"}
    ladder = Ladder.model_validate_json(record.read_text())
    assert (ladder.num_launches, ladder.seed, ladder.through) == (1, 7, "torch" if HAS_TORCH else "numpy")
    measured = [rung.key for panel in ladder.panels for rung in panel.rungs if rung.time is not None]
    assert set(measured) >= {"native", "memory", "fused", "slices", "algorithm", "buffers"}
    assert ("start" in measured) == HAS_TORCH
    for panel in ladder.panels:  # near and far cores apart; one of them may have too few rounds for any time
        for one in panel.rungs:
            assert (one.why is None) == (one.time is not None), one.key
    assert any(panel.total is not None for panel in ladder.panels)
    assert "send-recv:ring" in out or not HAS_TORCH
    assert "textbook-fused:ring" in out
    if HAS_MATPLOTLIB:
        drawn = Path(ladder.run_path) / "ladder.svg"
        assert f"picture: {drawn}" in err
        ElementTree.parse(drawn)

    again = CliRunner().invoke(app, ["explain", "--show", "last", "--runs", str(runs)], env={"COLUMNS": "80"})
    assert again.exit_code == 0, again.output
    assert again.stdout.splitlines()[0] == out.splitlines()[0]
    pilot = CliRunner().invoke(app, ["explain", "--show", ladder.pilot, "--runs", str(runs)])
    assert pilot.exit_code == 2
    assert "is a pilot: name the run that followed it" in pilot.stderr


def test_matplotlib_is_missed_in_one_line(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None)
    assert figure.why_no_figure() == figure.HOW_TO_GET_MATPLOTLIB
    result = CliRunner().invoke(app, ["explain", "--picture", str(tmp_path / "x.svg"), "--runs", str(tmp_path)])
    assert result.exit_code == 2
    (line,) = result.stderr.splitlines()
    assert "pip install 'ringtree[report]'" in line


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("--ranks", "1"), "at least 2"),
        (("--algorithm", "rings"), "unknown arm 'rings/simple'"),
        (("--sizes", "3"), "multiple of 4"),
        (("--budget", "2s"), "--budget 2s is too short: 8 launches take at least about"),
        (("--budget", "soon"), "invalid duration"),
        (("--picture", "x.gif"), ".svg, .png, .pdf"),
        (("--show", "nothing"), "no run 'nothing'"),
    ],
)
def test_mistakes_are_one_line_and_exit_code_2(tmp_path: Path, arguments: tuple[str, ...], said: str) -> None:
    result = CliRunner().invoke(app, ["explain", *arguments, "--runs", str(tmp_path)])
    assert result.exit_code == 2
    (line,) = result.stderr.strip().splitlines()
    assert said in line
    assert result.stdout == ""


def test_plans_keep_their_time() -> None:
    asked = Asked(sizes="4K,1M", seed=3)
    pilot = pilot_plan(asked)
    assert (pilot.purpose, pilot.num_launches) == ("pilot", 2)
    decided = Decided({4096: "ll128", 1 << 20: "simple"}, {4096: None, 1 << 20: None})
    plan = ladder_plan(asked, decided, "pilot", 100.0)
    labels = [arm.label for arm in plan.arms]
    assert "ring/ll128" in labels
    assert labels.index("textbook-tcp:ring") < labels.index("ring/simple") < labels.index("auto/shared")
    assert (plan.pilot, plan.seed, plan.num_launches) == ("pilot", 3, 8)
    longer = ladder_plan(asked, decided, "pilot", 600.0)
    assert longer.num_launches > 8
    assert ladder_plan(Asked(launches=3, seed=3), decided, "pilot", 60.0).num_launches == 3


def test_the_program_says_what_it_does() -> None:
    said = CliRunner().invoke(app, ["explain", "--help"])
    assert said.exit_code == 0
    assert "each with one change from the one before" in " ".join(said.stdout.split())
