"""A world of a tuning: so many ranks, with private or with shared buffers; what is measured in it.

For: which collectives and sizes a world has, what share of the time it gets, its name for people. Not for: launches
(plan.py), options (request.py).
"""

from __future__ import annotations

import math
from collections.abc import Iterable

from pydantic import Field

from ringtree.results import Record

PRIVATE, SHARED = "private", "shared"
BUFFERS = (PRIVATE, SHARED)
SHARED_COLLECTIVES = ("all_reduce",)
# Bytes of the vector. Messages of up to 1,144 bytes travel in their line whatever the buffer, so whether those of
# smaller vectors are read in place is not a reason to choose otherwise.
SHARED_FROM = 1 << 10
# Shared buffers matter to those who ask for them, private ones to everybody.
SHARED_WEIGHT = 0.5


class World(Record):
    """What launches are repeated for."""

    num_ranks: int = Field(ge=1)
    num_hosts: int = Field(default=1, ge=1, description="equal, consecutive ranks per host")
    shared_buffers: bool = Field(default=False, description="vectors come from ringtree.empty")

    @property
    def words(self) -> str:
        """Names it: "2 ranks", "2 ranks and shared buffers", "4 ranks on 2 hosts"."""
        hosts = f" on {self.num_hosts} hosts" if self.num_hosts > 1 else ""
        return f"{self.num_ranks} ranks{hosts}{' and shared buffers' if self.shared_buffers else ''}"

    @property
    def weight(self) -> float:
        """Its share of the time relative to the others'. More ranks take longer for the same rounds, as they share
        cores or caches; but not even sixteen may leave a few of them next to nothing."""
        return (1 + math.log2(self.num_ranks)) * (SHARED_WEIGHT if self.shared_buffers else 1.0)

    @property
    def private(self) -> World:
        """The world of as many ranks with private buffers."""
        return World(num_ranks=self.num_ranks, num_hosts=self.num_hosts)

    def measures(self, collective: str) -> bool:
        """Returns whether a collective is measured here."""
        return not self.shared_buffers or collective in SHARED_COLLECTIVES

    def leaves_to_private(self, size_bytes: int, worlds: Iterable[World]) -> bool:
        """Returns whether a size is so small that the rounds with private buffers, if some of `worlds` has them, hold
        for this one too."""
        return self.shared_buffers and size_bytes < SHARED_FROM and self.private in worlds
