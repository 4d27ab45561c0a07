"""The store: a run is a directory `<runs>/<utc>-<short id>/` with run.json and launches.jsonl.

For: writing a run so that a crash loses no launch that was acknowledged, and going on with it. Not for: reading
(reading.py), finding (listing.py) or querying (query.py) runs.

A launch is one line, appended and fsynced. A run has one writer at a time (writer_lock.py), and different runs share no
file, so any number of them may be written at once, also on NFS and Lustre. run.json is written last when a run is made:
a directory without it holds no run.
"""

from __future__ import annotations

import os
import secrets
import time
from contextlib import AbstractContextManager
from pathlib import Path

from ringtree.errors import RingtreeError, UsageError, os_errors
from ringtree.results.files import LAUNCHES_FILE, RUN_FILE, make_directory, sync_directory, write_whole
from ringtree.results.reading import read_header, read_run
from ringtree.results.records import Launch, Run
from ringtree.results.writer_lock import WriterLock


class StoreError(RingtreeError):
    """A launch could not be stored (a full disk, a quota, a lost mount); what was stored before is still there."""


def new_run_id(now: float | None = None) -> str:
    """Returns `<utc>-<short id>`, for example 20260131T120102Z-3f9a1c; `now` is seconds since the epoch."""
    stamp = time.strftime("%Y%m%dT%H%M%SZ", time.gmtime(time.time() if now is None else now))
    return f"{stamp}-{secrets.token_hex(3)}"


class RunWriter(AbstractContextManager["RunWriter"]):
    """Writes one run; a context manager that gives the run free at its end. Not for several threads.

    Each `append` returns only after the launch is on disk. `path` is the run's directory; `stored` the numbers of the
    launches that it holds; `notes` what had to be repaired when a run was resumed.
    """

    path: Path
    stored: set[int]
    notes: list[str]

    def __init__(self, runs: Path, run: Run) -> None:
        """Creates `runs/<run_id>/run.json`. Raises UsageError if the place can't be written or holds a run."""
        self.path = runs / run.run_id
        self.stored, self.notes = set(), []
        self._size = 0
        self._torn = False
        try:
            make_directory(self.path)
        except OSError as error:
            raise UsageError(_cant_create(self.path, error)) from error
        try:
            self._lock = WriterLock(self.path)
            write_whole(self.path / LAUNCHES_FILE, b"")
            write_whole(self.path / RUN_FILE, run.model_dump_json(indent=1).encode() + b"\n")
        except OSError as error:
            _remove_unfinished(self.path)
            raise UsageError(_cant_create(self.path, error)) from error

    @classmethod
    def resume(cls, path: Path) -> RunWriter:
        """Opens the run in directory `path` for appending; a torn last line is cut off and said in `notes`.

        Raises UsageError if there is no readable run, another process writes it, or the place can't be written.
        """
        read_header(path)  # what is not a run is said before anything is touched
        writer = cls.__new__(cls)
        writer.path, writer._torn = path, False
        with os_errors(f"can't go on with {path}"):
            writer._lock = WriterLock(path)
            try:
                stored = read_run(path)
                writer.stored = {launch.launch for launch in stored.launches}
                writer.notes = stored.notes
                writer._size = _cut_torn_line(path / LAUNCHES_FILE)
            except BaseException:
                writer._lock.release()
                raise
        return writer

    def append(self, launch: Launch) -> None:
        """Appends one launch and waits until it is on disk.

        Raises UsageError if a launch of this number is stored already, StoreError if it can't be stored.
        """
        if launch.launch in self.stored:
            raise UsageError(f"launch {launch.launch} is stored in {self.path} already")
        line = launch.model_dump_json().encode() + b"\n"
        try:
            self._append_durably(line)
        except OSError as error:
            kept = f"{len(self.stored)} {'launch is' if len(self.stored) == 1 else 'launches are'} stored there"
            raise StoreError(f"can't store launch {launch.launch} in {self.path}: {error.strerror}; {kept}") from error
        self.stored.add(launch.launch)

    def close(self) -> None:
        """Gives the run free for another writer; a second call does nothing."""
        self._lock.release()

    def __exit__(self, *_: object) -> None:
        self.close()

    def _append_durably(self, line: bytes) -> None:
        # O_CREAT is left out on purpose: a file that vanished under the writer is an error, not an empty run.
        handle = os.open(self.path / LAUNCHES_FILE, os.O_WRONLY | os.O_APPEND)
        try:
            if self._torn:
                os.ftruncate(handle, self._size)
            self._torn = True  # until the line is on disk, whatever stops us, Ctrl-C included
            view = memoryview(line)
            while view:
                view = view[os.write(handle, view) :]
            os.fsync(handle)
            self._size += len(line)
            self._torn = False
        except BaseException:
            self._take_back(handle)
            raise
        finally:
            os.close(handle)

    def _take_back(self, handle: int) -> None:
        """Cuts off what a failed append left; where even that fails, readers drop it and the next append cuts."""
        try:
            os.ftruncate(handle, self._size)
            os.fsync(handle)
            self._torn = False
        except OSError:
            pass


def _cut_torn_line(file: Path) -> int:
    """Cuts off what follows the last newline, on disk. Returns the size that is left."""
    handle = os.open(file, os.O_RDWR | os.O_CREAT, 0o666)
    try:
        content = file.read_bytes()
        size = content.rfind(b"\n") + 1
        if size < len(content):
            os.ftruncate(handle, size)
            os.fsync(handle)
    finally:
        os.close(handle)
    sync_directory(file.parent)
    return size


def _cant_create(path: Path, error: OSError) -> str:
    return f"can't store the run in {path}: {error.strerror}; choose another --runs"


def _remove_unfinished(path: Path) -> None:
    """Takes away a run that could not be made; it held no launch."""
    try:
        for file in path.iterdir():
            file.unlink()
        path.rmdir()
    except OSError:
        pass  # what is left has no run.json, so it is not a run
