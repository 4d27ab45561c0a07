"""Takes out of a log what its system reached: entries of ringtree/health/catalogue, one for each table.

    python tools/reached.py LOG --system p5.48xlarge --gpu "H100 SXM5 80GB" --hosts 2 --ranks 16 [--source URL]

For: adding to the catalogue; the test of the catalogue makes each entry anew in the same way where the log is at hand.
Not for: choosing logs: an entry is a run without errors, with nothing forced and the network that belongs to the
system, of a system whose links are known.
"""

from __future__ import annotations

import argparse
import datetime
import json
import re
from collections.abc import Iterator
from pathlib import Path

from ringtree.audit import Setup, Subject
from ringtree.health.curve import Curve, curve_of
from ringtree.logs import Table, read_file

LEAST, MOST = 10, 36  # powers of two: 1 KB to 64 GB
NEAR = 1e-3  # sizes of uneven blocks are a little below


def times_us(curve: Curve) -> dict[int, float]:
    """Returns the times at powers of two, in µs, with four digits."""
    found = {}
    for size in (1 << power for power in range(LEAST, MOST + 1)):
        near = next((one for one in curve.seconds if abs(one / size - 1) < NEAR), None)
        if near is not None:
            found[size] = float(f"{curve.seconds[near] * 1e6:.4g}")
    return found


def curves(log: Path, setup: Setup) -> Iterator[tuple[Table, Curve]]:
    """Yields the first table of each collective and number of ranks."""
    seen = set()
    for table in read_file(log).tables:
        if setup.num_ranks is not None and table.num_ranks not in (None, setup.num_ranks):
            continue
        curve = curve_of(Subject(str(log), table, setup))
        if isinstance(curve, Curve) and (curve.collective, curve.num_ranks) not in seen:
            seen.add((curve.collective, curve.num_ranks))
            yield table, curve


def main() -> None:
    """Prints the entries."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("log", type=Path)
    for name in ("system", "gpu"):
        parser.add_argument(f"--{name}", required=True)
    for name in ("hosts", "ranks"):
        parser.add_argument(f"--{name}", required=True, type=int)
    parser.add_argument("--source")
    parser.add_argument("--accessed", default=datetime.date.today().isoformat())
    asked = parser.parse_args()
    stated = re.search(r"^# source: (\S+)", asked.log.read_text(errors="replace")[:2000], re.MULTILINE)
    source = asked.source or (stated.group(1) if stated else parser.error("--source: where does the log lie?"))
    setup = Setup(asked.gpu, asked.system, asked.hosts, asked.ranks)
    before = None
    for table, curve in curves(asked.log, setup):
        shared = {"system": asked.system, "gpu": asked.gpu, "tool": table.tool or str(table.format)}
        if table.library_version:
            shared["library"] = f"{table.library or 'nccl'} {table.library_version}"
        if curve.dtype:
            shared["dtype"] = curve.dtype
        if shared != before:
            _print("[[machine]]", shared)
            print(f"accessed = {asked.accessed}")
        before = shared
        _print("[[machine.reached]]", {"collective": curve.collective, "source": source})
        print(f"hosts = {asked.hosts}\nranks = {asked.ranks}")
        print("times_us =", "{", ", ".join(f"{size} = {time:g}" for size, time in times_us(curve).items()), "}")


def _print(heading: str, words: dict[str, str]) -> None:
    print(f"\n{heading}", *(f"{key} = {json.dumps(value)}" for key, value in words.items()), sep="\n")


if __name__ == "__main__":
    main()
