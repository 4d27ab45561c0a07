"""Form: size, time and rate in one sentence, or algbw and busbw. "64 MB in 1.21 ms is 104 GB/s busbw with 16 GPUs"."""

from __future__ import annotations

from ringtree.audit.claims import lookup
from ringtree.audit.claims.claim import Claim
from ringtree.audit.claims.forms.part import Says
from ringtree.audit.claims.forms.table_values import label_of
from ringtree.audit.claims.quantities import Quantity
from ringtree.audit.claims.records import Part
from ringtree.stats.bandwidth import bus_factor

_SAYS = Says("size, time and rate")


def judge(claim: Claim) -> list[Part]:
    """One part, if the sentence has exactly what it needs."""
    sizes, times, rates = claim.of_kind("size"), claim.of_kind("time"), claim.of_kind("rate")
    if len(sizes) == 1 and len(times) == 1 and len(rates) == 1:
        return [_size_time(claim, sizes[0], times[0], rates[0])]
    labels = {label_of(claim, one): one for one in rates}
    percents = claim.of_kind("percent")
    if (
        set(labels) == {"algbw", "busbw"}
        and len(rates) == 2
        and not percents
        and claim.num_ranks
        and claim.grid is None
    ):
        return [_factor(claim, labels["algbw"], labels["busbw"], claim.num_ranks)]
    return []


def _size_time(claim: Claim, size: Quantity, time: Quantity, rate: Quantity) -> Part:
    label, n = label_of(claim, rate), claim.num_ranks
    covers = [size, time, rate, *claim.of_kind("count", "ranks")]
    collective = claim.collective or "all_reduce"
    factors = {"algbw": 1.0, **({"busbw": bus_factor(collective, n)} if n else {})}
    plain = [one / time.value for one in size.sizes]
    arithmetic = f"{size.text} / {time.text} = {lookup.gigabytes(plain[0])} GB/s"
    if n:
        arithmetic += (
            f", times {factors['busbw']:.4g} = {lookup.gigabytes(plain[0] * factors['busbw'])} GB/s at n = {n}"
        )
    # Both printed numbers are rounded, so the quotient may be off by as much as their last places.
    slack = time.place / time.value / 2
    fits = {
        name
        for name, factor in factors.items()
        if any(rate.agrees(one * factor * (1 - slack), one * factor * (1 + slack)) for one in plain)
    }
    if (label and label in fits) or (not label and fits):
        name = label or sorted(fits)[0]
        return _SAYS.holds(f"it is the {name}", arithmetic, covers)
    if label == "busbw" and not n:
        return _SAYS.open("busbw needs the number of ranks", "the number of ranks", arithmetic, covers)
    if fits:
        return _SAYS.falls(f"{rate.text} is the {sorted(fits)[0]}, not the {label}", arithmetic, covers)
    return _SAYS.falls(f"{rate.text} does not follow from size and time", arithmetic, covers)


def _factor(claim: Claim, algbw: Quantity, busbw: Quantity, n: int) -> Part:
    factor = bus_factor(claim.collective or "all_reduce", n)
    value = algbw.value * factor
    slack = algbw.place * factor / 2
    arithmetic = f"{lookup.gigabytes(algbw.value)} · {factor:.4g} = {lookup.gigabytes(value)} GB/s at n = {n}"
    covers = [algbw, busbw, *claim.of_kind("count", "ranks")]
    if busbw.agrees(value - slack, value + slack):
        return _SAYS.holds("busbw is algbw times the factor of the collective", arithmetic, covers)
    return _SAYS.falls(f"with {n} ranks the busbw of this algbw is {lookup.gigabytes(value)} GB/s", arithmetic, covers)
