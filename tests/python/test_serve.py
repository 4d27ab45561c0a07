"""The web app over the store: lists, reports, the player, live progress; to this machine alone, and read only."""

from __future__ import annotations

import contextlib
import json
import re
import signal
import subprocess
import sys
import urllib.error
import urllib.request
from collections.abc import Iterator
from pathlib import Path

import pytest
from browser_support import Page, browser
from lab_support import make_cell, make_launch, make_plan, make_run

from ringtree.results import RunWriter


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
            process.wait(30)


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
            status, text = get(f"{address}/report?run={urllib.request.quote(name, safe='')}")
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
