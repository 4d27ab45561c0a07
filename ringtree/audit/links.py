"""What else a log says of the GPUs: how many NVLinks each has, by a topology, and their names, by nvidia-smi.

For: the machine of tables that name no device, or one that nobody knows. Not for: rates of links
(ringtree.hardware), who is joined to whom.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import NamedTuple

from ringtree.logs import Document

_NVLINKS = re.compile(r"NV(\d+)")


class Links(NamedTuple):
    """`counts`: what a GPU's number of links may be; `line`: where the first topology begins. `devices`: the names that
    nvidia-smi gives; `named_in`: the line where it does."""

    counts: tuple[int, ...]
    line: int
    devices: tuple[str, ...] = ()
    named_in: int = 0

    def told_by(self, by_name: bool) -> str:
        """Returns what tells the machine, in words."""
        return f"nvidia-smi in line {self.named_in}" if by_name else f"the NVLinks of the topology in line {self.line}"


def links_of(documents: Iterable[Document]) -> Links | None:
    """Returns what matrices of `nvidia-smi topo -m`, and nvidia-smi itself, say; None without names and NVLinks.

    Through a switch all links of a GPU lead to each other one; pair by pair each leads to one, and they add up. What is
    right is not told: both are returned.
    """
    counts: set[int] = set()
    lines = []
    devices: dict[str, int] = {}
    for document in documents:
        if document.kind == "nvidia_gpus":
            devices |= {name: document.first_line for name in document.data["devices"] if name not in devices}
        if document.kind != "topology_matrix":
            continue
        for cells in document.data["links"].values():
            found = (_NVLINKS.fullmatch(cell or "") for cell in cells.values())
            numbers = [int(one.group(1)) for one in found if one is not None]
            if numbers:
                counts |= {max(numbers), sum(numbers)}
                lines.append(document.first_line)
    if not counts and not devices:
        return None
    return Links(tuple(sorted(counts)), min(lines, default=0), tuple(devices), min(devices.values(), default=0))
