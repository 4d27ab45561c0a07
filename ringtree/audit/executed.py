"""What NCCL's lines in the same log say that it ran.

For: the decisions of subsystem TUNING, by collective and size. Not for: what was forced, or could run (ringtree.nccl).
"""

from __future__ import annotations

from collections.abc import Iterable

from ringtree.logs import Document

# By collective and size: the algorithms, or algorithms and protocols, of all calls.
Executed = dict[tuple[str, int], set[tuple[str, str | None]]]


def executed_of(documents: Iterable[Document]) -> Executed:
    """Returns what was chosen, as far as the lines say for which collective and size; nothing if lines are missing."""
    found: Executed = {}
    for document in documents:
        if document.kind != "nccl_communicator":
            continue
        if document.data["left_out"]:
            return {}
        for one in document.data["decisions"]:
            if one["collective"] and one["size_bytes"] is not None and one["algorithm"]:
                found.setdefault((one["collective"], one["size_bytes"]), set()).add((one["algorithm"], one["protocol"]))
    return found
