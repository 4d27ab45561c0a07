"""What was found of a host, before it is a description.

For: the readers of one kind of document each (matrix.py, topology.py, communicator.py), which fill it. Not for: what it
becomes (describing.py).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field


@dataclass
class Found:
    """None and 0: the log does not say. The first document that says something counts.

    `links[a][b]`: NVLinks between two ranks; `switch_links`: of each rank to a switch. `target`: the GPU's, as "sm_80".
    `pcie_generation`, `pcie_width`: of a rank's slot. `port_rates`: bytes/s; `of_rank`: the port nearest to each rank.
    `rank_rate`, `host_rate`: bytes/s that NCCL's search found inside and between hosts. `said`: in words, for people.
    """

    ranks: int = 0
    hosts: int = 0
    links: list[list[int]] | None = None
    switch_links: int = 0
    target: str | None = None
    devices: list[str] = field(default_factory=list)
    pcie_generation: str | None = None
    pcie_width: int = 0
    bridges: list[int] | None = None
    sockets: list[int] | None = None
    num_ports: int = 0
    port_rates: list[float] = field(default_factory=list)
    of_rank: list[int] | None = None
    channels: int = 0
    rank_rate: float | None = None
    host_rate: float | None = None
    said: list[str] = field(default_factory=list)


def groups_of(num: int, joined: Sequence[tuple[int, int]]) -> list[int]:
    """Returns the group of each of `num` members, numbered by their first ones, where `joined` ones share a group."""
    group = list(range(num))
    for a, b in joined:
        old, new = max(group[a], group[b]), min(group[a], group[b])
        group = [new if one == old else one for one in group]
    order = list(dict.fromkeys(group))
    return [order.index(one) for one in group]
