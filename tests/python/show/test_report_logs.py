"""Logs on the report's page: their own numbers, what the audit found, and nothing claimed of a single run.

For: `ringtree report nccl.log` in a browser, and LogBook. Not for: runs of our own (test_report.py), findings
(test_audit_*.py).
"""

from __future__ import annotations

import csv
import io
import json
import re
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from audit_support import as_text, audited, make_table, usual_time, with_sides
from browser_support import Page, browser
from typer.testing import CliRunner

from ringtree.audit import Setup, Severity, audit_files
from ringtree.cli import app
from ringtree.errors import UsageError
from ringtree.hardware import highest, load_catalogue, topology_of
from ringtree.judge.runs import SINGLE
from ringtree.logs import Document, Format, Imported, Item, Printed, Row, Side, Table, read_file
from ringtree.show.run_page import report_page
from ringtree.show.views import LogBook, View, of_logs

EXAMPLE = Path(__file__).parents[3] / "docs" / "audit-example.log"
HOSTILE = "</script><script>window.hostile=1</script><img src=x onerror='window.hostile=2'><a href='http://example.invalid/'>x</a>"
FORMULA = '=HYPERLINK("http://example.invalid")'
ROWS = "[...document.querySelectorAll('#figures tbody tr')].map(r => [...r.cells].map(c => c.textContent))"
CURVES = "document.getElementById('%s').data.filter(t => t.marker).map(t => [t.name, t.x, t.y])"


@pytest.fixture(scope="module")
def opened() -> Iterator[Any]:
    pytest.importorskip("plotly")
    with browser() as one:
        yield one


def invoke(*arguments: str | Path) -> Any:
    return CliRunner().invoke(app, [*map(str, arguments)], catch_exceptions=False)


def of_items(*items: Item, name: str = "a.log", setup: Setup | None = None) -> LogBook:
    """A book of one file that was read before."""
    logs = LogBook(setup)

    def read(emit: Any) -> Imported:
        for item in items:
            emit(item)
        return Imported(name)

    logs.add_reading(name, read)
    return logs


def shown(opened: Any, tmp_path: Path, logs: LogBook, title: str = "test") -> Page:
    file = tmp_path / "report.html"
    file.write_text(report_page(logs.views(), title=title), encoding="utf-8")
    page = Page(opened, file.as_uri())
    page.drawn()
    return page


def test_a_log_is_shown_as_import_reads_it_with_what_the_audit_finds(opened: Any, tmp_path: Path) -> None:
    file = tmp_path / "report.html"
    assert invoke("report", EXAMPLE, "-o", file).exit_code == 0
    read = json.loads(invoke("import", "--dry-run", "--json", EXAMPLE).stdout)["files"][0]
    page = Page(opened, file.as_uri())
    rows = read["tables"][0]["rows"]
    for index, place in enumerate(("out of place", "in place")):
        page.page.select_option("#place", label=place)
        page.drawn()
        sides = [row["sides"][index] for row in rows]
        for chart, field in (("busbw", "busbw"), ("time", "time")):
            ((_, sizes, values),) = page.run(CURVES % chart)
            assert sizes == [row["size_bytes"] for row in rows]
            assert values == pytest.approx([side[field]["value"] for side in sides], rel=1e-5)
        cells = page.run(ROWS)
        assert [row[0] for row in cells] == [str(row["line"]) for row in rows]
        for cell, side in zip(cells, sides, strict=True):
            assert cell[2:5] == [
                f"{side[name]['text']} {unit}"
                for name, unit in zip(("time", "algbw", "busbw"), ("µs", "GB/s", "GB/s"), strict=True)
            ]
    (report,) = audit_files([EXAMPLE]).files
    assert report.findings
    assert page.page.inner_text(".verdicts li") == f"{EXAMPLE.name}: {report.verdict}"
    found = page.run(
        "[...document.querySelectorAll('.findings tbody tr')].map(r => [...r.cells].map(c => c.textContent))"
    )
    assert [(row[0], row[1], row[2]) for row in found] == [
        (one.severity.value, f"{one.code}: {one.title}", one.arithmetic) for one in report.findings
    ]
    assert [row[4] for row in found] == [one.settles for one in report.findings]
    assert page.problems == []
    assert page.requests == [page.page.url]


