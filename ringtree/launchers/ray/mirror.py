"""A folder that grows on one machine, made anew on another: what has changed since the last look, as pieces.

For: stored runs, which are appended a launch at a time, and other files that a command writes. Not for: files that
shrink or change in the middle while their size stays, or what travels how (job.py).
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

from ringtree.errors import RingtreeError, os_errors

PIECE_BYTES = 1 << 20
_NOT_OURS = "writer.lock"  # who writes a run on that machine


@dataclass(frozen=True)
class Piece:
    """Some bytes of a file. `path`: below the folder. `offset`: where they belong; 0 begins the file anew."""

    path: str
    offset: int
    content: bytes


class Mirror:
    """Looks at `folder` and remembers what it has seen."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._seen: dict[str, tuple[int, int]] = {}  # path -> inode, size

    def changes(self) -> Iterator[Piece]:
        """Yields what is new: the end of files that have grown, all of those that were replaced."""
        for path in sorted(self._folder.rglob("*")):
            name = path.relative_to(self._folder).as_posix()
            if not path.is_file() or path.is_symlink() or path.name.startswith(_NOT_OURS):
                continue
            try:
                with path.open("rb") as file:
                    yield from self._new_of(name, file.fileno())
            except FileNotFoundError:  # replaced or removed between two looks
                continue

    def _new_of(self, name: str, file: int) -> Iterator[Piece]:
        status = os.fstat(file)
        inode, known = self._seen.get(name, (None, 0))
        start = known if inode == status.st_ino and status.st_size >= known else 0
        if inode == status.st_ino and start == status.st_size:
            return
        for offset in range(start, max(status.st_size, start + 1), PIECE_BYTES):
            wanted = min(PIECE_BYTES, status.st_size - offset)
            yield Piece(name, offset, os.pread(file, wanted, offset))
        self._seen[name] = status.st_ino, status.st_size


def put(piece: Piece, folder: Path) -> None:
    """Writes a piece below `folder`. Raises RingtreeError for a path that leads elsewhere, UsageError if it can't be
    written."""
    path = PurePosixPath(piece.path)
    if path.is_absolute() or ".." in path.parts or not path.parts:
        raise RingtreeError(f"an agent sent a file named {piece.path!r}, which is not below its folder")
    target = folder / path
    with os_errors(f"can't store {target}"):
        target.parent.mkdir(parents=True, exist_ok=True)
        with target.open("wb" if piece.offset == 0 else "r+b") as file:
            file.seek(piece.offset)
            file.write(piece.content)
            file.truncate()
