"""The one sentence of a verdict.

For: what is said of a table that was compared. Not for: the table itself (ringtree.show.health_text).
"""

from __future__ import annotations

from collections.abc import Sequence

from ringtree.health.judging import TOLERANCE
from ringtree.health.records import BandHealth, SizeHealth, Verdict
from ringtree.units import count, format_rate, format_share, format_size


def rates(low: float, high: float) -> str:
    """Returns "470–485 GB/s", one rate where both read the same."""
    first, last = format_rate(low), format_rate(high)
    (start, unit), (_, same) = first.split(" "), last.split(" ")
    return last if first == last else f"{start}–{last}" if unit == same else f"{first}–{last}"


def sentence(machine: str, sizes: Sequence[SizeHealth], bands: Sequence[BandHealth]) -> str:
    """Returns "2 hosts of 8 ranks … reach 470–485 GB/s at 8 GB (3 logs): here 392 GB/s, 18 % below the slowest"."""
    worst = max(bands, key=lambda one: (one.verdict.rank, -one.share / one.enough if one.enough else 0.0))
    shown = [one for one in sizes if one.reached is not None]
    at = max(shown, key=lambda one: one.size_bytes)
    assert at.reached is not None
    low, _, high = at.reached
    thin = "1 log, so no spread of its own" if at.num_logs == 1 else count(at.num_logs, "log")
    text = f"{machine}, reach {rates(low, high)} at {format_size(at.size_bytes)} ({thin}): here {format_rate(at.busbw)}"
    if at.busbw < 0.99 * low:
        text += f", {format_share(1 - at.busbw / low)} below the slowest"
    missing = [name for name in ("small", "large") if name not in [one.band for one in bands]]
    if worst.verdict in (Verdict.BELOW, Verdict.FAR_BELOW):
        text += (
            f"; {worst.band} sizes reach {format_share(worst.share)}, at least {format_share(worst.enough)} expected"
        )
    for one in bands:
        if one.verdict is Verdict.AS_FAST and one.share < 1 - TOLERANCE:
            text += f"; {one.band} sizes have {format_share(one.share)}, and logs of alike machines differ by that much"
    return text + "".join(f"; {name} sizes are not compared" for name in missing)
