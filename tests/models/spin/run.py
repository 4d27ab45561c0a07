"""Runs the Spin models beside this file and checks that each ends as it must: right ones without an error, each faulty
one with the error that its fault makes. `make model` calls it; needs spin (Debian: spin) and a C compiler.

    run.py [words]      only those whose line contains all words, e.g. `run.py ring NO_CREDITS`

A line a model; exit code 1 if one ends otherwise or is not searched to its end within the limits below.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

FOLDER = Path(__file__).resolve().parent
MEMORY_MB = 4000
MAX_DEPTH = 10_000_000
TIMEOUT_S = 900

HOLDS, ASSERTION, DEADLOCK = "holds", "assertion violated", "invalid end state"


@dataclass(frozen=True)
class Model:
    """A model with its definitions, and how its search must end."""

    file: str
    defines: str
    expected: str
    about: str

    def line(self) -> str:
        return f"{self.file:13s} {self.defines:45s} {self.about}"


RIGHT = [
    Model("pool.pml", "LINKS0=1 LINKS1=1 C=2", HOLDS, "slots of a pool, one link each way"),
    Model("pool.pml", "LINKS0=2 LINKS1=1 C=1", HOLDS, "two links one way"),
    Model("pool.pml", "LINKS0=1 LINKS1=2 C=1", HOLDS, "two links the other way"),
    Model("exchange.pml", "C=1 COARSE", HOLDS, "2 ranks and a pool: sleep, wake, die"),
    Model("ring.pml", "NUM_RANKS=2", HOLDS, "ring of 2, every store a step"),
    Model("ring.pml", "NUM_RANKS=2 CHAIN", HOLDS, "chain of 2, every store a step"),
    Model("ring.pml", "NUM_RANKS=3 COARSE", HOLDS, "ring of 3"),
    Model("ring.pml", "NUM_RANKS=3 CHAIN ROUNDS=3 COARSE", HOLDS, "chain of 3"),
    Model("ring.pml", "NUM_RANKS=4 NUM_VICTIMS=0 ROUNDS=1 COARSE", HOLDS, "ring of 4, nobody dies"),
    Model("ring.pml", "NUM_RANKS=4 CHAIN ROUNDS=2 COARSE", HOLDS, "chain of 4"),
]
FAULTY = [
    Model("pool.pml", "GIVE_BACK_LATE", ASSERTION, "slots given back after the message is released"),
    Model("pool.pml", "NO_LIMIT", ASSERTION, "a side keeps all slots that come"),
    Model("pool.pml", "ONE_ABOVE_LIMIT", ASSERTION, "a side keeps one foreign slot too many"),
    Model("pool.pml", "ONE_SLOT_FEWER", ASSERTION, "each side is home to one slot fewer"),
    Model("pool.pml", "NEVER_TAKE_BACK", ASSERTION, "what comes back is not looked at"),
    Model("pool.pml", "KEEP_WHAT_IS_SENT", ASSERTION, "a slot stays with its sender, too"),
    Model("exchange.pml", "C=1 COARSE NO_SECOND_LOOK", DEADLOCK, "no look between announcing and sleeping"),
    Model("exchange.pml", "C=1 COARSE NO_ABORT_POLL", DEADLOCK, "who waits does not look for deaths"),
    Model("exchange.pml", "C=1 COARSE WAKE_BEFORE_ATTENTION", DEADLOCK, "woken before the reason is there"),
    Model("ring.pml", "NO_SECOND_LOOK", DEADLOCK, "no look between announcing and sleeping"),
    Model("ring.pml", "NO_ABORT_POLL", DEADLOCK, "who waits does not look for deaths"),
    Model("ring.pml", "NO_ABORT_IN_SECOND_LOOK", DEADLOCK, "nor in the second look"),
    Model("ring.pml", "WAKE_BEFORE_ATTENTION", DEADLOCK, "woken before the reason is there"),
    Model("ring.pml", "CHAIN NO_RING_AFTER_RELEASE", DEADLOCK, "nobody says that a slot is free"),
    Model("ring.pml", "CHAIN NO_RING_AFTER_PUBLISH", DEADLOCK, "nobody says that a message is there"),
    Model("ring.pml", "CHAIN RELEASE_BEFORE_READING", ASSERTION, "a message released before it is read"),
    Model("ring.pml", "CHAIN NO_CREDITS", ASSERTION, "sent without a look for a free slot"),
    Model("ring.pml", "FLAG_BEFORE_PAYLOAD", ASSERTION, "a flag before its payload"),
]


def command(arguments: list[str], folder: Path) -> str:
    """What it printed, both streams. Raises RuntimeError with that if it failed or took more than TIMEOUT_S."""
    try:
        done = subprocess.run(
            arguments, cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=TIMEOUT_S
        )
    except subprocess.TimeoutExpired as error:
        raise RuntimeError(f"{arguments[0]} took more than {TIMEOUT_S} s") from error
    if done.returncode != 0:
        raise RuntimeError(f"{' '.join(arguments)}: {done.stdout}")
    return done.stdout


def ending(report: str) -> str:
    """How pan's search ended: HOLDS, the first error, or why it is not a whole search."""
    for unfinished in ("max search depth too small", "out of memory", "hash table full", "search was not completed"):
        if unfinished in report:
            return unfinished
    error = re.search(r"^pan:\d+: (assertion violated|invalid end state|[^(\n]*)", report, re.MULTILINE)
    if error:
        return error[1].strip()
    return HOLDS if re.search(r"errors: 0$", report, re.MULTILINE) else "no report"


