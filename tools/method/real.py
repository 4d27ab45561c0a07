"""Real launches: runs of `ringtree compare` and `ringtree train` that the method is tested on, and what is kept.

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
from method.live import LIVE, collect
from ringtree.results import read_run

BANK_LAUNCHES = 64
RING = ("compare", "--arms", "ring,ring", "--ranks", "2", "--launches", str(BANK_LAUNCHES))


def measure_real(data: Path, scratch: Path) -> None:
    """Brings `data` to what the page wants of real launches; two hours. Raises SystemExit if a run fails."""
    if not (data / "aa-ring.npz").exists():
        write_bank(
            data / "aa-ring.npz", extract("aa-ring", [read_run(run) for run in _runs(scratch / "ring", 1, RING)])
        )
    for one in LIVE:
        if not (data / f"{one.name}.json").exists():
            runs = _runs(scratch / one.name, one.number, (one.command, *one.options))
            collect(one.name, data / f"{one.name}.json", runs)
    if not (data / "aa-gloo.npz").exists():
        (gloo,) = (one for one in LIVE if one.name == "live-aa")
        runs = _runs(scratch / gloo.name, gloo.number, (gloo.command, *gloo.options))
        write_bank(data / "aa-gloo.npz", extract("aa-gloo", [read_run(run) for run in runs]))


def _runs(where: Path, number: int, options: tuple[str, ...]) -> list[Path]:
    """The runs of `options` (a command first) in `where`, completed to `number`, each with its own seed."""
    ringtree = [sys.executable, "-m", "ringtree"]
    where.mkdir(parents=True, exist_ok=True)
    for run in sorted(where.iterdir()):
        stored = read_run(run)
        if len(stored.launches) < stored.run.plan.num_launches:
            subprocess.run([*ringtree, options[0], "--resume", str(run)], check=True, stdout=subprocess.DEVNULL)
    while len(runs := sorted(where.iterdir())) < number:
        seed = str(1000 + len(runs))
        command = [*ringtree, *options, "--seed", seed, "--runs", str(where)]
        subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
    return runs
