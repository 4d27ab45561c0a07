"""What is printed: whole small tables, narrow terminals, CSV, the Markdown page.

For: layout, marks, and that text from files can't do anything to a terminal. Not for: words (test_lab_words.py).
"""

from __future__ import annotations

import csv
import importlib.util
import io
import re
from pathlib import Path
from types import ModuleType

import pytest
from comparison_support import NUM_NEAR, jitter, near_then_far, noise, placed_run, printed
from lab_support import make_cell, make_launch, make_plan, make_run, make_stored
from rich.console import Console

from ringtree.judge.summary import summarise
from ringtree.results import ArmPlan, EmulatedCluster, RunWriter, StoredRun
from ringtree.show.comparison_csv import COLUMNS, comparison_csv
from ringtree.show.comparison_table import print_comparison, title
from ringtree.show.printable import printable

ARMS = ("ring", "tree", "auto", "send-recv:ring", "gloo")
SIZES = tuple(1 << bits for bits in range(10, 28, 2))
KB, MB = 1 << 10, 1 << 20


def simple(num_launches: int = 8) -> StoredRun:
    """b always takes 1 ms; a half of it at 1 KB and three times as long at 1 MB."""
    factor = {("a", KB): 0.5, ("a", MB): 3.0}
    return make_stored(
        make_plan(sizes=(KB, MB), num_launches=num_launches),
        lambda launch, size, arm: 1e-3 * factor.get((arm, size), 1.0),
    )


def body(lines: list[str]) -> list[str]:
    """The lines of the table: between the first two blank lines that enclose figures."""
    first = next(index for index, line in enumerate(lines) if line.lstrip().startswith("size"))
    last = next(index for index, line in enumerate(lines) if line.startswith("a cell"))
    return [line for line in lines[first:last] if line]


def test_a_whole_narrow_table() -> None:
    # busbw of two ranks is algbw: 1024 B / 0.5 ms = 2.048 MB/s, 1 MB / 3 ms = 0.3495 GB/s, 1 MB / 1 ms = 1.0486 GB/s.
    lines = printed(summarise(simple()), 50)
    assert lines[0] == "all_reduce sum float32, 2 ranks, in place, 8"
    assert body(lines) == [
        " size             a             b",
        " ────────────────────────────────",
        " 1 KB      500 µs ✓     1.00 ms ✓",
        "         500–500 µs  1.00–1.00 ms",
        "          2.05 MB/s     1.02 MB/s",
        "             ▲ 2.0×",
        " 1 MB     3.00 ms ✓     1.00 ms ✓",
        "       3.00–3.00 ms  1.00–1.00 ms",
        "          0.35 GB/s     1.05 GB/s",
        "             ▼ 3.0×",
    ]


def test_a_whole_wide_table() -> None:
    lines = printed(summarise(simple()), 120)
    assert lines[0] == "all_reduce sum float32, 2 ranks, in place, 8 launches"
    assert lines[1] == "a is 2.0× faster than b at 1 KB; 3.0× slower at 1 MB"
    assert body(lines) == [
        " size                        a                        b",
        " ──────────────────────────────────────────────────────",
        " 1 KB     500 µs ✓  500–500 µs  1.00 ms ✓  1.00–1.00 ms",
        "                     2.05 MB/s                1.02 MB/s",
        "                  ▲ 2.0× (2.0)",
        " 1 MB  3.00 ms ✓  3.00–3.00 ms  1.00 ms ✓  1.00–1.00 ms",
        "                     0.35 GB/s                1.05 GB/s",
        "                  ▼ 3.0× (3.0)",
    ]


def test_a_whole_short_table() -> None:
    lines = printed(summarise(simple()), 80, verbose=False)
    first = next(index for index, line in enumerate(lines) if line.lstrip().startswith("size"))
    assert [line for line in lines[first:] if line] == [
        # 4 + 13 + 12 characters, with one between
        "size             a            b",
        "─" * 31,
        "1 KB  ▲2.0× 500 µs      1.00 ms",
        "        500–500 µs 1.00–1.00 ms",
        "1 MB ▼3.0× 3.00 ms      1.00 ms",
        "      3.00–3.00 ms 1.00–1.00 ms",
        "all figures and notes: ringtree show runs/example -v",
        "raw samples: runs/example",
    ]


