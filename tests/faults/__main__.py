"""Runs the matrix: python -m faults [--quick] [--only TEXT] [--page FILE]."""

from __future__ import annotations

import argparse
import sys
import time
from pathlib import Path

from hosts_support import why_no_hosts
from rich.console import Console

from faults import page, peer_rows
from faults.matrix import Row, rows
from faults.table import OURS, Result, cells_of, show


def run(row: Row, console: Console) -> Result:
    """Tries every cell of a row. An error of the test's own counts as a miss, not as the end of the run."""
    result = Result(row.fault, row.worlds[0].over, row.engine, row.bar, [], [])
    for cell in row.cells():
        try:
            result.trials.append(row.attempt(cell))
        except Exception as error:  # whatever went wrong in one trial, the others count
            result.crashed.append(f"{cell.world}, {cell.collective}: {type(error).__name__}: {error}")
    console.print("  ".join(cells_of(result)), highlight=False)
    return result


def main() -> int:
    parser = argparse.ArgumentParser(prog="make faults", description="what ranks are told when one of them fails")
    parser.add_argument("--quick", action="store_true", help="few cells, about 3 minutes; writes nothing")
    parser.add_argument("--only", default="", help="faults whose name contains this; writes nothing")
    parser.add_argument("--page", type=Path, help="default: docs/reliability.md unless --quick or --only")
    options = parser.parse_args()
    console = Console(width=200 if not sys.stdout.isatty() else None)
    if reason := why_no_hosts():
        console.print(f"No hosts, only shared memory: {reason}")
    chosen = rows(options.quick) + peer_rows.rows(options.quick)
    began = time.monotonic()
    results = [run(row, console) for row in chosen if options.only in row.fault]
    show(results, console)
    minutes = (time.monotonic() - began) / 60
    console.print(f"{sum(len(result.trials) for result in results)} trials in {minutes:.1f} minutes")
    into = options.page or (None if options.quick or options.only else Path("docs/reliability.md"))
    if into is not None:
        page.write(into, results, page.origin(f"make faults{' ARGS=--quick' if options.quick else ''}", minutes))
    return 1 if any(result.missed for result in results if result.engine == OURS) else 0


if __name__ == "__main__":
    sys.exit(main())
