"""Articles in Markdown, with prose, code and tables: what is found in a CSV is found there too, and nothing is passed
over in silence.

For: `articles/`, whose tables stand as CSV beside them, and the published tables, set as articles. Not for: how cells
and headings are read (logs/test_logs_tables_markdown.py).
"""

from __future__ import annotations

import csv
import io
import re
from pathlib import Path

import pytest
from logs_support import shared_data

from ringtree.audit import AuditRun, FileReport, Setup, Severity

ARTICLES = Path(__file__).parent / "articles"
A100 = Setup(gpu="NVIDIA A100-SXM4-80GB", num_ranks=8, num_hosts=1)
H100 = Setup(gpu="NVIDIA H100 80GB HBM3", num_ranks=8, num_hosts=1)
# A column that an article's own heading explains is not said to be unexplained.
UNEXPLAINED = {"limit-not-checked"}

CODE = """```python
def ring(chunks):
    # Phase 1: ReduceScatter
    ...
    # Phase 2: AllGather
    ...
```
"""


def audit(text: str, name: str, setup: Setup | None = None) -> FileReport:
    session = AuditRun(setup or Setup())
    session.add_stream(io.BytesIO(text.encode()), name)
    (report,) = session.finish().files
    return report


def codes(report: FileReport) -> set[str]:
    return {finding.code for finding in report.findings}


def as_article(text: str) -> str:
    """Sets a table of comma-separated values as people write it: words for names, time and rate in one cell."""
    titles, *rows = list(csv.reader(io.StringIO(text)))
    rates = {}
    for index, title in enumerate(titles):
        time = title.replace("_bw_as_published", "_time")
        if time != title and time in titles:
            rates[titles.index(time)] = index
    shown = [index for index in range(len(titles)) if index not in rates.values()]
    lines = [[title_of(titles[index]) for index in shown], ["---:"] * len(shown)]
    for row in rows:
        lines.append([row[i] + (f" ({row[rates[i]]})" if i in rates and row[rates[i]] else "") or "-" for i in shown])
    table = "\n".join(f"| {' | '.join(line)} |" for line in lines)
    return f"# What we measured\n\nFirst the code:\n\n{CODE}\nThen what came of it.\n\n{table}\n\nSo it is fast.\n"


def title_of(name: str) -> str:
    words = name.replace("_as_published", "").replace("_tokens_per_s", " (tokens/s)")
    words = re.sub(r"_(GBps|ms)$", lambda unit: f" ({unit.group(1).replace('GBps', 'GB/s')})", words)
    return words.replace("_", " ").replace("nvlstree", "NVLSTree")


@pytest.mark.parametrize("setup", [Setup(), A100], ids=["unknown", "a100"])
@pytest.mark.parametrize("name", sorted(path.stem for path in ARTICLES.glob("*.csv")))
def test_all_that_a_csv_shows_is_found_in_the_article(name: str, setup: Setup) -> None:
    table, article = ((ARTICLES / f"{name}{end}").read_text() for end in (".csv", ".md"))
    of_table, of_article = audit(table, "a.csv", setup), audit(article, "a.md", setup)
    assert codes(of_table) - UNEXPLAINED <= codes(of_article)
    assert codes(of_table) - UNEXPLAINED <= codes(audit(as_article(table), "b.md", setup))
    assert of_article.num_rows >= of_table.num_rows
    assert of_article.num_rows_left_out == 0


@pytest.mark.parametrize("setup", [Setup(), A100, H100], ids=["unknown", "a100", "h100"])
@pytest.mark.parametrize(
    "name",
    ["a100x8-ring-vs-tree", "finetune-h100-1to8nodes", "h100-tcpx-default-vs-nvlstree", "h100x16-nccl-tests-summary",
     "h100x16-ring-vs-nccl", "pcie-typical"],
)  # fmt: skip
def test_all_that_a_published_csv_shows_is_found_in_an_article(name: str, setup: Setup) -> None:
    text = (shared_data() / "published" / f"{name}.csv").read_text()
    of_table, of_article = audit(text, "a.csv", setup), audit(as_article(text), "a.md", setup)
    assert codes(of_table) <= codes(of_article)
    assert (of_article.num_rows, of_article.num_rows_left_out) == (of_table.num_rows, 0)
    assert of_table.num_rows > 0


