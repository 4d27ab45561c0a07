"""The web app over the store: lists, reports, the player, live progress; to this machine alone, and read only."""

from __future__ import annotations

import contextlib
import io
import json
import re
import signal
import subprocess
import sys
import urllib.error
import urllib.parse
import urllib.request
from collections.abc import Iterator
from pathlib import Path

import pytest
from audit_support import as_text, make_table
from browser_support import Page, browser
from comparison_support import noise
from lab_support import make_cell, make_launch, make_plan, make_run

from ringtree.judge.runs import compare, read_contender
from ringtree.logs.storing import store_log
from ringtree.results import RunWriter
from ringtree.show.runs_table import verdict_lines
from ringtree.units import format_change


def store_run(runs: Path, num_launches: int = 2, run_id: str = "20260101T000000Z-abcdef") -> str:
    """Stores a run of four planned launches of which so many are there; returns its id."""
    plan = make_plan(arms=["ring", "gloo"], sizes=[1024], num_launches=4)
    header = make_run(plan, run_id=run_id)
    with RunWriter(runs, header) as writer:
        for launch in range(num_launches):
            cells = [make_cell(arm, 1024, 1e-5 * (launch + 1), plan.num_ranks) for arm in ("ring", "gloo")]
            writer.append(make_launch(launch, cells))
    return header.run_id