def test_a_single_run_has_no_bands_and_its_differences_are_grey(opened: Any, tmp_path: Path) -> None:
    for name, factor in (("ring.log", 1.0), ("tree.log", 3.0)):
        table = make_table(time=lambda size, factor=factor: factor * usual_time(size))  # type: ignore[misc]
        (tmp_path / name).write_text(as_text(table))
    logs = LogBook()
    for name in ("ring.log", "tree.log"):
        logs.add_reading(name, partial(read_file, tmp_path / name))
    page = shown(opened, tmp_path, logs)
    assert [name for name, _, _ in page.run(CURVES % "time")] == ["ring.log", "tree.log"]
    assert page.run("['busbw', 'time'].every(id => document.getElementById(id).data.every(t => !t.fill))")
    colours = page.run("document.getElementById('heatmap').layout.shapes.map(s => s.fillcolor)")
    assert set(colours) == {"rgb(217,217,217)"}
    against = page.run(
        "[...document.querySelectorAll('#figures tbody tr')].map(r => r.cells[r.cells.length - 1].textContent)"
    )
    assert "3×" in against
    assert SINGLE in page.page.inner_text("section.verdict")
    hidden = "['order', 'distribution', 'ranks'].every(id => document.getElementById(id).closest('section').hidden)"
    assert page.run(hidden)
    page.page.locator("#figures .copy button").first.click()
    rows = list(csv.reader(io.StringIO(page.run("window.copied"))))
    assert len(rows) == 1 + 2 * 21
    assert rows[1][1:5] == ["1 KB", "ring.log", "20.01 µs", "0.05 GB/s"]
    assert page.problems == []


def test_the_limit_is_that_of_the_catalogue(opened: Any, tmp_path: Path) -> None:
    page = shown(opened, tmp_path, of_items(make_table(), setup=Setup(system="DGX H100")))
    known = load_catalogue()
    system, gpu = known.systems["DGX H100"], known.gpus["H100 SXM5 80GB"]
    top = highest("all_reduce", topology_of(system, gpu, num_hosts=1, ranks_per_host=8, catalogue=known))
    lines = page.run("document.getElementById('busbw').data.filter(t => !t.marker).map(t => [t.name, t.y[0]])")
    assert lines[0] == ["limit of any algorithm", pytest.approx(top.busbw, rel=1e-5)]
    assert top.arithmetic in page.page.inner_text("section.verdict")


def test_hostile_text_of_a_log_never_runs_and_formulas_stay_text(opened: Any, tmp_path: Path) -> None:
    sides = (Side(HOSTILE, Printed("10", 1e-6), None, None, Printed("1")),)
    whole = make_table(algorithm=HOSTILE, protocol=FORMULA, title=HOSTILE, job=HOSTILE, library_version=HOSTILE)
    whole.devices, whole.hosts = [HOSTILE] * 8, [FORMULA]
    whole.environment, whole.settings = {HOSTILE: HOSTILE, "NCCL_X": FORMULA}, {HOSTILE: FORMULA}
    whole.infer(HOSTILE, HOSTILE, HOSTILE)
    odd = Table(
        Format(HOSTILE), 40, collective=HOSTILE, num_ranks=3, rows=[Row(41, 8, sides, dtype=HOSTILE, op=FORMULA)]
    )
    again = make_table(algorithm=FORMULA, first_line=90)
    page = shown(opened, tmp_path, of_items(whole, again, odd, name=HOSTILE), title=HOSTILE)
    for tab in range(page.page.locator(".tab").count()):
        page.page.locator(".tab").nth(tab).click()
        page.drawn()
        for chart in ("busbw", "heatmap"):
            if page.run(f"(document.getElementById('{chart}').data || []).length > 0"):
                page.run(f"Plotly.Fx.hover(document.getElementById('{chart}'), [{{curveNumber: 0, pointNumber: 0}}])")
    page.page.locator(".tab").first.click()
    assert page.run("window.hostile === undefined")
    assert page.run("document.querySelectorAll('img[src=x], svg a').length") == 0
    page.page.locator("#figures .copy button").first.click()
    cells = [cell for row in csv.reader(io.StringIO(page.run("window.copied"))) for cell in row]
    assert f"'{FORMULA}" in cells
    assert not [cell for cell in cells if cell.startswith(("=", "+", "@"))]
    assert page.problems == []


def test_an_imported_log_of_the_store_and_files_without_tables(tmp_path: Path) -> None:
    log = tmp_path / "nccl.log"
    log.write_text(as_text(make_table()))
    runs = tmp_path / "runs"
    stored = json.loads(invoke("import", "--json", log, "--runs", runs).stdout)["files"][0]["stored"]
    file = tmp_path / "report.html"
    assert invoke("report", stored, "--runs", runs, "-o", file).exit_code == 0
    assert "nccl.log" in file.read_text()
    assert invoke("report", "nothing", "--runs", runs, "-o", file).exit_code == 2
    (view,) = of_items(Document(Format("nccl-topo"), "topology", 1, {})).views()
    assert view.heading == "a.log: no table of timings"
    assert view.verdicts == ["a.log: nothing to audit: no table of timings"]


def test_a_file_without_a_table_makes_no_page(tmp_path: Path) -> None:
    (tmp_path / "prose.md").write_text("# Words\n\nNothing was measured.\n")
    page = tmp_path / "report.html"
    result = invoke("report", tmp_path / "prose.md", "-o", page)
    assert (result.exit_code, result.stdout) == (2, "")
    assert result.stderr.count("\n") == 1
    assert "prose.md: no table of timings" in result.stderr
    assert not page.exists()
    assert invoke("report", tmp_path / "prose.md", EXAMPLE, "-o", page).exit_code == 0


