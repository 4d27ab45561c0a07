"""NCCL's warnings, and the lines by which an error is passed up.

For: counting them by their place in NCCL's source, with the first text of each. Not for: what they mean.
"""

from __future__ import annotations

import re

from ringtree.logs.nccl_info.communicators import Process, Thread
from ringtree.logs.nccl_info.prefix import NCCL_INFO, Head
from ringtree.logs.nccl_info.shapes import NcclWarning, NcclWarnings
from ringtree.logs.records import Document

_MAX_PLACES = 500
_MAX_TEXT = 400
_RETURN = re.compile(r"\S{1,200}\.(?:cc|cpp|c|h|cu):\d{1,9} -> (\d{1,9})\b")


class WarningLines:
    """All of a file."""

    def __init__(self) -> None:
        self._warnings: dict[str, NcclWarning] = {}
        self._returns: dict[str, NcclWarning] = {}
        self._num = 0
        self._num_returns = 0
        self._lines = (0, 0)

    def warning(self, head: Head, text: str, number: int) -> None:
        """Takes a warning."""
        self._num += 1
        # Old or cut lines name no place: then the text without its numbers tells warnings apart.
        where = head.where or re.sub(r"\d+", "#", text[:100])
        self._keep(self._warnings, where, text, number, head)

    def error_return(self, thread: Thread, word: str, message: str, number: int) -> None:
        """Takes "init.cc:1012 -> 3": the function at that place returned error 3."""
        found = _RETURN.match(message)
        if found is None:
            return
        self._num_returns += 1
        self._keep(self._returns, f"{word[:200]} -> {found.group(1)}", message, number, thread.process)

    def document(self) -> Document | None:
        """Returns the document, None if there was no such line."""
        if not self._num and not self._num_returns:
            return None
        shape = NcclWarnings(
            num=self._num,
            num_error_returns=self._num_returns,
            warnings=list(self._warnings.values()),
            error_returns=list(self._returns.values()),
        )
        first, last = self._lines
        return Document(NCCL_INFO, "nccl_warnings", first, shape.plain(), title="NCCL's warnings", last_line=last)

    def _keep(self, kept: dict[str, NcclWarning], where: str, text: str, number: int, writer: Head | Process) -> None:
        self._lines = (self._lines[0] or number, number)
        if (first := kept.get(where)) is not None:
            kept[where] = first.model_copy(update={"num": first.num + 1})
        elif len(kept) < _MAX_PLACES:
            kept[where] = NcclWarning(
                where=where, text=text[:_MAX_TEXT], num=1, line=number, host=writer.host, pid=writer.pid
            )
