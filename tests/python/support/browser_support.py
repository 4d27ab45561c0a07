"""A browser for tests of pages: the system's Chromium, driven by Playwright.

For: pages of ringtree.show. Not for: downloading browsers: where no Chromium is installed, tests are skipped and say
so.
"""

from __future__ import annotations

import contextlib
import json
import shutil
from collections.abc import Iterator
from typing import Any

import pytest

NAMES = ("chromium", "chromium-browser", "google-chrome")


@contextlib.contextmanager
def browser() -> Iterator[Any]:
    """Yields a headless browser; skips the test where there is none."""
    playwright = pytest.importorskip("playwright.sync_api", reason="needs playwright")
    program = next((path for path in map(shutil.which, NAMES) if path is not None), None)
    if program is None:
        pytest.skip("needs chromium (Debian: apt-get install chromium)")
    with playwright.sync_playwright() as driver:
        # Without its sandbox, since tests may run as root; every page is one that the test wrote.
        opened = driver.chromium.launch(executable_path=program, args=["--no-sandbox"])
        try:
            yield opened
        finally:
            opened.close()


class Page:
    """The browser's one page, and everything that went wrong on it: `problems` must stay empty. Closes those that were
    there, whose animations would go on."""

    def __init__(self, opened: Any, address: str, **options: Any) -> None:
        self.problems: list[str] = []
        self.requests: list[str] = []
        for earlier in opened.contexts:
            earlier.close()
        self.page = opened.new_page(**options)
        self.page.on("console", lambda message: self._console(message))
        self.page.on("pageerror", lambda error: self.problems.append(str(error)))
        self.page.on("request", lambda request: self.requests.append(request.url))
        self.page.goto(address)

    def run(self, script: str, *arguments: Any) -> Any:
        """Evaluates JavaScript in the page and returns its value."""
        return self.page.evaluate(script, *arguments)

    def run_on_text(self, function: str, argument: Any) -> Any:
        """Calls a JavaScript function with plain data and returns plain data, both as JSON: Playwright takes values
        apart and puts them together again piece by piece, which for a schedule takes seconds."""
        script = f"text => JSON.stringify(({function})(JSON.parse(text)))"
        return json.loads(self.page.evaluate(script, json.dumps(argument)))

    def until(self, condition: str) -> None:
        """Waits until a JavaScript condition holds, frame by frame (Playwright's own way needs eval, which pages
        forbid); 30 seconds at most."""
        self.page.evaluate(
            f"() => new Promise((done, gave_up) => {{ const end = performance.now() + 30000; const look = () => {{"
            f"if ({condition}) done(); else if (performance.now() > end) gave_up(new Error('never')); "
            f"else requestAnimationFrame(look); }}; look(); }})"
        )

    def drawn(self) -> None:
        """Waits until a report has drawn all its charts, which it does one after the other."""
        self.until("document.documentElement.dataset.charts === 'drawn'")

    def _console(self, message: Any) -> None:
        if message.type in ("error", "warning"):
            self.problems.append(message.text)
