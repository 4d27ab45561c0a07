"""Tests that start a process, a thread or a socket are put off, so that all others can run side by side.

For: `make test-python`, in three parts. `--defer FILE` runs every test until it starts something; such a test is
stopped there, counts as deferred and is written to FILE. `--deferred FILE` runs those: a few side by side
(`-m "not alone"`), then the others one after the other (`-m alone`). Which tests start something is found out by each
run: there is no list of files that could be out of date. Marked `alone`: a test that starts threads in C++, which
nothing here sees, that looks at all of the machine (/dev/shm), or whose result depends on how fast the machine is.
"""

from __future__ import annotations

import importlib
import importlib.util
import multiprocessing.process
import sys
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

_STARTS = ("subprocess.Popen", "os.fork", "os.forkpty", "os.posix_spawn", "os.system", "os.exec", "socket.bind")


class Deferred(pytest.skip.Exception):
    """Goes through `except Exception`, which it is none of: what a test would make of it is not asked."""


class Deferring:
    """Stops a test that starts something, and remembers it."""

    def __init__(self, file: Path) -> None:
        self.file = file
        self.names: dict[str, None] = {}
        self.in_a_test = False
        self.fired = False
        sys.addaudithook(self.audit)
        self._stop_at(threading.Thread, "start")
        self._stop_at(multiprocessing.process.BaseProcess, "start")
        if importlib.util.find_spec("playwright"):  # stopped halfway, it would be in the way of the next
            self._stop_at(importlib.import_module("playwright.sync_api").sync_playwright().__class__, "__enter__")

    def _stop_at(self, owner: type, name: str) -> None:
        """Starts of which Python tells no audit hook."""
        start = getattr(owner, name)

        def checked(*arguments: Any) -> Any:
            self.started(f"{owner.__name__}.{name}")
            return start(*arguments)

        setattr(owner, name, checked)

    def audit(self, event: str, _: tuple[Any, ...]) -> None:
        if event in _STARTS:
            self.started(event)

    def started(self, what: str) -> None:
        if self.in_a_test:
            self.fired = True
            raise Deferred(what)

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_protocol(self, item: pytest.Item) -> Iterator[None]:
        self.in_a_test, self.fired = True, False
        try:
            return (yield)
        finally:
            self.in_a_test = False

    def pytest_runtest_setup(self, item: pytest.Item) -> None:
        if item.get_closest_marker("alone"):
            self.started("alone")

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_makereport(self, call: pytest.CallInfo[None]) -> Iterator[Any]:
        """Also if the test caught what stopped it, and if a fixture of several tests was stopped for an earlier one."""
        report = yield
        of_fixture = call.excinfo is not None and call.excinfo.errisinstance(Deferred)
        self.fired = self.fired or of_fixture
        if self.fired:
            report.outcome, report.deferred = "skipped", call.when != "teardown"
            report.longrepr = (report.location[0], report.location[1], "deferred")
        return report

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """In the process that controls: under xdist, the reports of all its workers come here."""
        if hasattr(report, "deferred"):
            self.names[report.nodeid] = None

    def pytest_sessionfinish(self, session: pytest.Session) -> None:
        if not hasattr(session.config, "workerinput"):
            self.file.parent.mkdir(parents=True, exist_ok=True)
            self.file.write_text("".join(f"{name}\n" for name in self.names))


class OnlyDeferred:
    """Runs what was put off."""

    def __init__(self, file: Path) -> None:
        self.names = set(file.read_text().split("\n")) - {""}
        self.files = {name.split("::", 1)[0] for name in self.names}

    def pytest_ignore_collect(self, collection_path: Path, config: pytest.Config) -> bool | None:
        """Files without any are not even read: half of them, which every worker would import."""
        if collection_path.suffix != ".py" or not collection_path.name.startswith("test_"):
            return None
        return collection_path.relative_to(config.rootpath).as_posix() not in self.files or None

    @pytest.hookimpl(tryfirst=True)  # before `-m` leaves out a part of them
    def pytest_collection_modifyitems(self, config: pytest.Config, items: list[pytest.Item]) -> None:
        chosen = [item for item in items if item.nodeid in self.names]
        lost = self.names - {item.nodeid for item in chosen}
        if lost:
            raise pytest.UsageError(f"deferred and not found again: {', '.join(sorted(lost)[:5])}")
        config.hook.pytest_deselected(items=[item for item in items if item.nodeid not in self.names])
        items[:] = chosen


def pytest_addoption(parser: pytest.Parser) -> None:
    group = parser.getgroup("ringtree")
    group.addoption("--defer", type=Path, metavar="FILE", help="put off tests that start something; write them to FILE")
    group.addoption("--deferred", type=Path, metavar="FILE", help="run only the tests that --defer has put off")


def pytest_configure(config: pytest.Config) -> None:
    if config.option.defer:
        config.pluginmanager.register(Deferring(config.option.defer))
    if config.option.deferred:
        config.pluginmanager.register(OnlyDeferred(config.option.deferred))


def pytest_report_teststatus(report: pytest.TestReport) -> tuple[str, str, str] | None:
    if not hasattr(report, "deferred"):
        return None
    return ("deferred", "d", "DEFERRED") if report.deferred else ("", "", "")
