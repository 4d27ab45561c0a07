"""The part of the page on a link of 1 Gbit/s: what all_reduce reaches, what plain sockets reach, what is possible.

For: Markdown. Not for: shares (rate.py), or measuring (links.py).
"""

from __future__ import annotations

from bench.effects import World
from bench.hosts.bars import shape
from bench.hosts.links import STREAM_BYTES, LinkTimes
from bench.hosts.rate import ACKNOWLEDGED_SHARE, PAYLOAD_SHARE, most, range_text, shares
from bench.hosts.text import RATE_TEXT
from bench.hosts.worlds import BURST_BYTES, LINK_BPS, RATE
from bench.hosts.worlds import World as Planned
from ringtree.stats import median_interval
from ringtree.units import count, format_size, format_time, format_time_range


def rate_lines(part: Planned, world: World, links: LinkTimes) -> list[str]:
    """Returns the whole part."""
    payload, worst = (f"{100 * share:.1f} %" for share in (PAYLOAD_SHARE, ACKNOWLEDGED_SHARE))
    explained = RATE_TEXT.format(most=payload, worst=worst, burst=format_size(BURST_BYTES))
    lines = [f"## {shape(part)}, 1 Gbit/s", "", explained, ""]
    lines += _streams(links)
    lines += ["| size | arm | *n* | time of a call | busbw over the rate | of what is possible |"]
    lines += ["|---:|---|---:|---|---|---:|"]
    for one in shares(world):
        time, whole = one.time, most(one.size_bytes, part.num_ranks)
        told = f"{format_time(time.median)} ({format_time_range(time.low, time.high)})"
        lines.append(
            f"| {format_size(one.size_bytes)} | {one.arm} | {time.num_launches} | {told} | "
            f"{range_text(one.share, one.low, one.high)} | {100 * one.share / whole:.1f} % of {100 * whole:.1f} % |"
        )
    return [*lines, ""]


def _streams(links: LinkTimes) -> list[str]:
    """What plain sockets reached on the same links."""
    rates = links.streams
    if not rates:
        return []
    found = median_interval([8 * rate / LINK_BPS[RATE] for rate in rates])
    reached = range_text(found.median, found.low, found.high)
    return [
        f"Plain sockets on the same links just before, {format_size(STREAM_BYTES)} from every host to the next at the "
        f"same time: {reached} of the rate, {count(len(rates), 'time')}.",
        "",
    ]
