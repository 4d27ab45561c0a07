"""Times of a training's step by nodes: efficiencies above one, of weak and of strong scaling, and what can't be told.

For: checks/scaling.py and the headings of such columns, on texts as people write them. Not for: throughputs
(test_audit_articles.py).
"""

from __future__ import annotations

import io

import pytest

from ringtree.audit import AuditRun, Finding, Setup

TITLES = ("", "## Weak scaling\n", "## Strong-scaling of step times\n", "## Batch 4 per GPU\n", "## Global batch 256\n")
NONE, WEAK, STRONG = TITLES[:3]


def found(text: str, name: str = "a.md") -> dict[str, Finding]:
    session = AuditRun(Setup())
    session.add_stream(io.BytesIO(text.encode()), name)
    (report,) = session.finish().files
    assert report.num_rows_left_out == 0
    return {one.code: one for one in report.findings}


def table(first: str, second: str, title: str = "", heading: str = "Seconds per step") -> str:
    return f"# Training\n\n{title}\n| Nodes | {heading} |\n|---|---|\n| 1 | {first} |\n| 2 | {second} |\n"


@pytest.mark.parametrize(
    ("title", "second", "above"),
    [
        # 4.00 s on one node. Weak: a step may not get shorter. Strong: not below 2.00 s, half of it.
        (WEAK, "4.10", False),
        (WEAK, "3.50", True),
        (STRONG, "2.20", False),
        (STRONG, "1.80", True),
        (TITLES[3], "3.50", True),
        (TITLES[4], "3.50", False),
        # Nobody says which: below half both are refuted.
        (NONE, "1.80", True),
        (NONE, "2.20", False),
        (NONE, "4.10", False),
    ],
)
def test_a_step_can_not_get_shorter_by_more_than_the_ranks_grow(title: str, second: str, above: bool) -> None:
    codes = found(table("4.00", second, title))
    assert ("scaling-above-one" in codes) is above
    assert ("scaling-not-stated" in codes) is (title == NONE and not above)


def test_the_arithmetic_names_the_kind_and_how_it_is_known() -> None:
    weak = found(table("4.00", "3.20", WEAK))["scaling-above-one"]
    # 3.995/3.205 = 1.2465, 4.005/3.195 = 1.2535
    assert weak.arithmetic == "2 nodes: 4.00 s / 3.20 s = 1.246–1.254, weak scaling: by the heading 'Weak scaling'"
    strong = found(table("4.00", "1.60", STRONG))["scaling-above-one"]
    assert "4.00 s / (2 × 1.60 s) = 1.24–1.26, strong scaling" in strong.arithmetic
    assert "whatever share of the work" in found(table("4.00", "1.60"))["scaling-above-one"].arithmetic


def test_what_can_not_be_told_is_said_with_both_efficiencies() -> None:
    said = found(table("4.00", "2.50"))["scaling-not-stated"].arithmetic
    assert said == "2 nodes: 4.00 s, then 2.50 s: efficiency 1.6 if each rank keeps its work, 0.8 if all share it"


@pytest.mark.parametrize(
    ("batches", "heading", "above"),
    [
        (("64", "128"), "Global batch", True),  # it grows with the nodes: weak, and 4.00 s became 3.50 s
        (("64", "64"), "Global batch", False),
        (("8", "8"), "Batch per GPU", True),
        (("8", "4"), "Batch per GPU", False),
    ],
)
def test_a_column_of_batches_tells_the_kind(batches: tuple[str, str], heading: str, above: bool) -> None:
    rows = f"| 1 | {batches[0]} | 4.00 |\n| 2 | {batches[1]} | 3.50 |\n"
    codes = found(f"# Training\n\n| Nodes | {heading} | Step time (s) |\n|---|---|---|\n{rows}")
    assert ("scaling-above-one" in codes) is above
    assert "scaling-not-stated" not in codes


@pytest.mark.parametrize("batches", [("64", "96"), ("64", "-")])
def test_batches_that_follow_no_rule_tell_nothing(batches: tuple[str, str]) -> None:
    rows = f"| 1 | {batches[0]} | 4.00 |\n| 2 | {batches[1]} | 3.50 |\n"
    codes = found(f"# Training\n\n| Nodes | Global batch | Step time (s) |\n|---|---|---|\n{rows}")
    assert "scaling-not-stated" in codes


@pytest.mark.parametrize(
    "heading", ["Seconds per step", "s/step", "sec/iter", "Step time (s)", "Time per iteration (s)"]
)
def test_headings_of_times_of_a_step(heading: str) -> None:
    assert "scaling-above-one" in found(table("4.00", "1.80", heading=heading))
    in_csv = heading.replace(" ", "_")
    assert "scaling-above-one" in found(f"nodes,{in_csv}\n1,4.00\n2,1.80\n", "a.csv")


def test_with_a_throughput_beside_it_the_throughput_decides() -> None:
    rows = "| 1 | 4.00 | 1000 |\n| 2 | 2.20 | 1818 |\n"
    codes = found(f"# Training\n\n| Nodes | Step time (s) | Tokens/s |\n|---|---|---|\n{rows}")
    assert not codes.keys() & {"scaling-above-one", "scaling-not-stated"}


def test_a_forced_algorithm_without_a_kernel_is_found_in_times_of_a_step_too() -> None:
    text = "# FSDP FULL_SHARD\n\n| Nodes | Default step time (s) | Tree step time (s) |\n|---|---|---|\n"
    assert "setting-without-effect" in found(f"{text}| 1 | 4.00 | 4.05 |\n| 2 | 4.10 | 4.15 |\n")
