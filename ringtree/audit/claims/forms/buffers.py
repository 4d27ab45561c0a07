"""Form: a buffer is so many slots of so much. "4 MiB (Simple), 256 KiB (LL), in 8 slots of 512 and 32 KiB"."""

from __future__ import annotations

import re

from ringtree.audit.claims.claim import Claim
from ringtree.audit.claims.forms.part import Says
from ringtree.audit.claims.nccl_facts import PROTOCOLS, RELEASE, SLOTS
from ringtree.audit.claims.quantities import Quantity
from ringtree.audit.claims.records import Part

_SAYS = Says("buffers and their slots")
_AFTER = re.compile(r"\s*(?:\(|for\s+|with\s+|in\s+|of\s+)\s*(LL128|LL|Simple)\b")
_BEFORE = re.compile(
    r"\b(LL128|LL|Simple)\b\)?(?:\s*(?:has|have|uses?|is|:|with|gets?|takes?|a|an|the|its|buffers?|of|about|default|channel'?s?)\b|\s|:|')*[~≈]?$"
)


def judge(claim: Claim) -> list[Part]:
    """One part for each buffer that is named with its protocol, or one for the product alone."""
    slots = claim.of_kind("count", "slots")
    if not claim.says(r"\bbuffers?\b") or not (slots or _names_protocols(claim)):
        return []
    of_slots = _sizes_of_slots(claim, slots[0]) if len(slots) == 1 else []
    buffers = [one for one in claim.of_kind("size") if one not in of_slots]
    named = [(_protocol(claim, one), one) for one in buffers]
    if not buffers or (slots and not of_slots):
        return []
    if of_slots and len(of_slots) != len(buffers):
        return [
            _SAYS.open(
                "there is not a slot's size for each buffer",
                "which slot belongs to which buffer",
                covers=[*slots, *of_slots, *buffers],
            )
        ]
    found: list[Part] = []
    for index, (protocol, buffer) in enumerate(named):
        slot = of_slots[index] if of_slots else None
        found.append(_check(protocol, buffer, slot, slots[0] if slots else None))
    return found


def _names_protocols(claim: Claim) -> bool:
    return re.search(r"\b(?:LL128|LL|Simple)\b", claim.text) is not None


def _sizes_of_slots(claim: Claim, slots: Quantity) -> list[Quantity]:
    """The sizes right after "slots of", up to the first that is no longer part of the list."""
    found: list[Quantity] = []
    end = slots.span[1]
    for one in claim.of_kind("size"):
        if one.span[0] < end:
            continue
        if (
            re.fullmatch(
                r"\s*(?:of|à|,|and|or|, and|each of|with)?\s*(?:[~≈]|about\s)?\s*", claim.text[end : one.span[0]]
            )
            is None
        ):
            break
        found.append(one)
        end = one.span[1]
    return found


def _protocol(claim: Claim, buffer: Quantity) -> str | None:
    after = _AFTER.match(claim.text, buffer.span[1])
    if after is not None:
        return after[1]
    before = _BEFORE.search(claim.text[: buffer.span[0]])
    return before[1] if before is not None else None


def _check(protocol: str | None, buffer: Quantity, slot: Quantity | None, slots: Quantity | None) -> Part:
    covers = [one for one in (buffer, slot, slots) if one is not None]
    sizes = buffer.sizes
    product = ""
    if slot is not None and slots is not None:
        whole = [slots.count * one for one in slot.sizes]
        product = f"{slots.count} · {_kib(whole[0] / slots.count)} = {_kib(whole[0])}"
        if not any(abs(a - b) <= max(buffer.place, 0.02 * b) / 2 for a in sizes for b in whole):
            return _SAYS.falls(f"{slots.count} slots of {slot.text} are not {buffer.text}", product, covers)
    if protocol is None:
        return (
            _SAYS.holds("slots times their size is the buffer", product, covers)
            if product
            else _SAYS.open("it is not said which protocol has this buffer", "the protocol", covers=covers)
        )
    fact = PROTOCOLS[protocol]
    known = f"NCCL {RELEASE}, {protocol}: {fact.formula} = {_kib(fact.buffer)} in {SLOTS} slots of {_kib(fact.slot)}"
    arithmetic = f"{product}; {known}" if product else known
    if any(abs(one - fact.buffer) <= 0.02 * fact.buffer for one in sizes) and (slots is None or slots.count == SLOTS):
        return _SAYS.holds(f"{protocol}'s buffer is as NCCL has it by default", arithmetic, covers)
    half = (
        " (what is said is the data in it: half of each line is flags)"
        if any(abs(one / fact.buffer - fact.share) < 0.01 for one in sizes)
        else ""
    )
    right = "the product is right, but " if product else ""
    return _SAYS.falls(
        f"{right}{protocol}'s buffer is {_kib(fact.buffer)} in {SLOTS} slots of {_kib(fact.slot)} by default{half}",
        arithmetic,
        covers,
    )


def _kib(size: float) -> str:
    return f"{size / 2**20:g} MiB" if size % 2**20 == 0 else f"{size / 2**10:g} KiB"
