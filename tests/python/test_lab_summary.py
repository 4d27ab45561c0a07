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
from ringtree.lab.table import print_comparison, title
from ringtree.lab.units import format_at_least
from ringtree.lab.words import executed_lines, fastest_line, verdict_lines
from ringtree.results import ArmPlan, EmulatedCluster, StoredRun, WrongElement

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
    named = "(95 % t interval of each cell)"
    assert lines[0] == f"a: faster than b at 1 KB, 4 KB, by at least 1.99× {named}"
    assert lines[1] == f"c: slower than b at 1 KB, 4 KB, by at least 2.0× {named}"
    assert lines[2] == "d: no difference from b shown at 1 KB, 4 KB"
    assert "equal" not in " ".join(lines)


def test_one_launch_claims_nothing() -> None:
    plan = make_plan(num_launches=1)
    comparison = summarise(make_stored(plan, lambda launch, size, arm: 1.0 if arm == "a" else 9.0))
    assert verdict_lines(comparison) == [
        "a: 1 launch is too few for a verdict (6 are needed) at 1 KB, 4 KB, only ratios as measured: 0.11× of b's time"
    ]
    assert "%" not in "\n".join(printed(comparison, 80))
    assert ", 1 launch" in title(comparison)


def test_five_launches_are_too_few_and_six_are_not() -> None:
    def seconds(launch: int, size: int, arm: str) -> float:
        return jitter(launch) * (1.0 if arm == "b" else 3.0 if size == 1024 else 5.0)

    (five,) = verdict_lines(summarise(make_stored(make_plan(num_launches=5), seconds)))
    assert five == (
        "a: 5 launches are too few for a verdict (6 are needed) at 1 KB, 4 KB, "
        "only ratios as measured: 3.0 to 5.0× of b's time"
    )
    (six,) = verdict_lines(summarise(make_stored(make_plan(num_launches=6), seconds)))
    assert six.startswith("a: slower than b at 1 KB, 4 KB, by at least ")


def test_by_at_least_is_the_weakest_bound_of_the_cells() -> None:
    def seconds(launch: int, size: int, arm: str) -> float:
        noise = {1024: 0.2, 4096: 0.001}[size] * (-1) ** launch
        return 1.0 if arm == "b" else 2.0 * (1 + noise)

    comparison = summarise(make_stored(make_plan(), seconds))
    lows = [cell.versus_reference.low for cell in comparison.cells if cell.versus_reference is not None]
    assert all(low is not None for low in lows)
    weakest = min(low for low in lows if low is not None)
    assert weakest < 1.7, "the noisy cell's bound lies well below its ratio"
    assert verdict_lines(comparison) == [
        f"a: slower than b at 1 KB, 4 KB, by at least {format_at_least(weakest)}× (95 % t interval of each cell)"
    ]


def test_a_verdict_is_adjusted_for_the_cells_that_are_looked_at() -> None:
    # One ratio alone is shown to differ; the same samples among sixteen are not, and the plain interval stays as it is.
    def seconds(launch: int, size: int, arm: str) -> float:
        return 1.0 if arm == "b" else 1.2 * (1 + 0.1 * (-1) ** launch)

    alone = summarise(make_stored(make_plan(sizes=(1024,)), seconds))
    among = summarise(make_stored(make_plan(sizes=tuple(1024 << i for i in range(16))), seconds))
    first, second = (comparison.cell(1024, "a").versus_reference for comparison in (alone, among))
    assert first is not None
    assert second is not None
    assert (first.verdict, second.verdict) == ("slower", "not shown")
    assert (first.low, first.high) == (second.low, second.high) == (first.adjusted_low, first.adjusted_high)
    assert second.low is not None
    assert second.adjusted_low is not None
    assert second.adjusted_low < second.low
    assert second.num_ratios == 16
    assert "verdicts are adjusted for looking at 16 cells (Bonferroni), margin 2 %" in among.notes
    assert "verdicts are of one cell, margin 2 %" in alone.notes


def test_the_same_arm_twice_is_said_to_measure_the_method() -> None:
    plan = make_plan(arms=("x", "x#2"))
    twice = plan.model_copy(update={"arms": [ArmPlan(label="x", name="x"), ArmPlan(label="x#2", name="x")]})
    said = "same arm twice (x): any difference shown is the method's error"
    assert said in summarise(make_stored(twice, lambda *_: 1.0)).notes
    assert said not in summarise(make_stored(plan, lambda *_: 1.0)).notes