def test_tables_of_one_question_share_a_view_and_each_has_a_name_of_its_own() -> None:
    first, second = make_table(first_line=5), make_table(first_line=50)
    logs = of_items(first, second, make_table("all_gather", first_line=90), make_table(num_ranks=4, first_line=120))
    views = logs.views()
    assert [(one.collective, one.num_ranks) for one in views] == [
        ("all_reduce", 8),
        ("all_gather", 8),
        ("all_reduce", 4),
    ]
    assert views[0].arms == ["a.log, line 5", "a.log, line 50"]
    lines = {(one["code"], one["where"]) for view in views[1:] for one in view.findings}
    assert not any("line 50" in where for _, where in lines)


def test_what_nccl_says_that_it_ran_stands_beside_the_figures() -> None:
    def view(*ran: str) -> View:
        decisions = [
            {"collective": "all_reduce", "size_bytes": 1 << 30, "algorithm": one, "protocol": "Simple"} for one in ran
        ]
        lines = Document(Format("nccl-info"), "nccl_communicator", 1, {"decisions": decisions, "left_out": {}})
        return of_items(make_table(sizes=[1 << 29, 1 << 30]), lines).views()[0]

    assert [cell.executed for cell in view("Ring").cells] == [[], [], ["Ring/Simple"], ["Ring/Simple"]]
    assert {tuple(cell.executed) for cell in view("Ring", "Tree").cells} == {()}  # of either, nothing tells which


def test_what_a_page_has_no_room_for_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(of_logs, "MAX_ARMS", 2)
    views = of_items(*(make_table(first_line=5 + 50 * k) for k in range(3))).views()
    assert len(views[0].arms) == 2
    assert views[0].left_out["1 table"] == "a chart holds 2"
    monkeypatch.setattr(of_logs, "MAX_SIDES", 50)
    (view,) = of_items(make_table(first_line=5), make_table(first_line=60)).views()
    assert view.left_out["a.log"] == "42 measurements; the page holds 50"
    wrong = with_sides(make_table(first_line=60), lambda row, one: one._replace(wrong=Printed("17")))
    (view,) = of_items(make_table(first_line=5), wrong).views()
    (hidden,) = [why for what, why in view.left_out.items() if "finding" in what]
    assert "tables that are not here" in hidden
    assert view.verdicts[0].startswith("a.log: don't use it")
    monkeypatch.setattr(of_logs, "MAX_SIDES", 1)
    (view,) = of_items(make_table()).views()
    assert view.heading == "a.log: its tables have no room here"
    with pytest.raises(UsageError):
        report_page(LogBook().views(), title="none")


def test_values_near_each_other_have_labels_and_scaling_of_logs_claims_nothing(opened: Any, tmp_path: Path) -> None:
    near = {1 << 30: 0.020, 1 << 31: 0.039}  # busbw 94 and 96 GB/s
    machines = {8: ["A100"], 16: ["A100"], 32: ["L40S"]}
    tables = [
        make_table(num_ranks=n, sizes=list(near), time=lambda size: near[size], devices=devices)
        for n, devices in machines.items()
    ]
    logs = of_items(*tables)
    page = shown(opened, tmp_path, logs)
    low, high = (10**end for end in page.run("document.getElementById('busbw')._fullLayout.yaxis.range"))
    labelled = page.run("document.getElementById('busbw').layout.yaxis.tickvals")
    assert len([tick for tick in labelled if low <= tick <= high]) >= 2
    assert page.run("equalTicks(1e-5, 1e-5 * (1 + 4e-16)).length") == 1  # times that differ by rounding alone
    assert "nothing can be claimed" in page.page.inner_text("#scaling-note")
    assert "other devices than A100" in page.page.inner_text("#scaling-note")
    assert page.run("document.getElementById('scaling').data[0].x") == [8, 16]
    assert page.problems == []


def test_a_tab_says_what_was_found_behind_it() -> None:
    """Else the first screen of a page with a bad log behind its second tab would read as if all were well."""
    well = make_table("all_reduce", 8)
    wrong = with_sides(make_table("all_gather", 8, first_line=100), lambda row, one: one._replace(wrong=Printed("3")))
    page = report_page(of_items(well, wrong).views(), title="two")
    tabs = re.findall(r'<button type="button" class="tab".*?</button>', page)
    assert len(tabs) == 2
    found = [one.severity for one in audited(well, wrong).findings if one.severity is not Severity.INFO]
    assert set(found) == {Severity.ERROR}
    said = f"{len(found)} error" + "s" * (len(found) > 1)
    assert [re.findall(r'class="(error|warning)">([^<]*)<', tab) for tab in tabs] == [[], [("error", said)]]
