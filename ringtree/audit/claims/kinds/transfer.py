"""So many bytes in so long: "28 GB take 160 ms with Ring", "64 MB in 1.21 ms is 104 GB/s busbw with 16 GPUs".

The GPUs' links must permit it, and with a rate the three must fit each other.
"""

from __future__ import annotations

from typing import Literal

from ringtree.audit.claims.about import About
from ringtree.audit.claims.amounts import Amount, Rate, Size, Time
from ringtree.audit.claims.kinds.value import Called
from ringtree.audit.claims.records import Part, Verdict
from ringtree.audit.claims.statement import Answer, Statement
from ringtree.audit.claims.written import gigabytes, number, seconds
from ringtree.stats.bandwidth import bus_factor


class Transfer(Statement):
    """A size and a time, with or without the rate that follows."""

    kind: Literal["transfer"]
    size: Size
    time: Time
    rate: Rate | None = None
    called: Called | None = None

    def judge(self, about: About) -> Answer:
        permitted = self._permitted(about)
        if self.rate is None:
            return permitted
        return [self._fits(self.rate, about.ranks()), *([permitted] if permitted.verdict is Verdict.FALLS else [])]

    def _permitted(self, about: About) -> Part:
        limit, time, size = about.limit(self.collective), self.time.text, self.size.sizes[-1]
        # The least rate that the digits allow, in units of 1000: what then exceeds a limit does so in any reading.
        low = size * (1 - self.size.place / self.size.low / 2) / (self.time.high + self.time.place / 2)
        implied = size / self.time.value
        in_table = self._in_table(about, implied)
        shown = f"{self.size.text} / {time} = {gigabytes(implied)} GB/s{in_table}"
        if limit is None or limit.algbw is None:
            of_table = "size over time is the rate of the table; whether the hardware permits it is undecided"
            unknown = "neither the table nor known hardware says how long it takes"
            return self.open(of_table if in_table else unknown, "the hardware, or the times of several runs", shown)
        shortest = seconds(size / limit.algbw)
        shown += f"; {limit.arithmetic}; at least {self.size.text} / {gigabytes(limit.algbw)} GB/s = {shortest}"
        if low > limit.algbw:
            return self.falls(f"no algorithm can do it in {time}: the links need at least {shortest}", shown)
        if implied > 0.97 * limit.algbw:
            reason = f"{time} would be all that the links permit, with nothing lost anywhere"
            return self.open(reason, "the time of several runs, and what was measured as the size", shown)
        reason = f"the links permit {time}; whether it takes that is a matter of measurement"
        return self.open(reason, "several runs of this size", shown)

    def _fits(self, rate: Amount, n: int | None) -> Part:
        factors = {"algbw": 1.0, **({"busbw": bus_factor(self.collective, n)} if n else {})}
        plain = [one / self.time.value for one in self.size.sizes]
        shown = f"{self.size.text} / {self.time.text} = {gigabytes(plain[0])} GB/s"
        if n:
            bus = factors["busbw"]
            shown += f", times {number(bus)} = {gigabytes(plain[0] * bus)} GB/s at n = {n}"
        slack = self.time.place / self.time.value / 2  # both printed numbers are rounded
        readings = [(name, one * factor) for name, factor in factors.items() for one in plain]
        fits = [name for name, one in readings if rate.agrees(one * (1 - slack), one * (1 + slack))]
        if fits and self.called in (None, *fits):
            return self.holds(f"it is the {self.called or fits[0]}", shown)
        if self.called == "busbw" and not n:
            return self.open("busbw needs the number of ranks", "the number of ranks", shown)
        is_not = f"is the {fits[0]}, not the {self.called}" if fits else "does not follow from size and time"
        return self.falls(f"{rate.text} {is_not}", shown)

    def _in_table(self, about: About, rate: float) -> str:
        """A rate of the table that is the same."""
        grid = about.grid() if about.table else None
        for row, column, value in grid.cells("rate") if grid is not None else ():
            if grid is not None and value and abs(value - rate) <= 0.02 * value:
                return f", the table's {gigabytes(value)} GB/s ({grid.label(row)}, {column.name})"
        return ""
