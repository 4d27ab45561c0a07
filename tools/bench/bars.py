"""What is to be reached against other libraries, and whether it is.

For: the first table of the page. Not for: computing effects (ringtree.judge), or the rest of the page (page.py).

A ratio is time(peer) / time(engine): above 1 the engine is faster. A bar is met by the measured value itself, not by
the end of its interval that happens to help. Near and far have bars of their own, and what was not measured counts as
not reached. Where a library has several versions or settings, the fastest at each size counts.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial

import numpy as np
from generated import Bar

from bench.parts import ALL_REDUCE, AUTO, HOST_PARTS, NATIVE, OTHERS, PARTS, RATE, RATE_BPS, SHARED, TORCH, Part
from ringtree.judge.cells import RunCells, effect_matrix
from ringtree.judge.comparison import MIXED, Comparison
from ringtree.judge.summary import summarise
from ringtree.results import StoredRun
from ringtree.stats import least_launches, typical_interval
from ringtree.units import (
    count,
    format_factor,
    format_factor_range,
    format_share,
    format_size,
    format_time,
    format_time_range,
)

NEAR, FAR = "near", "far"
NEAR_HANDOFF = 1e-7  # seconds; cores that share a cache hand a line over in less, others in more
# One more than a single comparison needs: with six, where most peers are slower, the flip of all launches makes one of
# them look as fast as anything could, and a peer that is faster everywhere could not be told.
FAMILY_LAUNCHES = least_launches() + 1
Bands = Mapping[str, tuple[int, int]]  # by name, the first size and the last; of those, powers of two count
BANDS: Bands = {"≤ 4 KB": (1, 4 << 10), "8 KB–2 MB": (8 << 10, 2 << 20), "≥ 4 MB": (4 << 20, 256 << 20)}
HOST_BANDS: Bands = {format_size(size): (size, size) for size in (8, 64 << 10, 16 << 20)}
# Where 4 ranks have a block each, the smallest size is 16 B.
OTHER_HOST_BANDS: Bands = {"≤ 16 B": (1, 16), **{name: ends for name, ends in HOST_BANDS.items() if ends[0] > 16}}
RATE_BAR = 0.90


class Judged:
    """One part as the lab judges it."""

    def __init__(self, stored: StoredRun) -> None:
        self.stored, self.cells = stored, RunCells(stored)
        self.comparison: Comparison = summarise(stored, self.cells)

    @property
    def peers(self) -> list[str]:
        """Labels of the other libraries' arms."""
        own = self.comparison.reference
        return [arm.label for arm in self.comparison.arms if arm.label.partition("/")[0] != own]

    def places(self) -> dict[str, str]:
        """Returns the placements that there are figures of, and what each is called: one alone is near or far by its
        hand-off. Near held against near and far against far where neither alone has launches enough at any size."""
        shown = {row.placement for row in self.comparison.shown_rows()}
        alone = FAR if (self.cells.typical_handoff or 0.0) >= NEAR_HANDOFF else NEAR
        return {place: place or alone for place in ([MIXED] if shown == {MIXED} else self.comparison.placements)}

    def best(self, peers: Sequence[str], arm: str, size: int, place: str) -> str | None:
        """Returns the peer with the smallest mean effect. Those with fewer than half of the launches of the one with
        most are passed over: their luck is not speed."""
        columns = {peer: list(self.cells.effects(size, peer, arm, place).values()) for peer in peers}
        most = max(map(len, columns.values()), default=0)
        usual = {peer: float(np.mean(column)) for peer, column in columns.items() if column and 2 * len(column) >= most}
        return min(usual, key=usual.__getitem__, default=None)

    def over(self, band: tuple[int, int], peers: Sequence[str], arm: str, place: str) -> tuple[float, str] | None:
        """Returns the mean ratio of the best of `peers` at each size of a band to `arm`, and it with its interval and
        what it is made of in words; None without any pair."""
        measured = dict.fromkeys(row.size_bytes for row in self.comparison.rows)
        sizes = [size for size in measured if band[0] <= size <= band[1] and size & (size - 1) == 0]
        chosen = {size: best for size in sizes if (best := self.best(peers, arm, size, place)) is not None}
        if not chosen:
            return None
        effects = effect_matrix([self.cells.effects(size, peer, arm, place) for size, peer in chosen.items()])
        # Relative to its size's mean: a launch that only has the sizes with large ratios is not a slow one.
        means = np.nanmean(effects, axis=0)
        values = means.mean() + np.nanmean(effects - means, axis=1)
        arms = sorted(dict.fromkeys(chosen.values()), key=list(chosen.values()).count, reverse=True)
        told = "" if len(sizes) == 1 else f" over {len(chosen)} of {len(sizes)} sizes"
        found = typical_interval(list(values), self.comparison.level, self.comparison.seed)
        ratio, low, high = (math.exp(end) for end in (found.centre, found.low, found.high))
        ends = f" ({format_factor_range(low, high)})" if found.num_launches > 1 else ""
        words = f"{format_factor(ratio)}×{ends}{told}, {count(found.num_launches, 'launch')}; {', '.join(arms)}"
        return ratio, words


def ahead(
    question: str,
    wanted: Mapping[str, Sequence[float | None]],
    judged: Judged,
    peers: tuple[str, ...] = (),
    arm: str = AUTO,
    bands: Bands = BANDS,
) -> Iterator[Bar]:
    """Yields by placement and band whether the engine's `arm` is ahead of the best peer by as much as is wanted.

    `wanted`: by placement, "" for any: a factor for each band, None where there is no bar. `peers`: how their names
    begin, () for all.
    """
    places = judged.places()
    for place, name in places.items():
        factors = wanted.get(name, wanted.get("", ()))
        for (band, ends), factor in zip(bands.items(), factors, strict=False):
            if factor is not None:
                own = judged.comparison.reference + arm.removeprefix(AUTO)
                among = [peer for peer in judged.peers if peer.startswith(peers or "")]
                ratio, told = judged.over(ends, among, own, place) or (None, "")
                met = None if ratio is None else ratio >= factor
                yield Bar(f"{question}, cores {name}, {band}", f"{factor:g}×", told, met)
    for name in wanted:
        if name not in ("", *places.values()):
            yield Bar(f"{question}, cores {name}", f"{wanted[name][0]:g}×", f"the cores were never {name}", None)


