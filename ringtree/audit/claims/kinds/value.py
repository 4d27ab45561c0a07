"""A figure of the table: "algbw is 237 GB/s at 1 GB", "the default peaks at 571 GB/s on 2 nodes".

First whether it stands in the cell, then what it is: a "bandwidth" with a time beside it shows by size/time whether it
is algbw, busbw or neither. Then whether the links permit it.
"""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from ringtree.audit.checks.limits import MARGIN
from ringtree.audit.claims import noise
from ringtree.audit.claims.about import About, Found
from ringtree.audit.claims.amounts import Stated
from ringtree.audit.claims.columns import ALGBW, ColumnFormula, base, column_formula, time_column
from ringtree.audit.claims.records import Part
from ringtree.audit.claims.statement import Answer, Statement, TableCell
from ringtree.audit.claims.written import gigabytes, seconds, size
from ringtree.audit.intervals import Interval
from ringtree.stats.bandwidth import bus_factor

Called = Literal["algbw", "busbw"]


def algbw_of(about: About, found: Found) -> tuple[ColumnFormula, Interval] | None:
    """What the column of a rate holds, and the size/time of its row; None where no time says it."""
    time = time_column(found.grid, found.column) if found.column.kind == "rate" else None
    holds = None if time is None else column_formula(found.grid, found.column, time, about.ranks())
    if time is None or holds is None or not holds.sure:
        return None
    plain = base(found.grid, found.row, time, holds.binary)
    return None if plain is None else (holds, plain)


class Value(Statement, TableCell):
    """A figure that stands in a cell."""

    kind: Literal["value"]
    value: Stated
    called: Called | None = Field(default=None, description="what the sentence calls the rate")
    highest: bool = Field(default=False, description="it is said to be the highest of the cells that `row` leaves")

    def judge(self, about: About) -> Answer:
        found = about.cells(self)
        if self.highest:
            found = [max(found, key=lambda one: one.value)]
        agreeing = [one for one in found if one.agrees(self.value)]
        other = next((one for one in found if one not in agreeing), None)
        if other is None:
            return [self._meaning(about, found[0]), *self._possible(about, found[0])]
        shown = f"{other.label}: {other.shown}"
        if agreeing:
            cells = f"{len(agreeing)} of {len(found)} selected cells, not of all"
            return self.open(f"true of {cells}", "whether all of them are meant or one", shown)
        if self.highest:
            return self.falls(f"the highest of these in the table is {other.shown}", shown)
        has = ", ".join(one.shown for one in found[:4])
        return self.falls(f"the table has {has} there, not {self.value.text}", shown)

    def _meaning(self, about: About, found: Found) -> Part:
        """The number is in the table; now what it is a rate of."""
        known, stands = algbw_of(about, found), f"{self.value.text} stands in the table"
        time, place = time_column(found.grid, found.column), f"{found.label}: {found.shown}"
        if known is None and self.called and found.headed not in (None, self.called):
            return self.falls(f"{self.value.text} is called {self.called} but stands under {found.column.name}", place)
        if known is None or time is None:
            return self.holds(stands, place, noise.SETTLES if found.column.kind == "time" else "")
        holds, plain = known
        n, sizes = about.ranks(found), found.grid.sizes(found.row)
        arithmetic = (
            f"{place}; size/time = {size(sizes[0 if holds.binary else -1], holds.binary)} / "
            f"{seconds(found.grid.value(found.row, time) or 0)} = {gigabytes(plain.middle)} GB/s, "
            f"the column is {holds.words} in {holds.num_explained} of {holds.num_rows} rows"
        )
        bus = bus_factor(self.collective, n) if n is not None and n > 1 else None
        if bus is not None:
            words = "2(n-1)/n" if self.collective == "all_reduce" else "busbw/algbw"
            arithmetic += f", {words} = {bus:.4g} at n = {n}"
        is_ = {"algbw": holds.words == ALGBW, "busbw": bus is not None and holds.factor(n) == bus}
        if is_[self.called] if self.called else any(is_.values()):
            return self.holds(f"{stands}, and it is {'size/time' if is_['algbw'] else 'a busbw'}", arithmetic)
        algbw = f"algbw is {gigabytes(plain.middle)} GB/s"
        if self.called is None:
            busbw = f" and as busbw {gigabytes(plain.middle * bus)} GB/s" if bus is not None else ""
            neither = f"is neither algbw nor busbw: it is {holds.words}, where {algbw}{busbw}"
            return self.falls(f"{stands} but {neither}", arithmetic)
        kind = "a busbw" if is_["busbw"] else "algbw" if is_["algbw"] else holds.words
        meant = f"; its {algbw}" if self.called == "algbw" else ""
        called = f"is called {self.called} but is {kind} ({holds.words}){meant}"
        return self.falls(f"{self.value.text} {called}", arithmetic)

    def _possible(self, about: About, found: Found) -> list[Part]:
        """What is held against the links is size/time where it is known, as in the audit of a log."""
        limit = about.limit(self.collective, found) if found.column.kind == "rate" else None
        if limit is None or limit.algbw is None or limit.busbw is None:
            return []
        known = algbw_of(about, found)
        label = "algbw" if known is not None else self.called
        rate = known[1].low if known is not None else self.value.low - self.value.place / 2
        top = {"algbw": limit.algbw, "busbw": limit.busbw}.get(label or "", max(limit.algbw, limit.busbw))
        if rate <= top * MARGIN:
            return []
        both = f"algbw {gigabytes(limit.algbw)}, busbw {gigabytes(limit.busbw)}"
        which = f"no {label or 'rate, algbw or busbw,'} of any {self.collective} passes {gigabytes(top)} GB/s there"
        reason = f"{self.value.text} can't have been measured: {which} ({both})"
        return [self.falls(reason, limit.arithmetic, "how the rate was computed from which size and time")]
