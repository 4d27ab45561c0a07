"""What is to be reached between hosts, and whether it is.

For: the first table of the page. Not for: ratios (bench.effects), shares (rate.py), or text around it.

A bar is met by the measured value itself, not by the end of its interval that happens to help. Where a library has
several versions, the faster one at each size counts. A part that did not run has no data, which counts as not reached.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from bench.bars import Bar
from bench.effects import World
from bench.hosts.rate import range_text, shares
from bench.hosts.worlds import BARRED_SIZES, RATE, RATE_SIZES, RING
from bench.hosts.worlds import World as Planned
from bench.parts import NATIVE, TORCH
from ringtree.judge.comparison import MIXED
from ringtree.stats import Judged
from ringtree.units import count, format_factor, format_factor_range, format_share, format_size

AHEAD = 1.0
RATE_BAR = 0.90
PEERS = {NATIVE: "native C, against Open MPI", TORCH: "through PyTorch, against Gloo"}


def bars_of(worlds: Mapping[str, World], planned: Sequence[Planned]) -> list[Bar]:
    """Returns every bar of the parts that were to run."""
    bars: list[Bar] = []
    for part in planned:
        world = worlds.get(part.name)
        if part.kind in PEERS:
            bars += [_ahead(f"{shape(part)} {PEERS[part.kind]}", world, size) for size in BARRED_SIZES]
        elif part.kind == RATE:
            bars += [_of_rate(f"{shape(part)}, 1 Gbit/s, {RING}", world, size) for size in RATE_SIZES]
    return bars


def shape(part: Planned) -> str:
    """Returns "4 hosts of 1 rank"."""
    return f"{count(part.hosts, 'host')} of {count(part.ranks_per_host, 'rank')}"


def best_peer(world: World, size_bytes: int) -> tuple[str, str, Judged] | None:
    """Returns (peer, placement, time over the engine's) of the fastest peer at a size, under the placement of the cores
    that has most launches; like with like over placements where none has enough. None if no peer is paired."""
    found: dict[str, tuple[str, Judged]] = {}
    for size, label, place, judged in world.verdicts():
        known = found.get(label)
        if size == size_bytes and (known is None or judged.num_launches > known[1].num_launches):
            found[label] = (place, judged)
    most = max((judged.num_launches for _, judged in found.values()), default=0)
    # As bench.effects: the luck of few launches is not speed.
    usual = {label: pair for label, pair in found.items() if 2 * pair[1].num_launches >= most}
    best = min(usual, key=lambda label: usual[label][1].ratio, default=None)
    return None if best is None else (best, *usual[best])


def _ahead(question: str, world: World | None, size: int) -> Bar:
    what, wanted = f"{question}, {format_size(size)}", f"> {AHEAD:g}×"
    best = None if world is None else best_peer(world, size)
    if best is None:
        return Bar(what, wanted, "", None)
    peer, place, judged = best
    interval = "no interval" if judged.num_launches == 1 else format_factor_range(judged.low, judged.high)
    where = {MIXED: ", near with near and far with far", "": ""}.get(place, f", cores {place}")
    text = f"{format_factor(judged.ratio)}× ({interval}), {count(judged.num_launches, 'launch')}{where}; {peer}"
    return Bar(what, wanted, text, judged.ratio > AHEAD)


def _of_rate(question: str, world: World | None, size: int) -> Bar:
    what, wanted = f"{question}, {format_size(size)}: busbw over the rate", f"≥ {format_share(RATE_BAR)}"
    one = next(
        (share for share in (shares(world) if world else ()) if (share.size_bytes, share.arm) == (size, RING)), None
    )
    if one is None:
        return Bar(what, wanted, "", None)
    text = f"{range_text(one.share, one.low, one.high)}, {count(one.time.num_launches, 'launch')}"
    return Bar(what, wanted, text, one.share >= RATE_BAR)