def search(model: Model) -> tuple[str, str, float]:
    """Its ending, the number of states, and how long it took, in seconds."""
    start = time.monotonic()
    try:
        ended, states = searched(model)
    except RuntimeError as error:
        ended, states = str(error), "?"
    return ended, states, time.monotonic() - start


def searched(model: Model) -> tuple[str, str]:
    """Its ending, and the number of states. Raises RuntimeError if a command fails."""
    with tempfile.TemporaryDirectory(prefix="ringtree-model-") as name:
        folder = Path(name)
        defines = [f"-D{define}" for define in model.defines.split()]
        command(["spin", "-a", *defines, str(FOLDER / model.file)], folder)
        # -w: the C is Spin's, not ours
        options = ["-O2", "-w", "-DSAFETY", "-DCOLLAPSE", f"-DMEMLIM={MEMORY_MB}"]
        command(["cc", *options, "-o", "pan", "pan.c"], folder)
        report = command(["./pan", f"-m{MAX_DEPTH}"], folder)
    states = re.search(r"^\s*(\S+) states, stored", report, re.MULTILINE)
    return ending(report), states[1] if states else "?"


def main() -> int:
    for program in ("spin", "cc"):
        if shutil.which(program) is None:
            print(f"there is no {program}: on Debian, apt-get install spin gcc", file=sys.stderr)
            return 2
    chosen = [model for model in RIGHT + FAULTY if all(word in model.line() for word in sys.argv[1:])]
    num_wrong = 0
    # A search is a process of one thread; a few at a time, as each may take MEMORY_MB.
    with ThreadPoolExecutor(min(4, len(os.sched_getaffinity(0)))) as pool:
        for model, (found, states, seconds) in zip(chosen, pool.map(search, chosen), strict=True):
            num_wrong += found != model.expected
            verdict = "ok" if found == model.expected else f"WRONG, expected: {model.expected}"
            print(f"{model.line():105s} {found}, {states} states, {seconds:.0f} s: {verdict}", flush=True)
    print(f"{len(chosen) - num_wrong} of {len(chosen)} models end as they must")
    return 1 if num_wrong or not chosen else 0


if __name__ == "__main__":
    sys.exit(main())
