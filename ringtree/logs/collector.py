"""The lines that a collector of logs may have put before a file: "# source: …".

For: readers of whole files, which must not stumble over them. Not for: files that are read as lines (importing.py).
"""

from __future__ import annotations

from typing import BinaryIO

_MARKS = (b"# source:", b"# hardware:", b"# notes:")
_MAX_LINE = 1 << 16


def skip_collector(source: BinaryIO) -> int:
    """Moves a stream from its beginning behind such lines; returns how many there were."""
    source.seek(0)
    num = 0
    while True:
        at = source.tell()
        line = source.readline(_MAX_LINE)
        if not line.removeprefix(b"\xef\xbb\xbf").lstrip().startswith(_MARKS):
            source.seek(at)
            return num
        num += 1