def test_what_the_published_studies_are_known_for_is_found() -> None:
    """Stated here, so that both readings can't lose it together."""
    found = {name: codes(audit((ARTICLES / f"{name}.md").read_text(), "a.md")) for name in (
        "default-against-tree", "finetune", "ring-in-python")}  # fmt: skip
    assert {"throughput-holds-other", "single-runs-compared"} <= found["default-against-tree"]
    assert {"setting-without-effect", "scaling-above-one", "single-runs-compared"} <= found["finetune"]
    assert {"throughput-holds-other"} <= found["ring-in-python"]
    impossible = audit((ARTICLES / "ring-and-tree.md").read_text(), "a.md", A100)
    assert {"above-limit", "winner-flips", "single-runs-compared"} <= codes(impossible)
    # And what is right stays right.
    assert audit((ARTICLES / "one-host.md").read_text(), "a.md").worst is None


RATES = "| Size | {title} |\n|---|---|\n| 1MB | 28 {unit} |\n| 268MB | {rate} {unit} |\n"


@pytest.mark.parametrize(("title", "unit"), [("busbw (GB/s)", ""), ("Bandwidth", "GB/s"), ("Tree", "GB/s")])
def test_rates_without_times_are_held_against_the_hardware(title: str, unit: str) -> None:
    above = audit(RATES.format(title=title, unit=unit, rate=864), "a.md", A100)
    assert [(one.code, one.severity, one.num_rows) for one in above.findings] == [("above-limit", Severity.ERROR, 1)]
    assert "limit-not-checked" not in codes(audit(RATES.format(title=title, unit=unit, rate=250), "a.md", A100))
    assert "above-limit" not in codes(audit(RATES.format(title=title, unit=unit, rate=250), "a.md", A100))


@pytest.mark.parametrize(
    ("title", "unit"), [("busbw (GB/s)", ""), ("Bandwidth", "GB/s"), ("Tree", ""), ("Tree", "GB/s")]
)
def test_rates_that_were_not_held_against_anything_are_said_so(title: str, unit: str) -> None:
    assert "limit-not-checked" in codes(audit(RATES.format(title=title, unit=unit, rate=864), "a.md"))


def test_a_rate_of_no_known_kind_may_be_the_larger_one() -> None:
    """An algbw of 340 GB/s is possible for a reduce-scatter there, a busbw is not."""
    assert "above-limit" not in codes(audit(RATES.format(title="Bandwidth", unit="GB/s", rate=330), "a.md", A100))
    assert "above-limit" in codes(audit(RATES.format(title="busbw", unit="GB/s", rate=330), "a.md", A100))


TIMES = "| Size | time (us) |\n|---|---|\n| 1MB | 20.5 |\n| 2MB | 30.5 |\n| 4MB | {last} |\n"


def test_rows_that_were_left_out_are_counted_in_the_verdict() -> None:
    whole, partial = audit(TIMES.format(last="40.5"), "a.md"), audit(TIMES.format(last="forty"), "a.md")
    assert whole.verdict == "nothing wrong found in 3 rows of 1 table"
    assert (partial.num_rows_left_out, partial.mostly_left_out) == (1, False)
    assert partial.verdict == (
        "2 of 3 rows read, in these nothing wrong was found; left out: "
        "1 row: a row of a table without a number that was measured (line 5)"
    )


def test_a_verdict_with_errors_names_what_was_left_out_too() -> None:
    text = RATES.format(title="busbw", unit="GB/s", rate=864) + "| 537MB | as before |\n"
    report = audit(text, "a.md", A100)
    assert report.verdict.startswith("don't use it: 1 error; 2 of 3 rows read; left out: 1 row: ")


def test_tables_of_other_things_are_no_rows_that_are_missing() -> None:
    other = "\n| Option | Meaning |\n|---|---|\n| -b | the first size |\n| -e | the last size |\n"
    report = audit(TIMES.format(last="40.5") + other, "a.md")
    assert (report.verdict, report.num_rows_left_out) == ("nothing wrong found in 3 rows of 1 table", 0)


def test_more_left_out_than_read() -> None:
    unread = "\n| Policy | median (ns) |\n|---|---|\n" + "| noop | 33 |\n" * 4
    report = audit(TIMES.format(last="40.5") + unread, "a.md")
    assert (report.num_rows_left_out, report.mostly_left_out) == (4, True)
    nothing = audit(unread, "a.md")
    assert nothing.verdict.startswith("nothing was read; left out: 4 rows: ")


