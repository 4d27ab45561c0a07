"""A player on a built page: the frame is there, says what it is, has the page's theme, and plays, from file and server.

For: docs/_ext/player.py. Not for: the player itself (test_player.py), all pages (`make docs`).
"""

from __future__ import annotations

import contextlib
import functools
import subprocess
import sys
import threading
from collections.abc import Iterator
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest
from browser_support import Page, browser

DOCS = Path(__file__).parents[3] / "docs"
CONFIGURATION = (DOCS / "conf.py").read_text().replace("Path(__file__).parents[1]", f"Path({str(DOCS.parent)!r})")
PLAYER = '```{{player}} {arguments}\n\nA ring of "two" <ranks>.\n```\n'


def build(folder: Path, arguments: str) -> subprocess.CompletedProcess[str]:
    """A site of one page in a folder, with the configuration of ours."""
    (folder / "deep").mkdir(parents=True)
    here = CONFIGURATION.replace('Path(__file__).parent / "_ext"', f"Path({str(DOCS / '_ext')!r})")
    here = here.replace('["_static"]', f"[{str(DOCS / '_static')!r}]")
    (folder / "conf.py").write_text(here)
    (folder / "index.md").write_text("# Site\n\n```{toctree}\ndeep/page\n```\n")
    (folder / "deep" / "page.md").write_text("# Page\n\n" + PLAYER.format(arguments=arguments))
    sphinx = [sys.executable, "-m", "sphinx", "-W", "-q", "-b", "html", str(folder), str(folder / "out")]
    return subprocess.run(sphinx, capture_output=True, text=True, timeout=120, check=False)


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    pytest.importorskip("sphinx", reason="needs sphinx (extra docs)")
    pytest.importorskip("furo", reason="needs furo (extra docs)")
    folder = tmp_path_factory.mktemp("site")
    done = build(folder, "ring --ranks 2")
    assert done.returncode == 0, done.stderr
    return folder / "out"


@contextlib.contextmanager
def address(site: Path, scheme: str) -> Iterator[str]:
    if scheme == "file":
        yield site.as_uri()
        return
    handler = functools.partial(SimpleHTTPRequestHandler, directory=str(site))
    with ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        threading.Thread(target=server.serve_forever).start()
        try:
            yield f"http://127.0.0.1:{server.server_port}"
        finally:
            server.shutdown()


@pytest.fixture(scope="module", params=["file", "http"])
def opened(request: pytest.FixtureRequest, site: Path) -> Iterator[Page]:
    with browser() as one, address(site, request.param) as where:
        yield Page(one, f"{where}/deep/page.html")


def test_the_frame_plays_and_is_named(opened: Page) -> None:
    frame = opened.page.frame_locator("figure.player iframe")
    assert opened.page.get_attribute("figure.player iframe", "title") == 'A ring of "two" <ranks>.'
    assert frame.locator("#play").inner_text() == "Play"
    assert "ring" in frame.locator("#winner").inner_text()
    opened.page.frames[1].evaluate("player.seek(player.end)")
    assert "done" in frame.locator(".status").inner_text()
    assert "ringtree play ring --ranks 2" in opened.page.inner_text("figcaption")
    assert (opened.page.get_attribute("figcaption a", "href") or "").startswith("../players/ring-ranks-2.html")
    # A browser asks every server for an icon; that there is none is not a problem of the page.
    assert [one for one in opened.problems if "404" not in one] == []
    assert all(one.startswith(("file:", "http://127.0.0.1:", "data:")) for one in opened.requests)


def test_the_frame_is_light_or_dark_as_the_page_around_it_and_goes_on(opened: Page) -> None:
    switch = opened.page.locator(".theme-toggle-header, .theme-toggle-content").locator("visible=true").first
    frame = opened.page.frames[1]
    frame.evaluate("player.seek(player.end)")
    entries = opened.run("history.length")
    assert entries <= 2  # the empty page of a new window, and this one
    seen = []
    for system in ("light", "dark"):
        opened.page.emulate_media(color_scheme=system)
        for _ in range(3):
            switch.click()
            chosen = opened.run("document.body.dataset.theme")
            shown = system if chosen == "auto" else chosen
            frame.wait_for_selector(f"html[data-theme={shown}]", state="attached")
            assert frame.url.endswith(f"#theme={chosen}")
            seen.append((system, chosen))
    assert len(set(seen)) == 6  # light, dark and auto under both systems
    assert frame.evaluate("player.time === player.end")  # it was not loaded anew
    assert opened.run("history.length") == entries
    opened.page.reload()
    opened.page.frames[1].wait_for_selector(f"html[data-theme={shown}]", state="attached")


def test_a_player_that_does_not_exist_fails_the_build(tmp_path: Path) -> None:
    pytest.importorskip("sphinx", reason="needs sphinx (extra docs)")
    pytest.importorskip("furo", reason="needs furo (extra docs)")
    done = build(tmp_path, "rings --ranks 2")
    assert done.returncode != 0
    assert "rings" in done.stderr
