"""One writer a run: a lock that is a file, as flock is not to be had on every NFS and Lustre.

For: refusing a second writer by the first one's name, and taking over from one that was killed. Not for: readers, which
need no lock.

The lock is a chain of files, each of which names its holder and a token that is used once. `writer.lock` is the first;
who finds that the last holder of the chain is gone adds `writer.lock.<that holder's token>`. Files are made by link(2),
which is atomic on every file system that has it: only one process can succeed a given holder, so two that meet the
same dead holder can't both follow it, and none ever deletes what may be another's lock. The holder removes the chain
from its head when it is done.
"""

from __future__ import annotations

import errno
import json
import os
import secrets
import socket
from dataclasses import asdict, dataclass, fields
from pathlib import Path

from ringtree.errors import UsageError, os_errors

LOCK_FILE = "writer.lock"
_UNKNOWN = "unknown"


@dataclass(frozen=True)
class Holder:
    """A process, named so that it is never taken for a later one with the same pid."""

    host: str
    boot_id: str
    pid_namespace: str
    pid: int
    start_ticks: int | None
    token: str

    def is_gone(self) -> bool:
        """True only if it certainly ended: what runs on another machine or in another container can't be seen."""
        if (self.host, self.boot_id, self.pid_namespace) != _here() or self.boot_id == _UNKNOWN:
            return False
        return _start_ticks(self.pid) is None or _start_ticks(self.pid) != self.start_ticks


def writer_of(directory: Path) -> Holder | None:
    """Returns who writes the run in `directory`; None if nobody does. Raises UsageError if the lock can't be read."""
    with os_errors(f"can't read the lock in {directory}"):
        _, holders = _walk(directory)
    return holders[-1] if holders and not holders[-1].is_gone() else None


class WriterLock:
    """Held from its making until `release`. Raises UsageError if another holds it, OSError if it can't be written."""

    def __init__(self, directory: Path) -> None:
        self._directory = directory
        self._token = secrets.token_hex(8)
        self._chain: list[Path] = []
        while True:
            chain, holders = _walk(directory)
            if holders and not holders[-1].is_gone():
                raise UsageError(_refusal(directory, holders[-1]))
            following = _place_after(directory, holders[-1].token if holders else None)
            if not self._create(following):
                continue  # somebody else was faster
            # A chain that its holder took away meanwhile is not a lock any more, and neither is what was added to it.
            if following in _walk(directory)[0]:
                self._chain = [*chain, following]
                return
            following.unlink(missing_ok=True)

    def release(self) -> None:
        """Gives the lock back; a second call does nothing."""
        for file in self._chain:  # the head first: without it the rest can't be reached
            file.unlink(missing_ok=True)
        self._chain = []

    def _create(self, file: Path) -> bool:
        """Makes `file`, whole, and returns True; returns False if it exists."""
        host, boot_id, namespace = _here()
        holder = Holder(host, boot_id, namespace, os.getpid(), _start_ticks(os.getpid()), self._token)
        content = json.dumps(asdict(holder)).encode() + b"\n"
        draft = self._directory / f".{LOCK_FILE}.{self._token}"
        try:
            _write(draft, content)
            try:
                os.link(draft, file)
            except OSError as error:
                # NFS may repeat a request whose answer was lost: then the link exists, and it is ours.
                if draft.stat().st_nlink == 2:
                    return True
                if isinstance(error, FileExistsError):
                    return False
                if error.errno not in (errno.EPERM, errno.EOPNOTSUPP, errno.ENOSYS, errno.EMLINK):
                    raise
                return _write_exclusively(file, content)  # a file system without hard links
            return True
        finally:
            draft.unlink(missing_ok=True)


def _walk(directory: Path) -> tuple[list[Path], list[Holder]]:
    """Returns the chain of lock files and who each names; empty if there is none."""
    files: list[Path] = []
    holders: list[Holder] = []
    while True:
        file = _place_after(directory, holders[-1].token if holders else None)
        try:
            content = file.read_bytes()
        except FileNotFoundError:
            return files, holders
        files.append(file)
        holders.append(_parse(content, file))


def _place_after(directory: Path, token: str | None) -> Path:
    return directory / (LOCK_FILE if token is None else f"{LOCK_FILE}.{token}")


def _write(file: Path, content: bytes) -> None:
    with open(file, "xb") as handle:
        handle.write(content)


def _write_exclusively(file: Path, content: bytes) -> bool:
    try:
        _write(file, content)
    except FileExistsError:
        return False
    return True


def _parse(content: bytes, file: Path) -> Holder:
    try:
        record = json.loads(content)
        return Holder(**{field.name: record[field.name] for field in fields(Holder)})
    except (ValueError, KeyError, TypeError):
        raise UsageError(f"{file} names no writer: if none is running, delete it and try again") from None


def _refusal(directory: Path, holder: Holder) -> str:
    known = (holder.host, holder.boot_id, holder.pid_namespace) == _here()
    what = "wait for it" if known else f"if it has ended, delete {directory / LOCK_FILE}"
    return f"{directory} is being written by process {holder.pid} on host {holder.host!r}: {what}"


def _here() -> tuple[str, str, str]:
    try:
        boot_id = Path("/proc/sys/kernel/random/boot_id").read_text().strip()
        namespace = str(Path("/proc/self/ns/pid").readlink())
    except OSError:
        boot_id, namespace = _UNKNOWN, _UNKNOWN
    return socket.gethostname(), boot_id, namespace


def _start_ticks(pid: int) -> int | None:
    """Returns when a process started, clock ticks since the boot; None if there is none, or only its zombie."""
    try:
        stat = Path(f"/proc/{pid}/stat").read_text()
    except OSError:
        return None
    after_name = stat.rpartition(")")[2].split()
    return None if after_name[0] in ("Z", "X") else int(after_name[19])