@pytest.mark.parametrize("two_placements", [False, True])
def test_the_default_comparison_fits_on_a_screen(two_placements: bool) -> None:
    plan = make_plan(arms=ARMS, sizes=SIZES, num_ranks=4, num_launches=8)
    factor = dict(zip(ARMS, (0.2, 0.1, 0.1, 1.5, 1.0), strict=True))

    def seconds(launch: int, size: int, arm: str, round_: int) -> float:
        return 1e-4 * factor[arm] * size / KB * noise(launch, arm, size)

    stored = (
        placed_run(plan, seconds, near_then_far)
        if two_placements
        else make_stored(plan, lambda launch, size, arm: seconds(launch, size, arm, 0), num_cores=2, load=3.0)
    )
    comparison = summarise(stored)
    assert len(comparison.shown_rows()) == len(SIZES) * (1 + two_placements)
    lines = printed(comparison, 80, verbose=False)
    assert len(lines) <= 40, "\n".join(lines)
    assert all(len(line) <= 80 for line in lines)
    assert lines[0].endswith("all results verified")
    medians = [match for line in lines for match in re.findall(r"(?<![–.\d])\d[\d.]* (?:µs|ms|s)(?= |$)", line)]
    assert len(medians) == len(ARMS) * len(comparison.shown_rows())
    assert len(printed(comparison, 80)) > 40


@pytest.mark.parametrize("factor", [0.5, 2.0])
def test_a_wide_cell_has_the_interval_of_its_factor(factor: float) -> None:
    stored = make_stored(
        make_plan(sizes=(KB,), num_launches=8),
        lambda launch, size, arm: 1.0 if arm == "b" else factor * (1 + 0.05 * (-1) ** launch),
    )
    (line,) = (line for line in body(printed(summarise(stored), 120)) if "(" in line)
    match = re.search(r"[▲▼] ([0-9.]+)× \(([0-9.]+)–([0-9.]+)\)", line)
    assert match is not None, line
    ratio, low, high = map(float, match.groups())
    assert low < ratio < high
    assert low > 1.8
    assert ratio == 2.0


def test_what_qualifies_the_figures_stands_beside_the_verdict() -> None:
    plan = make_plan(num_ranks=4).model_copy(update={"left_out": {"gloo": "no PyTorch"}})
    comparison = summarise(make_stored(plan, lambda *_: 1.0, num_cores=2, load=13.28))
    lines = printed(comparison, 120)
    table = next(index for index, line in enumerate(lines) if line.lstrip().startswith("size"))
    before, after = "\n".join(lines[:table]), "\n".join(lines[table:])
    assert before.index("a is equivalent to b") < before.index("note: 4 ranks on 2 cores")
    assert "note: the machine was busy: load 13.3 on 2 cores when it started" in before
    assert "gloo was left out: no PyTorch" in before
    assert "margin 2 %" in after
    calm = summarise(make_stored(make_plan(), lambda *_: 1.0, num_cores=2, load=1.0))
    assert calm.caveats == []


@pytest.mark.parametrize("width", [40, 80, 120, 200])
def test_table_fits_the_terminal_and_marks_every_cell(width: int) -> None:
    plan = make_plan(arms=ARMS, sizes=SIZES, num_ranks=4)
    stored = make_stored(plan, lambda launch, size, arm: 1.2345e-3 * noise(launch, arm, size), num_cores=2)
    lines = printed(summarise(stored), width)
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
    assert "all 36 comparisons together" in " ".join(line.strip() for line in lines)


def test_every_verdict_has_its_mark() -> None:
    factor = {"a": 0.5, "c": 2.0, "d": 1.0, "e": 1.0, "b": 1.0}

    def seconds(launch: int, size: int, arm: str) -> float:
        return factor[arm] * (1 + 0.2 * (-1) ** launch * (arm == "e"))

    comparison = summarise(make_stored(make_plan(arms=tuple(factor), sizes=(KB,), num_launches=8), seconds))
    lines = printed(comparison, 90)
    (marks,) = (line for line in body(lines) if "▲" in line)
    assert marks.split() == ["▲", "2.0×", "▼", "2.0×", "=", "0.0%", "?", "-2.0%"], "sqrt(1.2 · 0.8) = 0.98"
    legend = " ".join(lines)
    assert all(word in legend for word in ("▲ faster", "▼ slower", "= equivalent within ±2 %", "? inconclusive"))


