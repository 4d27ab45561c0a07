"""What a rate means for each port of the network: "482 GB/s busbw on 2 nodes: each of 8 ports runs at 49 GB/s".

A ring sends through each of its links 2(n-1)/n times the size, so with P ports a node each carries busbw/P in each
direction. An algorithm that first adds up inside the node sends less over the network: between two nodes the vector
once each way, algbw/P. How much is counted in ringtree's schedules.
"""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from ringtree.audit.claims import counting
from ringtree.audit.claims.about import About
from ringtree.audit.claims.amounts import Rate, Share
from ringtree.audit.claims.kinds.value import Called
from ringtree.audit.claims.statement import Answer, Statement, TableCell, UndecidedError
from ringtree.audit.claims.written import gigabytes, percent
from ringtree.logs.tables.headings import Kind
from ringtree.stats.bandwidth import bus_factor

_MOST_RANKS = 8  # of a host, to count in


class Ports(Statement, TableCell):
    """`row` and `table`: where the rate stands, if its algbw or another row's explains the numbers."""

    kind: Literal["ports"]
    rate: Rate
    called: Called
    ports: int = Field(ge=1, description="of each host")
    each: Rate = Field(description="the rate that is said of each port")
    line_rate: Rate | None = Field(default=None, description="of a port")
    share: Share | None = Field(default=None, description="of the line rate")

    def judge(self, about: About) -> Answer:
        hosts = about.need("hosts")
        ranks = self.ranks or (about.ranks() if about.setup.hosts == hosts else None) or hosts * self.ports
        if hosts < 2 or ranks % hosts:
            raise UndecidedError(f"{ranks} ranks on {hosts} hosts", "two hosts or more with equally many ranks")
        factor = bus_factor(self.collective, ranks)
        algbw = self._algbw(about) or self.rate.value / (factor if self.called == "busbw" else 1)
        bus = self.rate.value if self.called == "busbw" else algbw * factor
        inside = max(1, min(_MOST_RANKS, ranks // hosts))
        shared = counting.share(self.collective, "hierarchical_ring", hosts * inside, num_hosts=hosts)
        ring, least = bus / self.ports, algbw * shared / self.ports
        top = self.line_rate.value if self.line_rate is not None else None
        shown = (
            f"ring: {gigabytes(bus)}/{self.ports} = {gigabytes(ring)} GB/s each way; adding up inside the node first: "
            f"{shared:.3g} · algbw/{self.ports} = {gigabytes(least)} GB/s"
        )
        shown += f", {percent(least / top)} of {gigabytes(top)}" if top else ""
        too_fast = top is not None and ring > top * 1.005
        if self.each.agrees(ring) and not too_fast:
            return self._of_line(ring, top) or self.holds("that is what a ring puts on each port", shown)
        if self.each.agrees(least):
            reason = "that is what each port carries where each node adds up first"
            return self._of_line(least, top) or self.holds(reason, shown)
        no_ring = f"more than its {gigabytes(top)}, so it was not a ring; " if too_fast and top else ""
        sends = "that adds up inside the node sends" if no_ring else "that adds up inside the node first"
        neither = f"and neither is {self.each.text}{self._other_row(about)}"
        reason = f"a ring would put {gigabytes(ring)} GB/s on each port, {no_ring}an algorithm {sends}"
        settles = "the algorithm that ran (NCCL_DEBUG_SUBSYS=TUNING) and the counters of the ports"
        return self.falls(f"{reason} {gigabytes(least)}, {neither}", shown, settles)

    def _of_line(self, rate: float, top: float | None) -> Answer | None:
        if self.share is None or top is None or self.share.agrees(rate / top):
            return None
        of_top = f"{gigabytes(rate)} of {gigabytes(top)} GB/s are {percent(rate / top)}"
        return self.falls(of_top, f"{gigabytes(rate)}/{gigabytes(top)} = {rate / top:.3f}")

    def _algbw(self, about: About) -> float | None:
        """That of the row with this busbw, if it has one."""
        columns = [one for one in about.grid(self).columns if one.heading.kind is Kind.ALGBW] if self.row else []
        values = [about.grid(self).value(row, one) for one in columns for row in about.rows(self)]
        return values[0] if len(values) == 1 else None

    def _other_row(self, about: About) -> str:
        """Where the number may come from: another row of the same table."""
        grid = about.grid(self) if self.row else None
        for row, _, rate in grid.cells("rate") if grid is not None else ():
            if grid is not None and abs(rate / self.ports - self.each.value) < self.each.place / 2:
                quotient = f"{gigabytes(rate)}/{self.ports} = {gigabytes(rate / self.ports)}"
                return f" ({quotient} is the row {grid.label(row)})"
        return ""
