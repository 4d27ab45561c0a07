"""`make torch-suite`: PyTorch's tests of torch.distributed on this backend and on Gloo, then docs/torch-suite.md.

Results are kept in build/torch-suite/ test by test: a run that was stopped goes on where it was (--again forgets them).
`make torch-suite-check`: all of them on this backend alone, from the beginning; fails as verdicts.problems() says.
"""

from __future__ import annotations

import argparse
import importlib
import multiprocessing
import os
import sys
from collections.abc import Callable
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

from torch_suite import page, runner, verdicts
from torch_suite.gates import GATES

_FORKS = multiprocessing.get_context("fork")
# What a suite imports besides itself, in five seconds: here once, before a process is forked for each of them.
_OF_ALL = ("torch.testing._internal.common_utils", "torch._dynamo", "ringtree")
_READ_BY_IMPORTS = {"CUDA_VISIBLE_DEVICES": "", "OMP_NUM_THREADS": "1"}


def main() -> int:
    parser = argparse.ArgumentParser(prog="torch_suite", description=__doc__)
    parser.add_argument("--backends", nargs="+", default=["ringtree", "gloo"])
    parser.add_argument("--world-size", type=int, default=4)
    parser.add_argument("--results", type=Path, default=Path("build/torch-suite"))
    parser.add_argument("--only", nargs="+", metavar="TEST", help="these tests; the page is not written")
    parser.add_argument("--shard", default="1/1", metavar="I/N", help="every N-th test, from the I-th")
    parser.add_argument("--again", action="store_true", help="forget earlier results")
    parser.add_argument("--check", action="store_true", help="judge a whole run; the page is not written")
    parser.add_argument("--page", type=Path, default=Path("docs/torch-suite.md"))
    options = parser.parse_args()
    os.environ.update(_READ_BY_IMPORTS)
    for name in _OF_ALL:
        importlib.import_module(name)
    version = importlib.import_module("torch").__version__
    options.results.mkdir(parents=True, exist_ok=True)
    index, count = (int(part) for part in options.shard.split("/"))
    if not 1 <= index <= count:
        parser.error(f"--shard {options.shard}: I is from 1 to N")
    _forget_others(options.results, f"PyTorch {version}, {options.world_size} ranks\n", options.again)
    failed = 0
    for backend in options.backends:
        file = options.results / f"{backend}.jsonl"
        planned = plan(backend, options.world_size)
        for name, reason in planned.skipped.items():
            if not options.only and name not in {verdict.test for verdict in verdicts.read(file)}:
                verdicts.append(file, verdicts.Verdict(name, "none", "skipped", reason, 0.0))
        for gate in GATES:
            done = {verdict.test for verdict in verdicts.read(file)}
            wanted = [name for name, its in sorted(planned.gates.items()) if its == gate][index - 1 :: count]
            wanted = [name for name in wanted if name not in done and (not options.only or name in options.only)]
            if wanted:
                _run(gate, backend, options.world_size, file, wanted)
        if backend != "gloo":
            failed += sum(one.outcome == "failed" and one.test not in verdicts.KNOWN for one in verdicts.read(file))
    if options.check:
        problems = [line for backend in options.backends for line in _problems(options.results, backend)]
        print("\n".join(problems) or "PyTorch's own tests: all that are not known to fail pass")
        return 1 if problems else 0
    if not options.only and count == 1:
        page.write(options.page, options.results, options.backends, options.world_size)
    return 1 if failed else 0


def _problems(results: Path, backend: str) -> list[str]:
    return verdicts.problems(verdicts.read(results / f"{backend}.jsonl"))


def _forget_others(results: Path, about: str, again: bool) -> None:
    """Verdicts of another PyTorch or number of ranks are not gone on with."""
    file = results / "about.txt"
    if again or not file.exists() or file.read_text() != about:
        for verdict_file in results.glob("*.jsonl"):
            verdict_file.unlink()
    file.write_text(about)


class Plan:
    """Which gate each test goes through, and which go through none, with the last gate's reason."""

    def __init__(self) -> None:
        self.gates: dict[str, str] = {}
        self.skipped: dict[str, str] = {}


def plan(backend: str, world_size: int) -> Plan:
    found = Plan()
    for gate in GATES:
        listed = _forked(runner.skips, gate, backend, world_size)
        if listed is None:
            sys.exit(f"torch_suite: the process that lists the tests of {gate} ended")
        for name, why in listed.items():
            if name in found.gates:
                continue
            if why:
                found.skipped[name] = why
            else:
                found.gates[name] = gate
                found.skipped.pop(name, None)
    return found


def _run(gate: str, backend: str, world_size: int, file: Path, names: list[str]) -> None:
    _forked(runner.run, gate, backend, world_size, names, file)
    done = {verdict.test for verdict in verdicts.read(file)}
    for name in names:
        if name not in done:  # a test that ends the process ends those after it
            verdicts.append(file, verdicts.Verdict(name, gate, "failed", "the process that ran it ended", 0.0))


def _forked(function: Callable[..., Any], *arguments: object) -> Any:
    """What the function returns in a process of its own; None where that has ended without."""
    ours, theirs = _FORKS.Pipe(duplex=False)
    process = _FORKS.Process(target=_answer, args=(theirs, function, arguments))
    process.start()
    theirs.close()
    try:
        return ours.recv()
    except EOFError:
        return None
    finally:
        process.join()
        ours.close()


def _answer(pipe: Connection, function: Callable[..., Any], arguments: tuple[object, ...]) -> None:
    pipe.send(function(*arguments))


if __name__ == "__main__":
    sys.exit(main())