def test_colours_are_for_terminals_only() -> None:
    comparison = summarise(simple())
    plain, colourful = io.StringIO(), io.StringIO()
    print_comparison(Console(file=plain, width=80), comparison)
    print_comparison(Console(file=colourful, width=80, force_terminal=True, color_system="standard"), comparison)
    assert "\x1b" not in plain.getvalue()
    assert "\x1b[32m▲" in colourful.getvalue()


def test_placements_have_rows_of_their_own() -> None:
    stored = placed_run(
        make_plan(sizes=(KB,), num_launches=8),
        lambda launch, size, arm, round_: 1.0 if round_ < NUM_NEAR else 3.0,
        near_then_far,
    )
    lines = printed(summarise(stored), 80)
    rows = [line.split()[:1] for line in body(lines)]
    assert rows.count(["near"]) == rows.count(["far"]) == 1
    assert sum(line.split()[:2] == ["1", "KB"] for line in lines) == 2
    only = printed(summarise(make_stored(make_plan(sizes=(KB,)), lambda *_: 1.0)), 80)
    assert not any(line.split()[:1] == ["near"] for line in only), "one placement needs no name"


def test_a_disqualified_cell_has_a_cross_and_no_figure() -> None:
    error = {"times": [], "verified": False, "error": "broken"}
    launches = [make_launch(i, [make_cell("a", KB, 1.0, **error), make_cell("b", KB, 1.0)]) for i in range(6)]
    plan = make_plan(sizes=(KB,))
    comparison = summarise(StoredRun(Path("runs/example"), make_run(plan), launches, []))
    lines = printed(comparison, 80)
    (row,) = (line for line in body(lines) if "1 KB" in line)
    assert row.split() == ["1", "KB", "✗", "1.00", "s", "✓", "1.00–1.00", "s"]
    assert "a is disqualified at 1 KB: broken" in lines


def test_one_rank_has_no_bus_and_one_launch_no_interval() -> None:
    plan = make_plan(num_ranks=1, num_launches=1)
    comparison = summarise(make_stored(plan, lambda launch, *_: jitter(launch)))
    text = "\n".join(printed(comparison, 80))
    assert "B/s" not in text
    assert "–" in text
    assert ", 1 rank, " in text
    assert title(comparison).endswith(", 1 launch")
    assert "95" not in text
    assert "1 launch" in "\n".join(body(printed(comparison, 80)))


def test_95_percent_is_not_printed_for_five_launches() -> None:
    comparison = summarise(make_stored(make_plan(num_launches=5), lambda launch, *_: jitter(launch)))
    text = " ".join(printed(comparison, 120))
    assert "covers 93.8 %" in text
    assert "95" not in text


def test_emulated_is_said_everywhere_and_the_model_stands_beside_it() -> None:
    cluster = EmulatedCluster(hosts=2, ranks_per_host=8, alpha=1e-3, beta=2e7)
    plan = make_plan(arms=("ring", "tree"), num_ranks=16, emulation=cluster)
    lines = printed(summarise(make_stored(plan, lambda launch, *_: 0.01 * jitter(launch))), 120)
    assert "emulated" in lines[0]
    assert sum("emulated" in line for line in lines) >= 3
    assert sum("model" in line for line in body(lines)) == 2
    one_host = EmulatedCluster(hosts=1, ranks_per_host=2, alpha=1e-3, beta=2e7)
    alone = make_stored(make_plan(arms=("ring", "tree"), emulation=one_host), lambda *_: 1.0)
    assert "recurrence" not in "\n".join(printed(summarise(alone), 120)), "there is no link that it could model"


def test_textbook_shows_custom_library_and_speed_up() -> None:
    plan = make_plan(arms=("send-recv:ring", "auto"), preset="textbook")
    stored = make_stored(plan, lambda launch, size, arm: jitter(launch) * (3.0 if arm != "auto" else 1.0))
    text = "\n".join(printed(summarise(stored), 80))
    assert "custom" in text
    assert "library" in text
    assert "3.0×" in text
    assert "▼" not in text
    assert "library: auto (ringtree's engine)" in "\n".join(printed(summarise(stored), 120))
    assert "speed-up: time of custom over time of library" in " ".join(text.split())
    left = make_plan(arms=("auto",), preset="textbook")
    alone = "\n".join(printed(summarise(make_stored(left, lambda *_: 1.0)), 80))
    assert "custom" not in alone, "the custom ring was left out, so auto is not to stand in for it"


