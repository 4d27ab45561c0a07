"""What NCCL writes before its message: host:pid:tid [device] NCCL INFO.

For: finding NCCL's lines, also where several stand in one line or other text stands before them. Not for: messages.

A line may begin with a time (lines.py took the usual forms off) and may lack its first part, if it was cut.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

INFO, WARN = "NCCL INFO ", "NCCL WARN "

# Numbers have as many digits as a 64-bit number has at most, so that int() is quick whatever a line holds.
_WRITER = r"([A-Za-z0-9_][\w.-]{0,254}):(\d{1,10}):(\d{1,20}) (?:\[(\d{1,9})\] )?"
_WHERE = r"(?:(\S{1,200}:\d{1,9}) (?:\(\S{1,200}\) )?)?"  # only warnings have it
_HEAD = re.compile(rf"{_WRITER}{_WHERE}$")
_NEXT = re.compile(rf"{_WRITER}{_WHERE}(?=NCCL (?:INFO|WARN) )")
_LONGEST = 800


class Head(NamedTuple):
    """Who wrote a message; `where` is the place in NCCL's source that a warning names."""

    host: str
    pid: int
    tid: int
    device: int | None
    where: str


UNKNOWN = Head("", 0, 0, None, "")


def parse_head(head: str) -> Head | None:
    """Returns what stands before "NCCL INFO ", UNKNOWN if it was cut off, None if this is no line of NCCL's."""
    found = _HEAD.search(head[-_LONGEST:])
    if found is not None:
        host, pid, tid, device, where = found.groups()
        return Head(host, int(pid), int(tid), None if device is None else int(device), where or "")
    # A piece of a prefix ("52 [0] ") is one; a sentence about NCCL INFO lines is none.
    rest = head.rstrip()
    return UNKNOWN if not rest or rest.endswith("]") else None


def split_glued(text: str) -> Iterator[str]:
    """Yields the lines of NCCL that stand in one line, each with its prefix, and what stands before the first one.

    Where one was glued to the end of another without a blank, the host's name keeps the other's last word.
    """
    begin = 0
    for found in _NEXT.finditer(text):
        if found.start() > begin:
            yield text[begin : found.start()]
        begin = found.start()
    yield text[begin:]
