"""A store that is a directory, whose keys a test can watch and change on their way.

For: killing a rank at a known point of the meeting, and sending ranks to a proxy instead of each other. Not for:
ranks that only meet ("file:<directory>").
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from pathlib import Path

from ringtree import _core

_POLL_S = 0.005


class DirectoryStore:
    """change: gives what is read in place of a key's value. after_set: called with each key that was written."""

    def __init__(
        self,
        directory: str,
        change: Callable[[str, bytes], bytes] = lambda key, value: value,
        after_set: Callable[[str], None] = lambda key: None,
    ) -> None:
        self._directory, self._change, self._after_set = Path(directory), change, after_set

    def as_store(self) -> _core.Store:
        return _core.CallableStore(self._set, self._get)

    def _set(self, key: str, value: bytes) -> None:
        draft = self._directory / f"{os.getpid()}.draft"
        draft.write_bytes(value)
        draft.rename(self._path(key))
        self._after_set(key)

    def _get(self, key: str, seconds: float) -> bytes | None:
        until = time.monotonic() + seconds
        while not self._path(key).exists():
            if time.monotonic() > until:
                return None
            time.sleep(_POLL_S)
        return self._change(key, self._path(key).read_bytes())

    def _path(self, key: str) -> Path:
        return self._directory / f"key-{key.replace('/', '%')}"
