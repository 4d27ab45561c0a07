"""From a run to what is said: figures, words, table widths.

For: that nothing is shown that the samples don't support, and that it can be read. Not for: the statistics themselves.
"""

from __future__ import annotations

import io
import json
import math

import pytest
from lab_support import make_cell, make_launch, make_plan, make_run, make_stored
from rich.console import Console

from ringtree.lab.progress import TimeLeft
from ringtree.lab.summary import Comparison, summarise
from ringtree.lab.table import print_comparison
from ringtree.lab.words import executed_lines, verdict_lines
from ringtree.results import EmulatedCluster, StoredRun, WrongElement

ARMS = ("ring", "tree", "auto", "send-recv:ring", "gloo")
SIZES = tuple(1 << bits for bits in range(10, 28, 2))


def jitter(launch: int) -> float:
    return 1 + 0.01 * math.sin(launch)


def printed(comparison: Comparison, width: int) -> list[str]:
    console = Console(file=io.StringIO(), width=width)
    print_comparison(console, comparison)
    assert isinstance(console.file, io.StringIO)
    return console.file.getvalue().splitlines()


def test_figures_are_those_of_the_samples() -> None:
    stored = make_stored(
        make_plan(sizes=(1 << 20,)), lambda launch, size, arm: (launch + 1) * (2.0 if arm == "a" else 1.0)
    )
    cell = summarise(stored).cell(1 << 20, "a")
    assert cell.time is not None
    assert cell.versus_reference is not None
    assert (cell.time.median, cell.time.low, cell.time.high) == (7.0, 2.0, 12.0)
    assert cell.algbw == (1 << 20) / 7.0
    assert cell.busbw == cell.algbw
    assert cell.versus_reference.ratio == pytest.approx(2.0)
    assert cell.num_iterations == 18


def test_words_follow_the_intervals_and_are_never_equal() -> None:
    factor = {"a": 0.5, "b": 1.0, "c": 2.0, "d": 1.0}

    def seconds(launch: int, size: int, arm: str) -> float:
        noise = (-1) ** launch * 0.05 if arm == "d" else 0.0
        return 1e-3 * factor[arm] * (1 + noise) * (1 + 1e-4 * launch * (arm != "b"))

    lines = verdict_lines(summarise(make_stored(make_plan(arms=("a", "c", "d", "b")), seconds)))
    assert lines[0] == "a: faster than b (2.0×) at 1 KB, 4 KB"
    assert lines[1] == "c: slower than b (2.0×) at 1 KB, 4 KB"
    assert lines[2] == "d: no difference from b shown at 1 KB, 4 KB"
    assert "equal" not in " ".join(lines)


def test_one_launch_claims_nothing() -> None:
    plan = make_plan(num_launches=1)
    comparison = summarise(make_stored(plan, lambda launch, size, arm: 1.0 if arm == "a" else 9.0))
    assert verdict_lines(comparison) == ["a: one launch, nothing can be said about b at 1 KB, 4 KB"]
    assert "%" not in "\n".join(printed(comparison, 80))


def test_95_percent_is_not_printed_for_five_launches() -> None:
    comparison = summarise(make_stored(make_plan(num_launches=5), lambda launch, size, arm: jitter(launch)))
    text = " ".join(printed(comparison, 120))
    assert "covers 93.8 %" in text
    assert "95" not in text


def test_a_wrong_result_disqualifies_and_says_so() -> None:
    plan = make_plan()
    wrong = WrongElement(rank=1, iteration=3, call=0, index=5, expected=3.0, found=4.0)
    launches = []
    for launch in range(6):
        bad = {"verified": False, "first_wrong": wrong} if launch == 2 else {}
        cells = [make_cell("a", 1024, 0.1, **bad), make_cell("b", 1024, 0.3)]
        launches.append(make_launch(launch, [*cells, make_cell("a", 4096, 0.1), make_cell("b", 4096, 0.3)]))
    comparison = summarise(StoredRun(make_stored(plan, lambda *_: 1.0).path, make_run(plan), launches, []))
    cell = comparison.cell(1024, "a")
    assert cell.time is None
    assert cell.versus_reference is None
    assert not cell.verified
    text = "\n".join(printed(comparison, 200))
    assert "disqualified (wrong result in launch 3: rank 1 has 4 instead of 3 at element 5) at 1 KB" in text
    assert "✗" in text
    assert comparison.cell(4096, "a").verified


