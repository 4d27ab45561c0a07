"""What NCCL's protocols carry, where, and how fast: "LL sends 4 + 4 bytes, 25-50 % of the peak", "4 MiB in 8 slots of
512 KiB", "a hop takes about 1, 2 and 6 us".

The share of data in a line bounds the bandwidth from above: LL can't pass 4/8. How far below it stays is another
matter.
"""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from ringtree.audit.claims.about import About
from ringtree.audit.claims.amounts import Amount, Share, Size, Time
from ringtree.audit.claims.records import Part
from ringtree.audit.claims.statement import Answer, Statement, UndecidedError
from ringtree.nccl.constants import HOP_LATENCIES, PROTOCOLS, RELEASE, SLOTS
from ringtree.nccl.names import PROTOCOLS as ORDER

_SLACK, _NEAR = 0.03, 0.25
Name = Literal["LL", "LL128", "Simple"]


class Protocol(Statement):
    """What is said of a protocol's line, its share of the peak, its buffer in a channel; or of the hops of several."""

    kind: Literal["protocol"]
    protocol: Name = "Simple"
    data: int | None = Field(default=None, description="bytes of data in a line")
    flags: int | None = Field(default=None, description="bytes of flags in a line")
    share: Share | None = Field(default=None, description="of the peak bandwidth")
    buffer: Size | None = None
    slots: int | None = None
    slot: Size | None = None
    hops: dict[Name, Time] = Field(default_factory=dict, description="the time of one hop, by protocol")
    link: Literal["NVLink", "PCIe", "network"] | None = Field(default=None, description="that the hops go over")

    def judge(self, about: About) -> Answer:
        fact, name = PROTOCOLS[self.protocol], self.protocol
        sums = f"{name}: {fact.data}/({fact.data}+{fact.flags}) = {100 * fact.share:.4g} %"
        parts: list[Part] = []
        if self.data is not None or self.flags is not None:
            right = (self.data, self.flags) == (fact.data, fact.flags)
            wrong = f"{name} has {fact.data} bytes of data to {fact.flags} of flags"
            known = f"NCCL {RELEASE}: {fact.data} + {fact.flags}"
            parts.append(self.holds(f"a line of {name} is as NCCL has it", sums) if right else self.falls(wrong, known))
        if self.share is not None:
            parts.append(self._of_peak(self.share, fact.share, sums))
        if self.buffer is not None:
            parts.append(self._buffer(self.buffer))
        if self.hops:
            parts.append(self._latencies())
        if not parts:
            raise UndecidedError(f"the claim states nothing about {name}", "what it states")
        return parts

    def _of_peak(self, stated: Amount, share: float, sums: str) -> Part:
        name, data = self.protocol, f"{100 * share:.4g} % of what"
        if stated.high > share * (1 + _SLACK):
            return self.falls(f"{name} can't reach {stated.text} of the peak: {data} it sends is data", sums)
        if stated.low < stated.high or stated.agrees(share) or stated.high >= share * (1 - _SLACK):
            low = f", and other costs take the rest (NCCL's own model counts Tree with {name} at 1/3.8)"
            rest = low if stated.low < stated.high else ""
            return self.holds(f"data are {data} {name} sends, which bounds its bandwidth{rest}", sums)
        reason = f"{name} may well reach less than its share of data; how much less depends on the machine"
        return self.open(reason, f"{name}, Simple and the link's rate measured on one machine", sums)

    def _buffer(self, buffer: Amount) -> Part:
        fact, product = PROTOCOLS[self.protocol], ""
        if self.slot is not None and self.slots is not None:
            whole = [self.slots * one for one in self.slot.sizes]
            product = f"{self.slots} · {_kib(self.slot.sizes[0])} = {_kib(whole[0])}; "
            if not any(abs(a - b) <= max(buffer.place, 0.02 * b) / 2 for a in buffer.sizes for b in whole):
                return self.falls(f"{self.slots} slots of {self.slot.text} are not {buffer.text}", product[:-2])
        of = f"{_kib(fact.buffer)} in {SLOTS} slots of {_kib(fact.slot)}"
        shown = f"{product}NCCL {RELEASE}, {self.protocol}: {fact.formula} = {of}"
        if any(abs(one - fact.buffer) <= 0.02 * fact.buffer for one in buffer.sizes) and self.slots in (None, SLOTS):
            return self.holds(f"{self.protocol}'s buffer is as NCCL has it by default", shown)
        is_data = any(abs(one / fact.buffer - fact.share) < 0.01 for one in buffer.sizes)
        half = " (the figure is the data in it: half of each line is flags)" if is_data else ""
        right = "the product is right, but " if product else ""
        return self.falls(f"{right}{self.protocol}'s buffer is {of} by default{half}", shown)

    def _latencies(self) -> Part:
        rows = {link: dict(zip(ORDER, row["Ring"], strict=True)) for link, row in HOP_LATENCIES.items()}
        said = ", ".join(f"{name} {one.value * 1e6:g} us" for name, one in self.hops.items())
        known = "; ".join(f"{link} {'/'.join(f'{one:g}' for one in row.values())}" for link, row in rows.items())
        shown = f"said: {said}; NCCL {RELEASE} counts for a ring's hop ({'/'.join(ORDER)}, us): {known}"
        near = [link for link, row in rows.items() if all(
            abs(one.value * 1e6 - row[name]) <= _NEAR * row[name] for name, one in self.hops.items())]  # fmt: skip
        if self.link is not None:
            says = self.holds if self.link in near else self.falls
            return says(f"NCCL's model counts {'these' if self.link in near else 'other'} times for {self.link}", shown)
        like = f"those that NCCL's model has for {' and '.join(near)}" if near else "none that NCCL's model has"
        reason = f"the time of a hop depends on the link, which is not named; they are like {like}"
        return self.open(reason, "the kind of link, and a measurement of one hop on it", shown)


def _kib(size: float) -> str:
    return f"{size / 2**20:g} MiB" if size % 2**20 == 0 else f"{size / 2**10:g} KiB"
