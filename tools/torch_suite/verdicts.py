"""What a test came to, one line of JSON each, so that a run may be stopped and gone on with."""

from __future__ import annotations

import json
import os
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Literal

FEWEST = 120  # passes: fewer, and a gate was closed
OF_EACH_GATE = {"test_all_to_all", "test_monitored_barrier_gloo", "test_barrier_timeout_global"}

Outcome = Literal["passed", "failed", "skipped"]

# What no backend outside PyTorch can pass, and why.
KNOWN = {
    "test_ddp_logging_data_cpu": "DDP's logger calls every backend that is not PyTorch's own `custom`; not the name",
}


@dataclass(frozen=True)
class Verdict:
    test: str
    gate: str
    outcome: Outcome
    reason: str  # of a skip, in PyTorch's words; of a failure, the last line of its error
    seconds: float


def read(file: Path) -> list[Verdict]:
    """Returns the verdicts of `file`; none if it is not there. A last line that was cut off is left out."""
    if not file.exists():
        return []
    found = []
    for line in file.read_text().splitlines():
        try:
            found.append(Verdict(**json.loads(line)))
        except ValueError:
            continue
    return found


def problems(found: list[Verdict]) -> list[str]:
    """Returns what must not be in a whole run on the backend: new failures, and signs that tests were left out."""
    passed = {verdict.test for verdict in found if verdict.outcome == "passed"}
    lines = [f"{one.test}: {one.reason}" for one in found if one.outcome == "failed" and one.test not in KNOWN]
    lines += [f"{test} did not pass" for test in sorted(OF_EACH_GATE - passed)]
    if len(passed) < FEWEST:
        lines.append(f"{len(passed)} tests passed, at least {FEWEST} must")
    return lines


def append(file: Path, verdict: Verdict) -> None:
    """Adds a line; after one that was cut off, on a line of its own."""
    with file.open("a+b") as lines:
        if lines.tell():
            lines.seek(-1, os.SEEK_END)
            if lines.read(1) != b"\n":
                lines.write(b"\n")
        lines.write(json.dumps(asdict(verdict)).encode() + b"\n")
