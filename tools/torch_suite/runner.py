"""Runs tests of one gate, in processes that are forked from this one: to import PyTorch takes longer than most of them.

python -m torch_suite.runner --gate gloo --backend ringtree --results FILE [--only NAME …]
"""

from __future__ import annotations

import argparse
import sys
import tempfile
import time
import unittest
from pathlib import Path
from types import ModuleType

from torch_suite import verdicts
from torch_suite.gates import GATES, open_suite
from torch_suite.verdicts import Verdict

# Of one test; some of them wait for deadlines of a minute.
LIMIT_S = 150


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--gate", choices=GATES, required=True)
    parser.add_argument("--backend", required=True)
    parser.add_argument("--results", type=Path, required=True)
    parser.add_argument("--world-size", type=int, default=4)
    parser.add_argument("--only", nargs="*", help="tests; all that the gate lets through")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        suite = open_suite(options.gate, options.backend, options.world_size, Path(folder))
        run(suite, options.gate, options.only, options.results)


def run(suite: ModuleType, gate: str, only: list[str] | None, results: Path) -> None:
    kind = _test_class(suite)
    for name in only if only is not None else sorted(names(kind)):
        if only is None and static_skip(kind, name):
            continue
        begin = time.monotonic()
        outcome, reason = _run_one(kind(name))
        seconds = round(time.monotonic() - begin, 1)
        verdicts.append(results, Verdict(name, gate, outcome, reason, seconds))
        print(f"{outcome:8} {seconds:6.1f} s  {gate:4}  {name}  {reason[:100]}", flush=True)


def names(kind: type[unittest.TestCase]) -> list[str]:
    return [name for name in dir(kind) if name.startswith("test_")]


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


if __name__ == "__main__":
    main()
