"""Files that survive: written, synced, and either whole or absent.

For: the few primitives that the store and the export are made of. Not for: what stands in the files (store.py).

POSIX promises that a rename is atomic, and that what was fsynced is on disk once its directory was fsynced too; NFS and
Lustre keep both promises.
"""

from __future__ import annotations

import errno
import os
import secrets
from pathlib import Path

RUN_FILE = "run.json"
LAUNCHES_FILE = "launches.jsonl"


def make_directory(path: Path) -> None:
    """Creates `path` and the parents that are missing, all of them on disk. Raises OSError, also if `path` exists."""
    missing = [path]
    while not missing[-1].parent.exists():
        missing.append(missing[-1].parent)
    for directory in reversed(missing[1:]):
        directory.mkdir(exist_ok=True)  # another writer may make the same parents at the same time
    path.mkdir()
    try:
        for directory in missing:
            sync_directory(directory.parent)
    except OSError:
        path.rmdir()
        raise


def write_whole(file: Path, content: bytes) -> None:
    """Writes `file` so that it is there with all of `content`, on disk, or not at all. Raises OSError."""
    temporary = temporary_name(file)
    try:
        with open(temporary, "xb") as handle:
            handle.write(content)
            handle.flush()
            os.fsync(handle.fileno())
        temporary.replace(file)
    except BaseException:
        temporary.unlink(missing_ok=True)
        raise
    sync_directory(file.parent)


def temporary_name(file: Path) -> Path:
    """Returns a name beside `file` that nobody else takes; hidden, so that no reader mistakes it for a result."""
    return file.with_name(f".{file.name}.{secrets.token_hex(4)}")


def sync_directory(path: Path) -> None:
    """Waits until the names in directory `path` are on disk. Raises OSError."""
    handle = os.open(path, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(handle)
    except OSError as error:
        if error.errno != errno.EINVAL:  # file systems that write names through say so by refusing
            raise
    finally:
        os.close(handle)
