"""So many of a ring's hops cross the network: "with 2 nodes 2 of 16 hops (12.5 %)".

A ring that is laid host by host enters each host once and leaves it once: H of its links join hosts, whatever the
ranks.
"""

from __future__ import annotations

from typing import Literal

from ringtree.audit.claims.about import About
from ringtree.audit.claims.amounts import Share
from ringtree.audit.claims.statement import Answer, Statement, UndecidedError
from ringtree.schedules.schedule import schedule


class Crossings(Statement):
    """`count` of the ring's links, as many as ranks, join two hosts."""

    kind: Literal["crossings"]
    count: int
    share: Share | None = None

    def judge(self, about: About) -> Answer:
        hosts, ranks = about.need("hosts"), about.need("ranks")
        if ranks % hosts or hosts > 128:
            raise UndecidedError(f"{ranks} ranks do not lie evenly on {hosts} hosts", "which rank is on which host")
        inside = min(4, ranks // hosts)  # however many are inside
        made = schedule("all_reduce", "ring", hosts * inside)
        links = {(rank, peer) for rank in range(hosts * inside) for step in made.program(rank) for peer in step.send_to}
        right = sum(a // inside != b // inside for a, b in links)
        share = f"{100 * right / ranks:.3g} %"
        shown = f"{hosts} hosts, n = {ranks}: {right} of {ranks} links cross, {share}"
        if self.count != right:
            once = f"a ring through {hosts} hosts enters and leaves each once"
            return self.falls(f"{once}: {right} of {ranks} hops cross ({share}), not {self.count}", shown)
        if self.share is not None and not self.share.agrees(right / ranks):
            return self.falls(f"{right} of {ranks} are {share}, not {self.share.text}", shown)
        return self.holds(f"{right} of the ring's {ranks} links join two hosts, counted in the schedule", shown)
