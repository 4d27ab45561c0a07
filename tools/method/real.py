"""Real launches: runs of `ringtree compare` that the method is tested on, and what is kept of them.

For: `make method-data`: an arm against itself, and an arm slowed by 10 % on purpose. Not for: emulated links
(emulated.py). Runs are stored in build/method and what was stored there is not measured again, so a measurement that
was interrupted goes on.
"""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from method.bank import write_bank
from method.extract import extract
from method.live import collect
from ringtree.results import read_run

BANK_LAUNCHES = 64
NUM_LIVE = 20
RING = ("--arms", "ring,ring", "--ranks", "2", "--launches", str(BANK_LAUNCHES))
SLOWED = ("--arms", "ring,ring+10%", "--ranks", "2", "--sizes", "64K,1M")
GLOO = ("--arms", "gloo,gloo")


def measure_real(data: Path, scratch: Path) -> None:
    """Brings `data` to what the page wants of real launches; an hour. Raises SystemExit if a comparison fails."""
    if not (data / "aa-ring.npz").exists():
        write_bank(
            data / "aa-ring.npz", extract("aa-ring", [read_run(run) for run in _runs(scratch / "ring", 1, RING)])
        )
    if not (data / "live-slowed.json").exists():
        collect("live-slowed", data / "live-slowed.json", _runs(scratch / "slowed", NUM_LIVE, SLOWED))
    if not ((data / "live-aa.json").exists() and (data / "aa-gloo.npz").exists()):
        runs = _runs(scratch / "gloo", NUM_LIVE, GLOO)
        collect("live-aa", data / "live-aa.json", runs)
        write_bank(data / "aa-gloo.npz", extract("aa-gloo", [read_run(run) for run in runs]))


def _runs(where: Path, number: int, options: tuple[str, ...]) -> list[Path]:
    """The runs in `where`, completed to `number` of them, each with a seed of its own."""
    ringtree = [sys.executable, "-m", "ringtree", "compare"]
    where.mkdir(parents=True, exist_ok=True)
    for run in sorted(where.iterdir()):
        stored = read_run(run)
        if len(stored.launches) < stored.run.plan.num_launches:
            subprocess.run([*ringtree, "--resume", str(run)], check=True, stdout=subprocess.DEVNULL)
    while len(runs := sorted(where.iterdir())) < number:
        seed = str(1000 + len(runs))
        command = [*ringtree, *options, "--seed", seed, "--runs", str(where)]
        subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
    return runs
