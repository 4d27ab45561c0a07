"""The command of the method's tests.

    PYTHONPATH=tools python -m method check     stored data -> docs/method-data/summary.json -> docs/method.md
    PYTHONPATH=tools python -m method data      measures what docs/method-data lacks (an hour and more)

For: `make method-check` and `make method-data`. Exit code 1 if a bar is missed or has no data; the page is
written all the same. Not for: real launches, which come from the lab itself:

    ringtree compare --arms ring,ring --ranks 2 --launches 64       then method.extract aa-ring (gloo: 4 ranks, aa-gloo)
    PYTHONPATH=tools python -m method.live …                        see live.py
"""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from method.page import summary_text, write_page
from method.real import measure_real
from method.shaped import DESIGNS
from method.study import summarise

ROOT = Path(__file__).resolve().parents[2]
DATA, PAGE, SCRATCH = ROOT / "docs" / "method-data", ROOT / "docs" / "method.md", ROOT / "build" / "method"


def check() -> int:
    """Recomputes everything; the number of bars that are not reached, which go to standard error."""
    summary = summarise(DATA)
    (DATA / "summary.json").write_text(summary_text(summary))
    write_page(DATA, PAGE)
    missed = [bar for bar in summary["bars"] if bar["met"] is not True]
    for bar in missed:
        print(f"not reached: {bar['question']}: wanted {bar['wanted'] or 'data'}, {bar['measured']}", file=sys.stderr)
    return len(missed)


def measure_emulated() -> int:
    """Goes on with what was begun in build/method, about 25 minutes in all; returns the number of experiments that
    failed. A file in docs/method-data is not measured again: move it away for that."""
    running = []
    for design in DESIGNS:
        packed = DATA / f"emulated-{design.name}.npz"
        if not packed.exists():
            lines = SCRATCH / f"{design.name}.jsonl"
            command = [sys.executable, "-m", "method.emulated", design.name, str(lines), str(packed)]
            # Side by side: ranks wait for emulated links nine tenths of the time.
            running.append(subprocess.Popen(command))
    return sum(process.wait() != 0 for process in running)


if __name__ == "__main__":
    if sys.argv[1:] == ["check"]:
        sys.exit(1 if check() else 0)
    if sys.argv[1:] == ["data"]:
        failed = measure_emulated()
        measure_real(DATA, SCRATCH)
        sys.exit(1 if failed else 0)
    sys.exit(__doc__)
