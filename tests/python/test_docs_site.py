"""A player on a built page: the frame is there, says what it is, works from a file, and follows the site's switch.

For: docs/_ext/player.py. Not for: the player itself (test_player.py), all pages (`make docs`).
"""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from browser_support import Page, browser

DOCS = Path(__file__).parents[2] / "docs"
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


@pytest.fixture(scope="module")
def opened(site: Path) -> Iterator[Page]:
    with browser() as one:
        yield Page(one, (site / "deep" / "page.html").as_uri())


def test_the_frame_plays_and_is_named(opened: Page) -> None:
    frame = opened.page.frame_locator("figure.player iframe")
    assert opened.page.get_attribute("figure.player iframe", "title") == 'A ring of "two" <ranks>.'
    assert frame.locator("#play").inner_text() == "Play"
    assert "ring" in frame.locator("#winner").inner_text()
    opened.page.frames[1].evaluate("player.seek(player.end)")
    assert "done" in frame.locator(".status").inner_text()
    assert "ringtree play ring --ranks 2" in opened.page.inner_text("figcaption")
    assert (opened.page.get_attribute("figcaption a", "href") or "").startswith("../players/ring-ranks-2.html")
    assert opened.problems == []


def test_the_frame_follows_the_switch_of_the_site(opened: Page) -> None:
    colour = "getComputedStyle(document.body).backgroundColor"
    found = {}
    for theme in ("light", "dark"):
        opened.run(f"document.body.dataset.theme = '{theme}'")
        opened.run("() => new Promise(done => requestAnimationFrame(() => requestAnimationFrame(done)))")
        found[theme] = opened.page.frames[1].evaluate(colour)
    assert found["light"] != found["dark"]


def test_a_player_that_does_not_exist_fails_the_build(tmp_path: Path) -> None:
    pytest.importorskip("sphinx", reason="needs sphinx (extra docs)")
    pytest.importorskip("furo", reason="needs furo (extra docs)")
    done = build(tmp_path, "rings --ranks 2")
    assert done.returncode != 0
    assert "rings" in done.stderr
