"""Measures the emulated launches that coverage is computed from.

    PYTHONPATH=tools python -m method.emulated DESIGN build/method/DESIGN.jsonl docs/method-data/emulated-DESIGN.npz

For: real calls of the engine, ranks as threads, over links slowed to known latency and rate (shaped.py). A launch is
one line, appended: a killed measurement goes on where it was; the whole is then packed (packed.py). Not for: analysis
(coverage.py); no time here says anything about this machine.

A launch has fresh communicators with its own links, warms up at the smallest size, and then visits every size and arm
once a round in shuffled order. A sample is the time from when the last rank has entered the call to when the last one
has left it: the closed form starts all ranks at once, and threads of one interpreter start some 0.1 ms apart.
"""

from __future__ import annotations

import json
import sys
import threading
import time
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

import ringtree
from method.origin import origin
from method.packed import read_packed, with_tuples, write_packed
from method.shaped import DESIGNS, HOSTS, Design

FORMAT = "ringtree.method-emulated/1"


@dataclass(frozen=True)
class EmulatedLaunch:
    """alpha (seconds) and beta (bytes/s) that it drew, and seconds of shape (sizes, arms, rounds)."""

    launch: int
    alpha: float
    beta: float
    seconds: NDArray[np.float64]

    def __post_init__(self) -> None:
        if self.seconds.ndim != 3 or not np.all(self.seconds > 0):
            raise ValueError("seconds are positive, by size, arm and round")


@dataclass(frozen=True)
class Emulated:
    """A whole experiment: seconds (launches, sizes, arms, rounds), links (launches, 2) as drawn: alpha, beta."""

    design: Design
    seconds: NDArray[np.float64]
    links: NDArray[np.float64]
    origin: dict[str, Any]

    def __post_init__(self) -> None:
        design = self.design
        axes = (design.num_launches, len(design.sizes), len(design.arms), design.num_rounds)
        if self.seconds.shape != axes or self.links.shape != (design.num_launches, 2):
            raise ValueError(f"{design.name}: {self.seconds.shape} is not what the design says: {axes}")
        if not np.all(self.seconds > 0) or not np.all(self.links > 0):
            raise ValueError("times, latencies and rates are positive")


def measure_launch(design: Design, launch: int) -> EmulatedLaunch:
    """Runs one launch; takes about (rounds + 0.3) times the closed form's sum over sizes and arms."""
    alpha, beta = design.links_of(launch)
    order = np.random.default_rng([design.seed, launch, 1])
    visits = [
        (round_, int(size), int(arm))
        for round_ in range(design.num_rounds)
        for size in order.permutation(len(design.sizes))
        for arm in order.permutation(len(design.arms))
    ]
    start_line = threading.Barrier(HOSTS)

    def rank(comm: ringtree.Communicator) -> list[tuple[float, float]]:
        buffers = [np.zeros(size // 4, np.float32) for size in design.sizes]
        for name in design.arms:
            comm.all_reduce(buffers[0], algorithm=name)
        spans = []
        for _, size, arm in visits:
            start_line.wait()
            entered = time.perf_counter()
            comm.all_reduce(buffers[size], algorithm=design.arms[arm])
            spans.append((entered, time.perf_counter()))
        return spans

    # All threads read one clock, so times of different ranks may be subtracted.
    spans = np.array(ringtree.run(rank, HOSTS, emulate=ringtree.Emulation(HOSTS, 1, alpha, beta)))
    seconds = np.zeros((len(design.sizes), len(design.arms), design.num_rounds))
    for visit, (round_, size, arm) in enumerate(visits):
        seconds[size, arm, round_] = spans[:, visit, 1].max() - spans[:, visit, 0].max()
    return EmulatedLaunch(launch, alpha, beta, seconds)


def measure(design: Design, file: Path) -> None:
    """Appends the launches that `file` lacks; says how far it is on standard error, every hundred launches."""
    if not file.exists():
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(json.dumps({"design": asdict(design), "origin": origin(emulated=True)}) + "\n")
    header, done = read_lines(file)
    if _design(header) != design:
        raise SystemExit(f"{file} holds another design than {design.name} has now; move it away")
    for launch in sorted(set(range(design.num_launches)) - {entry.launch for entry in done}):
        result = measure_launch(design, launch)
        record = {**asdict(result), "seconds": result.seconds.tolist()}
        with open(file, "a") as out:
            out.write(json.dumps(record) + "\n")
        if launch % 100 == 99:
            print(f"{design.name}: {launch + 1} of {design.num_launches} launches", file=sys.stderr, flush=True)


def read_lines(file: Path) -> tuple[dict[str, Any], list[EmulatedLaunch]]:
    """The header and the whole launches of a measurement; a torn last line is dropped from the file."""
    text = file.read_text()
    if not text.endswith("\n"):
        text = text[: text.rfind("\n") + 1]
        file.write_text(text)
    header, *lines = (json.loads(line) for line in text.splitlines())
    return header, [EmulatedLaunch(**{**line, "seconds": np.array(line["seconds"])}) for line in lines]


def pack(file: Path, packed: Path) -> None:
    """Turns a finished measurement into the file that is kept. Raises ValueError if launches are missing."""
    header, launches = read_lines(file)
    launches.sort(key=lambda entry: entry.launch)
    design = _design(header)
    if [entry.launch for entry in launches] != list(range(design.num_launches)):
        raise ValueError(f"{file} has {len(launches)} of {design.num_launches} launches")
    seconds = np.array([entry.seconds for entry in launches], dtype=np.float32)
    links = np.array([(entry.alpha, entry.beta) for entry in launches])
    write_packed(packed, {"format": FORMAT, **header}, {"seconds": seconds, "links": links})


def read_emulated(packed: Path) -> Emulated:
    """Raises ValueError if the file is not an emulated experiment or of another format."""
    header, arrays = read_packed(packed, FORMAT)
    return Emulated(_design(header), arrays["seconds"].astype(np.float64), arrays["links"], header["origin"])


def _design(header: dict[str, Any]) -> Design:
    return Design(**with_tuples(header["design"]))


if __name__ == "__main__":
    (chosen,) = (design for design in DESIGNS if design.name == sys.argv[1])
    measure(chosen, Path(sys.argv[2]))
    pack(Path(sys.argv[2]), Path(sys.argv[3]))
