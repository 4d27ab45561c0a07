"""Lists and runs tests of one gate, in a process that is forked for it, with ranks that are forked from that: to import
PyTorch takes longer than most of them.
"""

from __future__ import annotations

import os
import sys
import tempfile
import time
import unittest
from collections.abc import Sequence
from pathlib import Path
from types import ModuleType

from torch_suite import verdicts
from torch_suite.gates import open_suite
from torch_suite.verdicts import Verdict

# Of one test; some of them wait for deadlines of a minute.
LIMIT_S = 150


def skips(gate: str, backend: str, world_size: int) -> dict[str, str]:
    """Why a decorator skips each test of the suite, "" where none does. Once in a process."""
    with tempfile.TemporaryDirectory() as folder:
        kind = _test_class(open_suite(gate, backend, world_size, Path(folder)))
        return {name: static_skip(kind, name) for name in dir(kind) if name.startswith("test_")}


def run(gate: str, backend: str, world_size: int, wanted: Sequence[str], results: Path) -> None:
    """Runs the tests; a verdict each comes into `results`, their stderr into a log beside it. Once in a process."""
    with (results.parent / f"{backend}.log").open("a") as log:
        os.dup2(log.fileno(), sys.stderr.fileno())
    with tempfile.TemporaryDirectory() as folder:
        _run_in(_test_class(open_suite(gate, backend, world_size, Path(folder))), gate, wanted, results)


def _run_in(kind: type[unittest.TestCase], gate: str, wanted: Sequence[str], results: Path) -> None:
    for name in wanted:
        begin = time.monotonic()
        outcome, reason = _run_one(kind(name))
        seconds = round(time.monotonic() - begin, 1)
        verdicts.append(results, Verdict(name, gate, outcome, reason, seconds))
        print(f"{outcome:8} {seconds:6.1f} s  {gate:4}  {name}  {reason[:100]}", flush=True)


def static_skip(kind: type[unittest.TestCase], name: str) -> str:
    """Returns why a decorator skips the test, "" if none does."""
    function = getattr(kind, name)
    return str(getattr(function, "__unittest_skip_why__", "skipped")) if _is_skipped(function) else ""


def _is_skipped(function: object) -> bool:
    return bool(getattr(function, "__unittest_skip__", False))


def _test_class(suite: ModuleType) -> type[unittest.TestCase]:
    common = sys.modules["torch.testing._internal.common_distributed"]
    common.get_timeout = lambda _: LIMIT_S  # type: ignore[attr-defined]
    torch = sys.modules["torch"]

    class TestBackend(suite.TestDistBackend, suite.DistributedTest._DistTestBase):  # type: ignore[misc, name-defined]
        def setUp(self) -> None:
            super().setUp()
            self._start_processes(torch.multiprocessing.get_context("fork").Process)

    return TestBackend


def _run_one(test: unittest.TestCase) -> tuple[verdicts.Outcome, str]:
    result = unittest.TestResult()
    unittest.TestSuite([test]).run(result)  # with setUpClass
    problems = [*result.errors, *result.failures]
    if problems:
        text = problems[0][1].strip()
        print(text[-4000:], file=sys.stderr, flush=True)
        lines = [line for line in text.splitlines() if "Error" in line or "Exception" in line]
        return "failed", (lines or text.splitlines())[-1].strip()
    if result.skipped:
        return "skipped", result.skipped[0][1]
    return "passed", ""
