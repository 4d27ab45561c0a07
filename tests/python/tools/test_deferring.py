"""Tests that start something are put off, whatever they make of it; all others run; each runs in one part."""

from __future__ import annotations

from pathlib import Path

import pytest

pytest_plugins = ["pytester"]

SUITE = """
import multiprocessing, os, socket, subprocess, threading
import pytest

@pytest.fixture(scope="module")
def process():
    return subprocess.run(["true"], check=True)

def test_process_of_a_fixture(process):
    pass

def test_same_fixture_again(process):
    pass

def test_thread():
    threading.Thread(target=int).start()

def test_fork():
    child = os.fork()
    if child == 0:
        os._exit(0)
    os.waitpid(child, 0)

def test_spawn():
    multiprocessing.get_context("spawn").Process(target=int).start()

def test_socket():
    with socket.socket() as bound:
        bound.bind(("127.0.0.1", 0))

def test_that_hides_it():
    try:
        subprocess.run(["true"], check=True)
    except BaseException:
        pass

@pytest.mark.alone
def test_marked():
    pass

def test_quiet():
    pass

def test_quiet_that_fails():
    assert False
"""
KINDS = ("process_of_a_fixture", "same_fixture_again", "thread", "fork", "spawn", "socket", "that_hides_it", "marked")
PUT_OFF = [f"test_suite.py::test_{kind}" for kind in KINDS]
STARTED, MARKED = len(PUT_OFF), 1


@pytest.fixture
def suite(pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch) -> pytest.Pytester:
    pytester.makepyfile(test_suite=SUITE)
    pytester.makeini("[pytest]\nmarkers = alone")
    monkeypatch.setenv("PYTHONPATH", str(Path(__file__).resolve().parents[2]))
    return pytester


@pytest.mark.parametrize("jobs", [(), ("-n", "2")])
def test_what_starts_something_is_put_off(suite: pytest.Pytester, jobs: tuple[str, ...]) -> None:
    first = suite.runpytest_subprocess("-p", "deferring", "--defer", "put-off", *jobs)
    assert first.ret == pytest.ExitCode.TESTS_FAILED
    assert first.parseoutcomes() == {"passed": 1, "failed": 1, "deferred": STARTED}
    assert sorted(suite.path.joinpath("put-off").read_text().splitlines()) == sorted(PUT_OFF)


@pytest.mark.parametrize(
    ("chosen", "outcomes"),
    [
        ((), {"passed": STARTED, "deselected": 2}),
        (("-m", "not alone", "-n", "2"), {"passed": STARTED - MARKED}),
        (("-m", "alone"), {"passed": MARKED, "deselected": 2 + STARTED - MARKED}),
    ],
)
def test_what_was_put_off_runs_in_one_part(
    suite: pytest.Pytester, chosen: tuple[str, ...], outcomes: dict[str, int]
) -> None:
    suite.path.joinpath("put-off").write_text("".join(f"{name}\n" for name in PUT_OFF))
    done = suite.runpytest_subprocess("-p", "deferring", "--deferred", "put-off", *chosen)
    assert (done.ret, done.parseoutcomes()) == (0, outcomes)


def test_a_test_that_is_lost_is_an_error(suite: pytest.Pytester) -> None:
    suite.path.joinpath("put-off").write_text("test_suite.py::test_gone\n")
    done = suite.runpytest_subprocess("-p", "deferring", "--deferred", "put-off")
    assert done.ret == pytest.ExitCode.USAGE_ERROR
    done.stderr.fnmatch_lines(["*deferred and not found again: test_suite.py::test_gone"])


def test_files_without_a_test_that_was_put_off_are_not_read(suite: pytest.Pytester) -> None:
    suite.path.joinpath("test_other.py").write_text("raise ImportError\n")
    suite.path.joinpath("put-off").write_text("test_suite.py::test_marked\n")
    done = suite.runpytest_subprocess("-p", "deferring", "--deferred", "put-off")
    assert (done.ret, done.parseoutcomes()["passed"]) == (0, 1)
