"""The report of trainings whose rates are read from a table: what is drawn, and what of it may be claimed.

For: single runs, repeated rows, rates of zero and below. Not for: trainings that ran (test_report_training.py).
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from browser_support import Page, browser
from needed import needs

from ringtree.errors import UsageError
from ringtree.show.training_page import read_trainings, training_page

needs("plotly")

GREY = "rgb(217,217,217)"


@pytest.fixture(scope="module")
def opened() -> Iterator[Any]:
    with browser() as one:
        yield one


TABLE = """model,nodes,gpus,default_tokens_per_s,tree_tokens_per_s,runs_per_cell
big,1,8,1000,,1
big,2,16,1900,1800,1
"""


def test_an_imported_table_is_drawn_and_claims_nothing(opened: Any, tmp_path: Path) -> None:
    table = tmp_path / "published.csv"
    table.write_text(TABLE)
    (data,) = read_trainings([str(table)], tmp_path)
    file = tmp_path / "report.html"
    file.write_text(training_page([data]), encoding="utf-8")
    page = Page(opened, file.as_uri(), viewport={"width": 1280, "height": 900})
    page.drawn()
    bars = page.run("document.getElementById('rates-0-0').data.map(t => [t.name, t.x, t.y])")
    assert bars == [
        ["default", ["8 ranks on 1 host", "16 ranks on 2 hosts"], [1000, 1900]],
        ["tree", ["16 ranks on 2 hosts"], [1800]],
    ]
    assert page.run("document.getElementById('efficiency-0-0').data[0].y") == pytest.approx([1, 0.95])
    assert page.run("document.getElementById('heatmap-0').layout.shapes.map(s => s.fillcolor)") == [GREY]
    assert page.run("document.getElementById('heatmap-0').data[0].text") == ["-5.3%"]
    assert "single run: nothing can be claimed" in page.page.inner_text(".verdicts li")
    assert "single-runs-compared" in page.page.inner_text(".findings")
    assert page.run("document.getElementById('parts-0-0').closest('section').hidden")
    assert page.problems == []


def imported(tmp_path: Path, text: str) -> Any:
    table = tmp_path / "published.csv"
    table.write_text(text)
    (data,) = read_trainings([str(table)], tmp_path)
    return data


HEADINGS = "model,nodes,gpus,default_tokens_per_s,tree_tokens_per_s,runs_per_cell\n"


def test_a_rate_of_nothing_is_left_out_and_said(tmp_path: Path) -> None:
    data = imported(tmp_path, f"{HEADINGS}big,1,8,1000,-5,1\nbig,2,16,1900,0,1\nbig,4,32,0,3800,1\n")
    drawn = [(one["num_ranks"], one["arm"], one["tokens_per_second"]) for one in data["cells"]]
    assert drawn == [(8, "default", 1000), (16, "default", 1900), (32, "tree", 3800)]
    assert data["caveats"][:3] == [
        "left out: big, 8 ranks, tree: its rate is printed as -5",
        "left out: big, 16 ranks, tree: its rate is printed as 0",
        "left out: big, 32 ranks, default: its rate is printed as 0",
    ]
    with pytest.raises(UsageError, match="no rate in it is above 0"):
        imported(tmp_path, f"{HEADINGS}big,1,8,0,0,1\n")


@pytest.mark.parametrize(
    ("runs", "launches", "claimed"),
    [
        (("1", "1"), [1, 1, 1, 1], "single run: nothing can be claimed; another run of the same may differ as much"),
        (("5", "5"), [5, 5, 5, 5], "5 runs of each, but no interval: nothing can be claimed"),
        (("1", "3"), [1, 1, 3, 3], "1 to 3 runs of each, but no interval: nothing can be claimed"),
        (
            ("", "5"),
            [None, None, 5, 5],
            "5 runs of some and one value of others, but no interval: nothing can be claimed",
        ),
        (("", ""), [None] * 4, "one value of each, and no interval: nothing can be claimed"),
    ],
)
def test_the_number_of_runs_is_what_the_table_says(
    tmp_path: Path, runs: tuple[str, str], launches: list[int | None], claimed: str
) -> None:
    data = imported(tmp_path, f"{HEADINGS}big,1,8,1000,990,{runs[0]}\nbig,2,16,1900,1800,{runs[1]}\n")
    assert [one["num_launches"] for one in data["cells"]] == launches
    assert data["verdicts"][0] == claimed
    told = " ".join(map(str, (data["verdicts"], data["caveats"], data["rates"], data["findings"])))
    assert ("single run" in told) == (launches == [1] * 4)


REPEATED = "model,gpus,run,default_tokens_per_s,tree_tokens_per_s\n"


def repeated(*rates: tuple[int, int], model: str = "big", gpus: int = 8) -> str:
    return "".join(f"{model},{gpus},{run},{one},{other}\n" for run, (one, other) in enumerate(rates))


def test_rows_that_repeat_each_other_are_launches(opened: Any, tmp_path: Path) -> None:
    """Four and four that don't overlap are one split of 70 in each direction: below half of 5 %."""
    rows = repeated((1000, 1100), (1010, 1110), (1020, 1130), (990, 1120))
    data = imported(tmp_path, f"{REPEATED}{rows}{repeated((1900, 1890), gpus=16)}")
    assert [(one["num_ranks"], one["arm"], one["num_launches"]) for one in data["cells"]] == [
        (8, "default", 4),
        (8, "tree", 4),
        (16, "default", None),
        (16, "tree", None),
    ]
    first, tree, _, alone = data["cells"]
    assert first["tokens_per_second"] == 1005
    assert (first["rate"]["low"], first["rate"]["high"]) == (990, 1020)
    assert first["rate"]["label"] == "range of 4 launches, covers 87.5 %"
    versus = tree["versus_reference"]
    assert versus["verdict"] == "faster"
    assert 1100 / 1020 <= 1 / versus["high"] <= 1 / versus["ratio"] <= 1 / versus["low"] <= 1130 / 990
    assert (alone["rate"], alone["versus_reference"]["verdict"]) == (None, "no interval")
    assert data["verdicts"][0].startswith("big, 8 ranks: tree vs default: faster, +11% tokens/s (+")
    file = tmp_path / "report.html"
    file.write_text(training_page([data]), encoding="utf-8")
    page = Page(opened, file.as_uri(), viewport={"width": 1280, "height": 900})
    page.drawn()
    assert page.run("document.getElementById('rates-0-0').data[0].error_y.array") == [15, 0]
    assert page.run("document.getElementById('heatmap-0').layout.shapes.map(s => s.fillcolor)")[0] != GREY
    assert page.problems == []