def at_most(question: str, seconds: float, places: Sequence[str], judged: Judged) -> Iterator[Bar]:
    """Yields by placement whether the engine takes no longer for 8 bytes."""
    for place, name in judged.places().items():
        cell = judged.comparison.find(8, judged.comparison.reference, place)
        if name in places and cell is not None and cell.time is not None:
            time = cell.time
            told = f"{format_time(time.median)} ({format_time_range(time.low, time.high)}; {time.label})"
            yield Bar(f"{question} {name}, 8 B", f"at most {format_time(seconds)}", told, time.median <= seconds)


def nobody_faster(judged: Judged) -> Iterator[Bar]:
    """Yields whether no peer is significantly faster at any size."""
    found = [(one, one.versus_reference) for one in judged.comparison.cells if one.arm in judged.peers]
    family = [(cell, one) for cell, one in found if one is not None and one.num_launches >= FAMILY_LAUNCHES]
    faster = [cell for cell, one in family if one.verdict == "faster"]
    open_ = sum(one.verdict == "inconclusive" for _, one in family)
    told = f"{len(faster)} of {len(family)} comparisons with at least {FAMILY_LAUNCHES} launches, {open_} inconclusive"
    who = "; ".join(f"{cell.arm} {cell.placement} at {format_size(cell.size_bytes)}" for cell in faster)
    question = f"{judged.stored.run.run_id}: peers significantly faster at a single size"
    yield Bar(question, "none", f"{told}{who and ': '}{who}", not faster if family else None)


def of_rate(question: str, judged: Judged) -> Iterator[Bar]:
    """Yields by size whether a ring fills the shaped links between hosts."""
    for cell in judged.comparison.cells:
        if cell.arm == "ring" and cell.busbw is not None and cell.time is not None:
            share, time = cell.busbw * 8 / RATE_BPS, cell.time
            low, high = (100 * share * time.median / end for end in (time.high, time.low))
            told = f"{100 * share:.1f}% ({low:.1f}–{high:.1f}%), {count(time.num_launches, 'launch')}"
            what = f"{question}, {format_size(cell.size_bytes)}: busbw over the rate"
            yield Bar(what, f"≥ {format_share(RATE_BAR)}", told, share >= RATE_BAR)


def _shape(part: Part) -> str:
    return f"{count(part.hosts, 'host')} of {count(part.ranks // part.hosts, 'rank')}"


def _between(part: Part) -> str:
    return _shape(part) if part.collective == ALL_REDUCE else f"{part.collective}, {_shape(part)}"


def _host_bands(part: Part) -> Bands:
    return HOST_BANDS if part.collective == ALL_REDUCE else OTHER_HOST_BANDS


_BEST = "against the best of all peers"
_TWO, _SHARED = {NEAR: (1.8, 1.35, 1.7), FAR: (1.4, 1.2, 1.4)}, {"": (None, 1.8, 2.0)}
_GLOO, _FREE = "through PyTorch, against Gloo", "against the better of Open MPI and MPICH"
WANTED: Sequence[tuple[str, Callable[[Judged], Iterator[Bar]]]] = (
    ("torch-2", partial(ahead, f"all_reduce, 2 ranks {_GLOO}", {"": (50.0, 15.0, 6.0)})),
    ("native-2", partial(ahead, f"all_reduce, 2 ranks, {_FREE}", {"": (1.7, 1.7, 1.8)}, peers=("openmpi", "mpich"))),
    ("native-2", partial(ahead, f"all_reduce, 2 ranks, {_BEST}", _TWO)),
    ("native-2", partial(ahead, f"all_reduce, 2 ranks, shared buffers, {_BEST}", _SHARED, arm=SHARED)),
    *((part.name, nobody_faster) for part in PARTS if part.name in ("native-2", "native-4", "native-16")),
    ("native-4", partial(ahead, f"all_reduce, 4 ranks on 2 cores, {_BEST}", {"": (1.4,) * 3})),
    ("native-4", partial(at_most, "all_reduce, 4 ranks on 2 cores", 2.5e-6, (NEAR,))),
    ("native-16", partial(at_most, "all_reduce, 16 ranks on 2 cores", 15e-6, (NEAR, FAR))),
    *(
        (f"native-2-{other}", partial(ahead, f"{other}, 2 ranks, {_BEST}", dict.fromkeys((NEAR, FAR), (1.0,) * 3)))
        for other in OTHERS
    ),
    *(
        (part.name, partial(ahead, f"{_between(part)} {words}", {"": (1.0,) * 3}, bands=_host_bands(part)))
        for kind, words in ((NATIVE, "native C, against Open MPI"), (TORCH, _GLOO))
        for part in HOST_PARTS
        if part.name.startswith(kind)
    ),
    *((one.name, partial(of_rate, f"{_shape(one)}, 1 Gbit/s, ring")) for one in HOST_PARTS if RATE in one.name),
)


def bars_of(parts: Mapping[str, Judged]) -> list[Bar]:
    """Returns every bar of the parts that there are, by their names; one without figures has no data."""
    found = [list(bars(parts[part])) or [Bar(part, "a figure", "", None)] for part, bars in WANTED if part in parts]
    return [bar for bars in found for bar in bars]
