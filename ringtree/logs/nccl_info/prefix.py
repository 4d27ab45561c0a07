"""What NCCL writes before its message: host:pid:tid [device] NCCL INFO.

For: finding NCCL's lines, also where several stand in one line or other text stands before them. Not for: messages.

A line may begin with a time (lines.py took the usual forms off) and may lack its first part, if it was cut.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import NamedTuple

from ringtree.logs.records import Format

NCCL_INFO = Format("nccl-info")
INFO, WARN = "NCCL INFO ", "NCCL WARN "

# Numbers have as many digits as a 64-bit number has at most, so that int() is quick whatever a line holds.
_WRITER = r"([A-Za-z0-9_][\w.-]{0,254}):(\d{1,10}):(\d{1,20}) (?:\[(\d{1,9})\] )?"
_WHERE = r"(?:(\S{1,200}:\d{1,9}) (?:\(\S{1,200}\) )?)?"  # only warnings have it
_HEAD = re.compile(rf"{_WRITER}{_WHERE}$")
_NEXT = re.compile(rf"{_WRITER}{_WHERE}(?=NCCL (?:INFO|WARN) )")
_LONGEST = 800


class Head(NamedTuple):
    """Who wrote a message; `where` is the place in NCCL's source that a warning names. `glued`: other text touches the
    host's name, whose beginning may belong to that."""

    host: str
    pid: int
    tid: int
    device: int | None
    where: str
    glued: bool = False


UNKNOWN = Head("", 0, 0, None, "")


def parse_head(head: str) -> Head | None:
    """Returns what stands before "NCCL INFO ", UNKNOWN if it was cut off, None if this is not a line of NCCL's."""
    head = head[-_LONGEST:]
    found = _HEAD.search(head)
    if found is not None:
        host, pid, tid, device, where = found.groups()
        glued = found.start() > 0 and not head[found.start() - 1].isspace()
        return Head(host, int(pid), int(tid), None if device is None else int(device), where or "", glued)
    # A piece of a prefix ("52 [0] ") is one; a sentence about NCCL INFO lines is none.
    rest = head.rstrip()
    return UNKNOWN if not rest or rest.endswith("]") else None


def known_host(host: str, hosts: Iterable[str]) -> str:
    """Returns the known host with whose name a glued one ends, of several the longest; of none the name itself."""
    return max((known for known in hosts if host.endswith(known)), key=len, default=host)


def split_glued(text: str, hosts: Iterable[str]) -> Iterator[str]:
    """Yields the lines of NCCL that stand in one line, each with its prefix, and what stands before the first one.

    Between "…via P2P/IPC" and "node7:411:411 [0] NCCL INFO" need be no blank: then a host's name that is known by
    itself says where the next line begins.
    """
    begin = 0
    known = list(hosts)
    for found in _NEXT.finditer(text):
        start, host = found.start(), found.group(1)
        if start > 0:
            start = found.end(1) - len(known_host(host, known))
        else:
            known.append(host)
        if start > begin:
            yield text[begin:start]
        begin = start
    yield text[begin:]
