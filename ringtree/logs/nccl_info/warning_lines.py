"""NCCL's warnings, and the lines by which an error is passed up.

For: counting them by their place in NCCL's source, with the first text of each. Not for: what they mean.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from ringtree.logs.nccl_info.communicators import Thread
from ringtree.logs.nccl_info.prefix import Head
from ringtree.logs.records import Document
from ringtree.logs.shapes.nccl import NcclWarning, NcclWarnings

_MAX_PLACES = 500
_MAX_TEXT = 400
_RETURN = re.compile(r"\S{1,200}\.(?:cc|cpp|c|h|cu):\d{1,9} -> (\d{1,9})\b")


@dataclass
class _Kept:
    text: str
    line: int
    host: str
    pid: int
    num: int = 0


class WarningLines:
    """All of a file."""

    def __init__(self) -> None:
        self._warnings: dict[str, _Kept] = {}
        self._returns: dict[str, _Kept] = {}
        self._num = 0
        self._num_returns = 0
        self._lines = (0, 0)

    def warning(self, head: Head, text: str, number: int) -> None:
        """Takes a warning."""
        self._num += 1
        # Old or cut lines name no place: then the text without its numbers tells warnings apart.
        where = head.where or re.sub(r"\d+", "#", text[:100])
        self._keep(self._warnings, where, _Kept(text[:_MAX_TEXT], number, head.host, head.pid))

    def error_return(self, thread: Thread, word: str, message: str, number: int) -> None:
        """Takes "init.cc:1012 -> 3": the function at that place returned error 3."""
        found = _RETURN.match(message)
        if found is None:
            return
        self._num_returns += 1
        process = thread.process
        kept = _Kept(message[:_MAX_TEXT], number, process.host, process.pid)
        self._keep(self._returns, f"{word[:200]} -> {found.group(1)}", kept)

    def document(self) -> Document | None:
        """Returns the document, None if there was no such line."""
        if not self._num and not self._num_returns:
            return None
        shape = NcclWarnings(
            num=self._num,
            num_error_returns=self._num_returns,
            warnings=_records(self._warnings),
            error_returns=_records(self._returns),
        )
        first, last = self._lines
        return Document("nccl-info", "nccl_warnings", first, shape.plain(), title="NCCL's warnings", last_line=last)

    def _keep(self, places: dict[str, _Kept], where: str, kept: _Kept) -> None:
        if where in places or len(places) < _MAX_PLACES:
            places.setdefault(where, kept).num += 1
        self._lines = (self._lines[0] or kept.line, kept.line)


def _records(places: dict[str, _Kept]) -> list[NcclWarning]:
    return [
        NcclWarning(where=where, text=kept.text, num=kept.num, line=kept.line, host=kept.host, pid=kept.pid)
        for where, kept in places.items()
    ]
