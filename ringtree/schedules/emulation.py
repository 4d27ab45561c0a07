"""The cluster that is emulated on one machine: which links are slowed, and by how much.

For: the engine's slowed links, and the model's time on them. Not for: clusters that are described, not emulated.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Emulation:
    """A cluster emulated on this machine: rank r lives on host r // ranks_per_host. What hosts send to each other
    leaves through one network card a host at `beta` bytes per second and arrives `alpha` seconds later; messages
    inside a host are not slowed."""

    hosts: int
    ranks_per_host: int
    alpha: float
    beta: float