def test_a_disqualified_reference_leaves_nothing_to_compare_with() -> None:
    plan = make_plan(sizes=(1024,))
    error = {"times": [], "verified": False, "error": "UsageError: no {gloo} here"}
    launches = [make_launch(i, [make_cell("a", 1024, 0.1), make_cell("b", 1024, 0.1, **error)]) for i in range(6)]
    comparison = summarise(StoredRun(make_stored(plan, lambda *_: 1.0).path, make_run(plan), launches, []))
    assert verdict_lines(comparison) == [
        "a: nothing to compare with, as b is disqualified, at 1 KB",
        "b: disqualified (UsageError: no {gloo} here) at 1 KB",
    ]
    assert comparison.cell(1024, "b").disqualified == "UsageError: no {gloo} here"


@pytest.mark.parametrize("width", [40, 80, 120, 200])
def test_table_fits_the_terminal_and_marks_every_cell(width: int) -> None:
    plan = make_plan(arms=ARMS, sizes=SIZES, num_ranks=4)
    comparison = summarise(make_stored(plan, lambda launch, size, arm: 1.2345e-3 * jitter(launch), num_cores=2))
    lines = printed(comparison, width)
    assert all(len(line) <= width for line in lines if not line.startswith("raw samples"))
    text = "\n".join(lines)
    legend = sum(line.startswith("✓ every") for line in lines)
    assert text.count("✓") - legend == len(ARMS) * len(SIZES)
    assert "…" not in text, "a figure was cut"
    for arm in ARMS:
        assert arm in text
    if width >= 80:
        assert sum("1 KB" in line and "✓" in line for line in lines) == 1, "all five arms fit into one table"
    assert any("4 ranks on 2 cores" in line for line in lines) or width == 40
    assert "raw samples: runs/example" in text
    assert "not adjusted for looking at 36 cells" in " ".join(line.strip() for line in lines)


def test_emulated_is_said_everywhere() -> None:
    cluster = EmulatedCluster(hosts=2, ranks_per_host=8, alpha=1e-3, beta=2e7)
    plan = make_plan(num_ranks=16, emulation=cluster)
    comparison = summarise(make_stored(plan, lambda launch, size, arm: jitter(launch)))
    lines = printed(comparison, 120)
    assert "emulated" in lines[0]
    assert sum("emulated" in line for line in lines) >= 3
    assert json.loads(comparison.model_dump_json())["emulated"]["hosts"] == 2


def test_textbook_shows_custom_library_and_speed_up() -> None:
    plan = make_plan(arms=("send-recv:ring", "auto"), preset="textbook")
    comparison = summarise(
        make_stored(plan, lambda launch, size, arm: jitter(launch) * (3.0 if arm != "auto" else 1.0))
    )
    text = "\n".join(printed(comparison, 80))
    assert "custom" in text
    assert "library" in text
    assert "3.0×" in text


def test_what_auto_executed_is_told() -> None:
    plan = make_plan(arms=("auto", "ring", "gloo"))
    algorithm = {("auto", 1024): {"algorithm": "tree"}, ("auto", 4096): {"algorithm": "ring"}}
    launches = [
        make_launch(
            launch,
            [
                make_cell(
                    arm, size, 1.0, executed=algorithm.get((arm, size), {"algorithm": arm} if arm == "ring" else {})
                )
                for size in (1024, 4096)
                for arm in ("auto", "ring", "gloo")
            ],
        )
        for launch in range(6)
    ]
    comparison = summarise(StoredRun(make_stored(plan, lambda *_: 1.0).path, make_run(plan), launches, []))
    assert executed_lines(comparison) == ["auto executed tree at 1 KB; ring at 4 KB"]


def test_json_round_trip() -> None:
    comparison = summarise(make_stored(make_plan(), lambda launch, size, arm: jitter(launch)))
    assert Comparison.model_validate_json(comparison.model_dump_json()) == comparison
    assert comparison.format == "ringtree.comparison/1"


def test_time_left_counts_down_and_learns_from_earlier_launches() -> None:
    plan = make_plan(arms=("a", "b"), sizes=(8, 16), num_launches=2)
    left, now = TimeLeft(plan), 0.0
    cost = {8: 1.0, 16: 9.0}
    estimates = []
    for _ in range(2):
        for size in (8, 16):
            for arm in ("a", "b"):
                now += cost[size]
                estimates.append(left.finish(size, arm, now))
    assert estimates[3] == pytest.approx(20.0)
    assert estimates[-1] == 0.0
    assert estimates[4:] == sorted(estimates[4:], reverse=True)