@contextlib.contextmanager
def served(runs: Path) -> Iterator[str]:
    """Yields the address of an app of its own, which ends with the block."""
    pytest.importorskip("fastapi")
    pytest.importorskip("uvicorn")
    command = [sys.executable, "-m", "ringtree", "serve", "--runs", str(runs), "--port", "0"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        try:
            assert process.stdout is not None
            found = re.match(r"(http://127\.0\.0\.1:\d+)/", process.stdout.readline())
            assert found is not None
            yield found.group(1)
        finally:
            process.send_signal(signal.SIGINT)
            try:
                process.wait(30)
            except subprocess.TimeoutExpired:
                process.kill()
                raise


def get(address: str, host: str | None = None) -> tuple[int, str]:
    """Returns status and text."""
    request = urllib.request.Request(address, headers={} if host is None else {"Host": host})
    try:
        with urllib.request.urlopen(request, timeout=60) as answer:
            return answer.status, answer.read().decode()
    except urllib.error.HTTPError as error:
        return error.code, error.read().decode()


def test_it_lists_runs_and_shows_reports_and_the_player(tmp_path: Path) -> None:
    run_id = store_run(tmp_path)
    with served(tmp_path) as address:
        rows = json.loads(get(f"{address}/api/runs")[1])
        assert [(row["run_id"], row["launches_stored"], row["launches_planned"]) for row in rows] == [(run_id, 2, 4)]
        assert "path" not in rows[0]
        status, text = get(f"{address}/report?run={run_id}")
        assert status == 200
        assert run_id in text
        assert '"name":"ring"' in get(f"{address}/play?algorithms=ring&ranks=4")[1]


def test_it_answers_loopback_names_only_and_takes_no_paths(tmp_path: Path) -> None:
    runs = tmp_path / "runs"
    store_run(runs)
    other = store_run(tmp_path / "elsewhere", run_id="20260102T000000Z-ffffff")
    with served(runs) as address:
        assert get(f"{address}/api/runs", host="evil.example")[0] == 400
        for name in (f"../elsewhere/{other}", str(tmp_path / "elsewhere" / other), "last", other):
            status, text = get(f"{address}/report?run={urllib.parse.quote(name, safe='')}")
            assert status == 400, name
            assert "there is no run" in text
        assert get(f"{address}/static/..%2froutes.py")[0] == 404
        assert get(f"{address}/play?ranks=100000")[0] == 400
        assert get(f"{address}/play?algorithms=none")[0] == 400


def test_a_running_comparison_is_seen_as_it_goes(tmp_path: Path) -> None:
    with browser() as opened, served(tmp_path) as address:
        page = Page(opened, f"{address}/")
        page.until("document.getElementById('live').textContent === '0 runs'")
        plan = make_plan(arms=["ring", "gloo"], sizes=[1024], num_launches=4)
        with RunWriter(tmp_path, make_run(plan)) as writer:
            for launch in range(2):
                cells = [make_cell(arm, 1024, 1e-5, plan.num_ranks) for arm in ("ring", "gloo")]
                writer.append(make_launch(launch, cells))
            page.until("document.getElementById('live').textContent.includes('launch 2 of 4')")
        page.until("document.querySelector('#runs').textContent.includes('incomplete')")
        page.page.fill("#filter", "nothing like it")
        assert page.page.locator("#runs tr").count() == 0
        page.page.fill("#filter", "gloo")
        page.page.locator("#runs input").check()
        page.page.click("#report")
        page.page.wait_for_url("**/report?run=*")
        assert "all_reduce" in page.page.inner_text("h1")
        assert page.problems == []


def store_compared(runs: Path, run_id: str, factor: float) -> str:
    """Stores eight launches of two sizes; at the larger one the arm takes `factor` times as long. Returns the id."""
    plan = make_plan(arms=["ring"], sizes=[1024, 1 << 20], num_launches=8)
    with RunWriter(runs, make_run(plan, run_id=run_id)) as writer:
        for launch in range(8):
            cells = []
            for size in (1024, 1 << 20):
                seconds = 1e-5 * noise(launch, run_id, size) * (factor if size > 1024 else 1.0)
                cells.append(make_cell("ring", size, seconds, plan.num_ranks))
            writer.append(make_launch(launch, cells))
    return run_id


def test_chosen_runs_are_compared_with_the_first_chosen_one(tmp_path: Path) -> None:
    before = store_compared(tmp_path, "20260101T000000Z-aaaaaa", 1.0)
    after = store_compared(tmp_path, "20260102T000000Z-bbbbbb", 1.5)
    logs = [store_log(io.BytesIO(as_text(make_table()).encode()), "=a<b>.log", tmp_path).run_id for _ in range(2)]
    expected = compare([read_contender(one, tmp_path) for one in (before, after)])
    with browser() as opened, served(tmp_path) as address:
        page = Page(opened, f"{address}/")
        page.until("document.querySelectorAll('#runs tr').length === 4")
        for run_id in (before, after):  # the list has them the other way round
            page.page.get_by_label(f"choose {run_id}").check()
        page.page.click("#compare")
        page.page.wait_for_url("**/compare?run=*")
        assert page.page.inner_text("h1") == f"{after} against {before}"
        assert page.page.inner_text("#verdict") == "something is slower than the first one by more than 2 %"
        (series,) = expected.series
        lines = page.run("[...document.querySelectorAll('ul.verdicts li')].map(one => one.textContent)")
        assert lines[0].startswith("slower by more than 2 %")
        assert len(lines) == len(verdict_lines(series, expected.margin))
        rows = page.run(
            "[...document.querySelectorAll('.compared tbody tr')].map(r => [...r.cells].map(c => c.textContent.trim()))"
        )
        assert [(row[3], row[6]) for row in rows] == [
            (format_change(cell.ratio), cell.verdict) for cell in series.cells
        ]
        assert [row[4] for row in rows] == [
            f"{format_change(cell.low)} … {format_change(cell.high)}" for cell in series.cells if cell.low and cell.high
        ]
        page.page.locator(".copy button").first.click()
        assert page.run("window.copied").splitlines()[0] == "size,baseline,other,difference,interval,launches,verdict"
        page.page.goto(f"{address}/compare?run={logs[0]}&run={logs[1]}")
        assert page.page.inner_text("#verdict") == "single run: nothing can be claimed"
        assert page.run("document.querySelectorAll('.compared svg').length") == 0
        assert get(f"{address}/compare?run={before}")[0] == 400
        status, text = get(f"{address}/compare?run={before}&run={logs[0]}")
        assert status == 400
        assert "nothing in common" in text
        assert get(f"{address}/compare?run={before}&run=..%2F{before}")[0] == 400
        assert "&lt;b&gt;" in get(f"{address}/report?run={logs[0]}")[1]
        assert page.problems == []
        page.page.goto(f"{address}/")  # and stays there: Ctrl-C ends the app all the same