@pytest.mark.parametrize(("last", "found"), [("208", True), ("108", False)])
@pytest.mark.parametrize("title", ["Bandwidth", "algbw"])
def test_one_figure_of_four_that_does_not_follow_from_its_time_is_found(title: str, last: str, found: bool) -> None:
    """1 MiB / 45 µs = 23.3 GB/s, 16 MiB / 210 µs = 79.9, 256 MiB / 2.6 ms = 103.2, 1 GiB / 9.9 ms = 108.5."""
    rows = "| 1 MB | 45 us | 23.3 GB/s |\n| 16 MB | 210 us | 79.9 GB/s |\n| 256 MB | 2.6 ms | 103 GB/s |\n"
    text = f"# all_reduce\n\n| Size | Time | {title} |\n|---|---|---|\n{rows}| 1 GB | 9.9 ms | {last} GB/s |\n"
    assert ("figures-do-not-fit" in codes(audit(text, "a.md"))) is found


def test_two_figures_that_differ_are_not_explained_by_one_of_them() -> None:
    """busbw/algbw is 1.875 in one row, that of 16 ranks, and 1.75 in the other: none of the two is the column's."""
    rows = "| 1 GiB | 257 | 482 |\n| 8 GiB | 257 | 450 |\n"
    text = f"# AllReduce on 16 GPUs\n\n| Size | algbw (GB/s) | busbw (GB/s) |\n|---|---|---|\n{rows}"
    assert codes(audit(text, "a.md")) - UNEXPLAINED == {"factor-varies"}


def test_another_number_of_ranks_is_likelier_than_another_unit() -> None:
    """450/257 = 1.751 is 2(n-1)/n of 8 ranks; 1.875 of 16 ranks in GiB/s would be 1.746, which the digits allow too."""
    rows = "| 1 GiB | 257 | 450 |\n| 8 GiB | 257 | 450 |\n"
    text = f"# AllReduce on 16 GPUs\n\n| Size | algbw (GB/s) | busbw (GB/s) |\n|---|---|---|\n{rows}"
    (found,) = (one for one in audit(text, "a.md").findings if one.code not in UNEXPLAINED)
    assert (found.code, found.title) == ("rank-count-differs", "busbw was computed for 8 ranks, but 16 are stated")


@pytest.mark.parametrize(
    ("second", "said"),
    [("5.0", "Tree is 2 times as fast as Ring"), ("9.5", "Tree is 5.3 % faster than Ring"),
     ("10.5", "Tree is 5 % slower than Ring"), ("40.0", "Tree is 4 times as slow as Ring")],
)  # fmt: skip
def test_how_two_configurations_compare_is_said_in_words(second: str, said: str) -> None:
    text = f"# all_reduce\n\n| Size | Ring (us) | Tree (us) |\n|---|---|---|\n| 1 MB | 10.0 | {second} |\n"
    (found,) = (one for one in audit(text, "a.md").findings if one.code == "single-runs-compared")
    assert found.arithmetic.lower().endswith(f"at 1 mb {said.lower()}")


def test_several_runs_of_a_training_are_not_single_runs() -> None:
    text = "nodes,default_tokens_per_s,tree_tokens_per_s,runs_per_cell\n1,100,101,{runs}\n2,190,195,{runs}\n"
    assert "single-runs-compared" in codes(audit(text.format(runs=1), "a.csv"))
    assert "single-runs-compared" not in codes(audit(text.format(runs=6), "a.csv"))


@pytest.mark.parametrize(
    ("heading", "second", "found"),
    [("tokens_per_s", "201", True), ("tokens_per_s", "199", False), ("tokens_per_s", "200", False)],
)
def test_growth_beyond_the_ranks(heading: str, second: str, found: bool) -> None:
    report = audit(f"nodes,gpus,{heading}\n1,8,100\n2,16,{second}.5\n".replace("200.5", "200"), "a.csv")
    assert ("scaling-above-one" in codes(report)) is found


def test_throughput_of_each_rank_does_not_grow() -> None:
    text = "| Nodes | Default (tokens/s/GPU) |\n|---|---|\n| 1 | 100.0 |\n| 2 | {second} |\n"
    assert "scaling-above-one" in codes(audit(text.format(second="104.0"), "a.md"))
    assert "scaling-above-one" not in codes(audit(text.format(second="98.0"), "a.md"))