def test_an_arm_that_was_not_measured_at_a_size_leaves_a_dash() -> None:
    plan = make_plan(sizes=(KB, MB))
    launches = [
        make_launch(i, [make_cell("a", KB, 1.0), make_cell("b", KB, 1.0), make_cell("b", MB, 1.0)]) for i in range(6)
    ]
    lines = printed(summarise(StoredRun(Path("runs/x"), make_run(plan), launches, [])), 80)
    (row,) = (line for line in body(lines) if "1 MB" in line)
    assert row.split()[:3] == ["1", "MB", "–"]


EVIL = "[red]x[/red]\x1b[2J\u202e\n"


def test_text_from_files_can_do_nothing_to_the_terminal() -> None:
    plan = make_plan(arms=(EVIL, "b"), sizes=(KB,)).model_copy(update={"left_out": {EVIL: EVIL}})
    error = {"times": [], "verified": False, "error": EVIL}
    launches = [make_launch(i, [make_cell(EVIL, KB, 1.0, **error), make_cell("b", KB, 1.0)]) for i in range(6)]
    comparison = summarise(StoredRun(Path(f"runs/{EVIL}"), make_run(plan), launches, [EVIL]))
    lines = printed(comparison, 200)
    text = "\n".join(lines)
    assert "\x1b" not in text
    assert "\u202e" not in text
    assert r"[red]x[/red]\x1b[2J\u202e\n" in text, "markup is not a markup, and escapes can be read"
    assert "\x1b" not in comparison_csv(comparison)


def test_printable() -> None:
    assert printable("ring · 4 KB ✓ ≤ é") == "ring · 4 KB ✓ ≤ é"
    assert printable("\x1b\x9b\r\u2028") == r"\x1b\x9b\r\u2028"


def test_csv_has_a_line_for_each_cell_and_reads_back() -> None:
    stored = placed_run(
        make_plan(arms=("a,b", "b"), sizes=(KB, MB), num_launches=8),
        lambda launch, size, arm, round_: 2e-3 if arm == "a,b" else 1e-3,
        near_then_far,
    )
    text = comparison_csv(summarise(stored))
    rows = list(csv.DictReader(io.StringIO(text)))
    assert text.endswith("\n")
    assert "\r" not in text
    assert tuple(rows[0]) == tuple(COLUMNS)
    assert [(row["size_bytes"], row["placement"], row["arm"]) for row in rows] == [
        (str(size), placement, arm) for size in (KB, MB) for placement in ("near", "far") for arm in ("a,b", "b")
    ]
    first, second = rows[:2]
    assert float(first["time_s"]) == 2e-3
    assert float(first["time_ratio"]) == pytest.approx(2.0)
    assert float(first["busbw_bytes_per_s"]) == pytest.approx(1024 / 2e-3)
    assert (first["verdict"], first["verified"], first["launches_needed"]) == ("slower", "true", "")
    assert (second["verdict"], second["time_ratio"]) == ("", "")


def load_tool(name: str) -> ModuleType:
    path = Path(__file__).parents[3] / "tools" / f"{name}.py"
    spec = importlib.util.spec_from_file_location(name, path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_the_page_of_a_run_has_its_verdict_and_every_cell(tmp_path: Path) -> None:
    stored = simple()
    with RunWriter(tmp_path, stored.run) as writer:
        for launch in stored.launches:
            writer.append(launch)
    page = load_tool("benchmark_page").page("Title", tmp_path / stored.run.run_id)
    assert page.startswith("# Title\n")
    assert "- **a is 2.0× faster than b at 1 KB; 3.0× slower at 1 MB**" in page
    assert "| 1 KB | 500 µs (500–500 µs) 2.05 MB/s ▲ 2.0× (2.0) | 1.00 ms (1.00–1.00 ms) 1.02 MB/s |" in page
    assert str(tmp_path) not in page


def test_labels_of_two_arms_with_one_name() -> None:
    plan = make_plan(arms=("x", "x#2"))
    twice = plan.model_copy(update={"arms": [ArmPlan(label="x", name="x"), ArmPlan(label="x#2", name="x")]})
    lines = printed(summarise(make_stored(twice, lambda launch, *_: jitter(launch))), 80)
    assert any("x#2" in line for line in body(lines))