@pytest.mark.parametrize("rows", [((1000, 1100), (1010, 1110), (1020, 1130)), ((1000, 1001), (1010, 990)) * 4])
def test_repetitions_that_show_nothing_are_not_claimed(tmp_path: Path, rows: tuple[tuple[int, int], ...]) -> None:
    data = imported(tmp_path, REPEATED + repeated(*rows))
    assert data["cells"][1]["versus_reference"]["verdict"] == "not shown"
    (line,) = data["verdicts"]
    assert "not shown to be more than the scatter between runs" in line


def test_rows_of_other_configurations_do_not_repeat_each_other(tmp_path: Path) -> None:
    table = tmp_path / "published.csv"
    table.write_text("model,gpus,batch,default_tokens_per_s\nbig,8,16,1000\nbig,8,32,1200\n")
    assert read_trainings([str(table)], tmp_path) == []
    # Of settings a fractional one and one in words, which is not read; and a word that is.
    for heading, one, other in (
        ("compress", 0.01, 0.1),
        ("optimizer", "adam", "sgd"),
        ("dtype", "bfloat16", "float32"),
    ):
        table.write_text(f"model,gpus,{heading},default_tokens_per_s\nbig,8,{one},1000\nbig,8,{other},1200\n")
        assert read_trainings([str(table)], tmp_path) == [], heading
    # What was measured beside the rate may differ, also if one is a whole number.
    table.write_text("model,gpus,loss,default_tokens_per_s\nbig,8,2,1000\nbig,8,2.25,1200\n")
    (data,) = read_trainings([str(table)], tmp_path)
    assert [one["num_launches"] for one in data["cells"]] == [2]


