"""Effects of factors as they are shown: the table of the terminal, --json, the report, what a dry run says.

For: ringtree.show.effects_table and where it stands. Not for: the effects (test_lab_factors.py).
"""

from __future__ import annotations

import importlib.util
import io
import json
import math

import pytest
from comparison_support import NUM_NEAR, near_then_far, placed_run, printed
from factors_support import design_plan, design_run
from rich.console import Console

from ringtree.compare.dry_run import print_plan
from ringtree.judge.comparison import Comparison
from ringtree.judge.summary import summarise
from ringtree.show.effects_table import TITLE, effect_rows, headings
from ringtree.show.run_page import report_page
from ringtree.show.views import view_of_run

KB, MB = 1 << 10, 1 << 20


def table(comparison: Comparison, width: int = 100, verbose: bool = False) -> list[str]:
    """The lines of the effects' table."""
    lines = printed(comparison, width, verbose)
    first = lines.index(TITLE) + 1
    last = next(
        index for index, line in enumerate(lines) if index > first and line.startswith(("all figures", "a cell"))
    )
    return lines[first:last]


def halved(num_launches: int = 8) -> Comparison:
    """A=2 halves the time; B=y takes 10 % longer in every other launch, and is as much faster in the ones between."""
    plan = design_plan(["A=1,2", "B=x,y"], sizes=(KB, MB), num_launches=num_launches)
    return summarise(
        design_run(
            plan,
            lambda launch, size, env: (
                (0.5 if env["A"] == "2" else 1.0) * (math.exp(0.1 * (-1) ** launch) if env["B"] == "y" else 1.0)
            ),
        )
    )


def test_a_whole_table() -> None:
    # B's effect is 0.1 in four launches and -0.1 in four: mean 0. Of the means of all subsets 15 are -0.1, so that the
    # 6th smallest, where the interval ends, is: exp(-0.1) - 1 = -9.5 %, and exp(0.1) - 1 = 11 % at the other end.
    comparison = halved()
    needed = {one.versus_reference.launches_needed for one in comparison.effects} - {None}
    (launches,) = needed
    lines = [line.split("  ") for line in table(comparison)]
    texts = [[text.strip() for text in line if text.strip()] for line in lines]
    assert texts[0] == ["size", "effect", "time", "interval", "verdict"]
    assert texts[2] == ["1 KB", "A 1→2", "-50%", "-50% to -50%", "▲ faster"]
    assert texts[3] == ["B x→y", "0.0%", "-9.5% to +11%", f"? inconclusive (about {launches} launches)"]
    assert texts[4] == ["A × B", "0.0%", "0.0% to 0.0%", "= equivalent"]
    assert texts[6][0] == "1 MB", "sizes are parted by a line, and named once"
    assert len(texts) == 9


def test_too_few_launches_have_no_verdict_and_one_no_interval() -> None:
    assert effect_rows(halved(2))[0][-1] == "? no verdict (at least 6 launches)"
    assert effect_rows(halved(1))[0][2:] == ["-50%", "1 launch", "? no verdict (at least 6 launches)"]


def test_a_fraction_has_a_column_for_what_else_it_could_be() -> None:
    comparison = summarise(design_run(design_plan(["A=1,2", "B=x,y", "C=1,2"], "1/2"), lambda *_: 1.0))
    assert headings(comparison)[-1] == "could equally be"
    assert [row[-1] for row in effect_rows(comparison)] == ["−B × C", "−A × C", "−A × B"]


def test_placements_have_rows_of_their_own() -> None:
    plan = design_plan(["A=1,2"])
    run = placed_run(
        plan,
        lambda launch, size, arm, round_: (2.0 if round_ >= NUM_NEAR else 1.0) * (1.5 if arm.endswith("2") else 1.0),
        near_then_far,
    )
    comparison = summarise(run)
    assert headings(comparison)[1] == "cores"
    assert [(row[1], row[3]) for row in effect_rows(comparison)] == [("near", "+50%"), ("far", "+50%")]
    assert "A 1→2: 1.50× slower at 1 KB on near and far cores alike" in comparison.verdicts


def test_the_short_output_leaves_single_arms_to_the_table() -> None:
    comparison = halved()
    short, whole = printed(comparison, 200, verbose=False), printed(comparison, 200)
    assert sum(" is " in line and "x@A=1@B=x" in line for line in short) == 0
    assert sum(" is " in line and "x@A=1@B=x" in line for line in whole) == 2, "of the arms with A=2"
    assert "A 1→2: 2.0× faster at 1 KB and 1 MB" in short


def test_a_comparison_without_a_design_has_no_such_table() -> None:
    run = design_run(design_plan(["A=1,2"]), lambda *_: 1.0)
    plain = summarise(run).model_copy(update={"effects": [], "design": None})
    assert TITLE not in printed(plain, 100)


def test_json_has_the_design_and_its_effects() -> None:
    said = json.loads(halved().model_dump_json())
    assert said["design"]["factors"][1] == {"variable": "B", "values": ["x", "y"]}
    assert [one["effect"] for one in said["effects"]] == ["A 1→2", "B x→y", "A × B"] * 2
    assert said["effects"][0]["versus_reference"]["ratio"] == pytest.approx(0.5)
    assert Comparison.model_validate(said).effects == halved().effects


@pytest.mark.skipif(importlib.util.find_spec("plotly") is None, reason="the report needs plotly")
def test_the_report_has_the_table_and_text_stays_text() -> None:
    hostile = "<b>1</b>"
    run = design_run(design_plan(["A=1,2", f"B=x,{hostile}"]), lambda launch, size, env: float(env["A"]))
    text = report_page([view_of_run(run)], title="test")
    before_data = text.partition('<script type="application/json"')[0]
    assert f"<caption>{TITLE}</caption>" in before_data
    assert "<td>A 1→2</td><td>2.0×</td>" in before_data
    assert hostile not in text
    assert "B x→&lt;b&gt;1&lt;/b&gt;" in before_data


def test_a_dry_run_says_what_the_design_can_tell() -> None:
    console = Console(file=io.StringIO(), width=200)
    plan = design_plan(["A=1,2", "B=1,2", "C=1,2", "D=1,2"], "1/2")
    assert plan.design is not None
    noted = plan.design.model_copy(update={"notes": ["A does nothing in 2 of 8 arms: off"]})
    print_plan(console, plan.model_copy(update={"design": noted}))
    assert isinstance(console.file, io.StringIO)
    lines = console.file.getvalue().splitlines()
    assert (
        "design: 4 factors, 1/2 of all combinations (resolution IV): 8 arms; confounded: A × B with C × D; "
        "A × C with B × D; A × D with B × C"
    ) in lines
    assert "A does nothing in 2 of 8 arms: off" in lines
