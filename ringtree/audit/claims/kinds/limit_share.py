"""A share of a limit: "busbw of 355 GB/s, 40 % of the theoretical 900 GB/s", "one can expect 80-90 % of the peak".

A busbw is what goes over a link in one direction; vendors print both directions of all links together. A rate held
against such a sum looks half as good as it is.
"""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from ringtree.audit.claims.about import About
from ringtree.audit.claims.amounts import Rate, Share
from ringtree.audit.claims.statement import Answer, Statement
from ringtree.audit.claims.written import gigabytes, percent
from ringtree.logs.tables.headings import Kind

_SAME = 0.02
_RULE_OF_THUMB = (
    "it is not said which advertised rate (one direction, or both together, which is twice as much), nor which "
    "measured one: a busbw counts one direction, and where a switch reduces (NVLS) it may exceed the link's rate"
)


class LimitShare(Statement):
    """`rate` is `value` of `limit`. Without both of them it is a rule of thumb."""

    kind: Literal["limit_share"]
    value: Share
    rate: Rate | None = None
    limit: Rate | None = None
    direction: Literal["one", "both"] | None = Field(
        default=None, description="what the sentence says that the limit is: of one direction, or of both together"
    )

    def judge(self, about: About) -> Answer:
        if self.rate is None or self.limit is None:
            settles = "the rate of one direction, the algorithm that ran, and busbw from several runs"
            return self.open(_RULE_OF_THUMB, settles, self._example(about))
        rate, limit, rates = self.rate.value, self.limit.value, about.one_way_rates()
        share, top = percent(rate / limit, 1), gigabytes(limit)
        shown = f"{gigabytes(rate)}/{top} = {share}"
        if not self.value.agrees(rate / limit):
            return self.falls(f"{gigabytes(rate)} of {top} GB/s are {share}", shown)
        both = [one for one in rates if abs(2 * one[1] - limit) <= _SAME * limit]
        one_way = any(abs(way - limit) <= _SAME * limit for _, way in rates)
        if both and self.direction != "one" and (about.gpus() or not one_way):
            name, way = both[0]
            shown += f"; of {gigabytes(way)} per direction {percent(rate / way)}"
            if self.direction == "both":
                return self.holds(f"as stated, {top} GB/s are both directions; a busbw uses one of them", shown)
            together = f"{top} GB/s is what an {name} can send and receive together; a busbw counts one direction"
            of_which = f"of which there are {gigabytes(way)} GB/s, so it is {percent(rate / way)}"
            return self.falls(f"{together}, {of_which}", shown)
        if self.direction == "one" or (about.gpus() and one_way):
            return self.holds("the share is right, of the rate of one direction", shown)
        reason = "the share is right, but it is not known what the peak is a peak of"
        return self.open(reason, "the hardware, or whether the peak is one direction or both", shown)

    def _example(self, about: About) -> str:
        """The table's highest busbw against both readings of what is advertised for its GPUs."""
        rates = {rate for _, rate in about.one_way_rates()}
        if len(rates) != 1 or not about.gpus() or not about.table:
            return ""
        grid = about.grid()
        top = max((rate for _, one, rate in grid.cells("rate") if one.heading.kind is Kind.BUSBW), default=0.0)
        way = rates.pop()
        both = f"{percent(top / (2 * way))} of {gigabytes(2 * way)} (both directions)"
        one_way = f"{percent(top / way)} of {gigabytes(way)} (one)"
        return f"the table's highest busbw is {gigabytes(top)} GB/s: {both}, {one_way}" if top else ""