def test_places_are_told_apart_by_all_that_a_table_says(tmp_path: Path) -> None:
    """On one node and on two; what repeats is judged against the reference of the same."""
    headings = "model,nodes,gpus,run,default_tokens_per_s,tree_tokens_per_s\n"
    rows = [(1, 1000 + run, 1100 + run) for run in range(4)] + [(2, 700 + run, 500 + run) for run in range(4)]
    data = imported(tmp_path, headings + "".join(f"big,{n},8,{run},{x},{y}\n" for run, (n, x, y) in enumerate(rows)))
    cells = {(one["model"], one["arm"]): one for one in data["cells"]}
    assert {key: one["num_launches"] for key, one in cells.items()} == dict.fromkeys(
        [("big, hosts 1", "default"), ("big, hosts 1", "tree"), ("big, hosts 2", "default"), ("big, hosts 2", "tree")],
        4,
    )
    assert 1 / cells["big, hosts 1", "tree"]["versus_reference"]["ratio"] == pytest.approx(1.1, rel=0.01)
    assert 1 / cells["big, hosts 2", "tree"]["versus_reference"]["ratio"] == pytest.approx(500 / 700, rel=0.01)
    assert data["hosts"] == {}  # eight ranks have no one number of hosts


def test_places_share_no_launches(tmp_path: Path) -> None:
    """Three and three are one split of 20, which shows nothing, whatever is judged beside them."""
    rows = repeated(*((1000 + run, 1300 + run) for run in range(6)))
    few = repeated(*((1900 + run, 2500 + run) for run in range(3)), gpus=16)
    data = imported(tmp_path, f"{REPEATED}{rows}{few}")
    assert [one["versus_reference"]["verdict"] for one in data["cells"] if one["arm"] == "tree"] == [
        "faster",
        "not shown",
    ]


def test_repeated_rows_of_one_arm_have_nothing_to_be_compared_with(tmp_path: Path) -> None:
    rows = "".join(f"big,8,{run},{1000 + run},{1100 if run == 0 else ''}\n" for run in range(4))
    data = imported(tmp_path, REPEATED + rows)
    assert [one["num_launches"] for one in data["cells"]] == [4, None]
    assert data["verdicts"][0].startswith("no other arm has repeated rows where default has some: nothing can be")
    assert (
        "no other arm has repeated rows where default has some: there is nothing to compare them with"
        in data["caveats"]
    )


def test_names_of_models_are_text_and_runs_without_an_interval_have_none(opened: Any, tmp_path: Path) -> None:
    data = imported(tmp_path, f"{HEADINGS}<b>x,1,8,1000,990,5\nother,1,8,1900,1800,5\n")
    file = tmp_path / "report.html"
    file.write_text(training_page([data]), encoding="utf-8")
    page = Page(opened, file.as_uri(), viewport={"width": 1280, "height": 900})
    page.drawn()
    assert page.run("document.getElementById('heatmap-0').layout.xaxis.ticktext[0]") == (
        "&lt;b&gt;x<br>8 ranks on 1 host"
    )
    assert page.page.locator("h2", has_text="Tokens/s of <b>x by ranks").count() == 1
    assert page.run("document.getElementById('rates-0-0').data[0].error_y.visible") is False
    assert page.run("document.getElementById('rates-0-0').data[0].hovertext[0]").endswith("5 launches, no interval")
    assert page.run("document.querySelectorAll('main b').length") == 0
    assert page.problems == []


def test_a_log_of_collectives_is_no_training(tmp_path: Path) -> None:
    log = tmp_path / "bench.csv"
    log.write_text("collective,ranks,bytes,time_us\nall_reduce,2,1024,10\n")
    assert read_trainings([str(log)], tmp_path) == []