def test_what_qualifies_the_figures_stands_before_the_verdict() -> None:
    plan = make_plan(num_ranks=4).model_copy(update={"left_out": {"gloo": "no PyTorch"}})
    comparison = summarise(make_stored(plan, lambda *_: 1.0, num_cores=2, load=13.28))
    lines = printed(comparison, 120)
    verdict = next(index for index, line in enumerate(lines) if line.startswith("a: "))
    before, after = "\n".join(lines[:verdict]), "\n".join(lines[verdict:])
    assert "note: the machine was busy: load 13.3 on 2 cores when it started" in before
    assert "note: 4 ranks on 2 cores" in before
    assert "gloo was left out: no PyTorch" in after
    assert "margin 2 %" in after
    calm = summarise(make_stored(make_plan(), lambda *_: 1.0, num_cores=2, load=1.0))
    assert calm.caveats == []


TOGETHER = " (arms whose intervals overlap are named together)"


def test_arms_whose_intervals_overlap_are_the_fastest_together() -> None:
    def seconds(launch: int, size: int, arm: str) -> float:
        return {"a": 1.0, "b": 1.05}[arm] + (0.1 if size == 1 else 0.01) * (launch % 2)

    comparison = summarise(make_stored(make_plan(sizes=(1, 2)), seconds))
    assert fastest_line(comparison) == ["fastest: a or b at 1 B; a at 2 B" + TOGETHER]


def test_fastest_goes_by_the_median_and_ignores_the_disqualified() -> None:
    factor = {("a", 1): 1.0, ("b", 1): 2.0, ("a", 2): 1.0, ("b", 2): 2.0, ("a", 4): 3.0, ("b", 4): 2.0}
    comparison = summarise(make_stored(make_plan(sizes=(1, 2, 4)), lambda launch, size, arm: factor[arm, size]))
    assert fastest_line(comparison) == ["fastest: a at 1 B and 2 B; b at 4 B" + TOGETHER]
    plan = make_plan(arms=("a", "c", "b"), sizes=(1,))
    error = {"times": [], "verified": False, "error": "broken"}
    cells = [make_cell("a", 1, 0.1, **error), make_cell("c", 1, 0.3), make_cell("b", 1, 0.2)]
    launches = [make_launch(launch, cells) for launch in range(6)]
    stored = StoredRun(make_stored(plan, lambda *_: 1.0).path, make_run(plan), launches, [])
    assert fastest_line(summarise(stored)) == ["fastest: b at 1 B" + TOGETHER]
    assert fastest_line(summarise(make_stored(make_plan(arms=("a",)), lambda *_: 1.0))) == []


def test_a_library_as_reference_brings_the_hint_how_to_compare_the_engines_arms() -> None:
    def hints(*arms: str) -> list[str]:
        notes = summarise(make_stored(make_plan(arms=arms), lambda *_: 1.0)).notes
        return [note for note in notes if "--reference" in note]

    assert hints("ring", "tree", "gloo") == [
        "ring and tree are each compared with gloo; with each other: --reference ring"
    ]
    assert hints("gloo", "tree", "ring") == hints("ring", "gloo") == []


def test_one_rank_has_no_bus() -> None:
    comparison = summarise(make_stored(make_plan(num_ranks=1), lambda launch, size, arm: jitter(launch)))
    text = "\n".join(printed(comparison, 80))
    assert "B/s" not in text
    assert "–" in text
    assert ", 1 rank, " in text


def test_one_emulated_host_slows_nothing() -> None:
    cluster = EmulatedCluster(hosts=1, ranks_per_host=2, alpha=1e-3, beta=2e7)
    plan = make_plan(arms=("ring", "tree"), num_ranks=2, emulation=cluster)
    comparison = summarise(make_stored(plan, lambda launch, size, arm: jitter(launch)))
    assert comparison.caveats == ["emulated: 1 host of 2 ranks has no link between hosts, so nothing is slowed"]
    assert "emulated" in printed(comparison, 80)[0]
    assert "recurrence" not in "\n".join(printed(comparison, 120)), "there is no link that it could model"


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
    assert "adjusted for looking at 36 cells (Bonferroni)" in " ".join(line.strip() for line in lines)


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
    assert "library: auto (ringtree's engine)" in "\n".join(printed(comparison, 120))
    assert "speed-up: time of custom over time of library, 95 % t interval" in " ".join(text.split())
    left = make_plan(arms=("auto",), preset="textbook")
    alone = "\n".join(printed(summarise(make_stored(left, lambda *_: 1.0)), 80))
    assert "custom" not in alone, "the custom ring was left out, so auto is not to stand in for it"


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
