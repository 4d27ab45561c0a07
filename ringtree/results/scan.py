"""A quick look through launches.jsonl: how much it holds, and what a reader that can't bear a torn line must know.

For: listing.py and query.py. Not for: checking records (reading.py).
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from pathlib import Path

from ringtree.errors import UsageError
from ringtree.results.files import LAUNCHES_FILE

# Records are written with this field first; a line that another tool wrote is parsed instead.
_NUMBER = re.compile(rb'\{"launch":(\d+),')


@dataclass(frozen=True)
class Scan:
    """`num_lines` whole lines in the first `size` bytes, the longest of `longest` bytes; what follows is torn."""

    num_lines: int
    size: int
    longest: int
    num_torn_bytes: int
    twice: int | None

    def __post_init__(self) -> None:
        if min(self.num_lines, self.num_torn_bytes) < 0 or not 0 <= self.longest <= self.size:
            raise ValueError("a scan counts what is there")


def scan_launches(file: Path) -> Scan:
    """Reads `file` a line at a time; `twice` is a launch stored in two lines. Raises UsageError if unreadable."""
    num_lines = size = longest = num_torn_bytes = 0
    twice: int | None = None
    seen: set[int] = set()
    try:
        with open(file, "rb") as handle:
            for line in handle:
                if not line.endswith(b"\n"):
                    num_torn_bytes = len(line)
                    break
                num_lines, size, longest = num_lines + 1, size + len(line), max(longest, len(line))
                launch = _number_of(line)
                if launch in seen:
                    twice = launch
                elif launch is not None:
                    seen.add(launch)
    except FileNotFoundError:
        pass
    except OSError as error:
        raise UsageError(f"can't read {file}: {error.strerror}") from error
    return Scan(num_lines, size, longest, num_torn_bytes, twice)


def copy_whole_lines(run: Path, scan: Scan, to: Path) -> None:
    """Copies the lines of a run's launches.jsonl that are not torn. Raises OSError."""
    with open(run / LAUNCHES_FILE, "rb") as source, open(to, "xb") as target:
        left = scan.size
        while left and (block := source.read(min(left, 1 << 20))):
            target.write(block)
            left -= len(block)


def _number_of(line: bytes) -> int | None:
    match = _NUMBER.match(line)
    if match is not None:
        return int(match[1])
    try:
        launch = json.loads(line)["launch"]
    except (ValueError, KeyError, TypeError):
        return None  # damaged: the parser names it
    return launch if isinstance(launch, int) else None
