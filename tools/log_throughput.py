"""How fast logs are read, and in how much memory: a log repeated to 256 MB, given to all readers.

    python tools/log_throughput.py FILE [--megabytes 256]

For: the bars of the readers (256 MB in less than 20 s, bounded memory), by hand on a quiet machine. Not for: tests,
whose machine is never quiet.
"""

from __future__ import annotations

import argparse
import resource
import tempfile
import time
from pathlib import Path

from ringtree.logs import Item, Table, read_stream


def main() -> None:
    """Reads and prints one line."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("file", type=Path)
    parser.add_argument("--megabytes", type=int, default=256)
    options = parser.parse_args()
    once = options.file.read_bytes()
    num_rows = 0

    def emit(item: Item) -> None:
        nonlocal num_rows
        num_rows += len(item.rows) if isinstance(item, Table) else 0

    with tempfile.TemporaryFile() as log:
        while log.tell() < options.megabytes << 20:
            log.write(once)
        log.seek(0)
        started, used = time.perf_counter(), time.process_time()
        imported = read_stream(log, options.file.name, emit)
        took, used = time.perf_counter() - started, time.process_time() - used
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss >> 10
    print(
        f"{imported.num_bytes / 1e6:.0f} MB, {imported.num_lines:,} lines, {num_rows:,} rows in {took:.1f} s "
        f"({used:.1f} s of processor time), at most {peak} MB of memory"
    )


if __name__ == "__main__":
    main()
