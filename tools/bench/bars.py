"""What is to be reached against other libraries, and whether it is.

For: the first table of the page. Not for: computing ratios (effects.py).

A bar is met by the measured value itself, not by the end of its interval that happens to help. A placement that the
run never met has no data, which counts as not reached. Where a library has several versions or settings (Open MPI with
and without CMA, Intel MPI's ways to yield), the fastest at each size counts.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace

from bench.effects import BANDS, FAR, NEAR, Place, World
from bench.parts import ALL_REDUCE, COLLECTIVES, FAMILY_LAUNCHES, NATIVE, PARTS, TORCH, Part
from ringtree.stats import TypicalInterval
from ringtree.units import count, format_factor, format_factor_range, format_size, format_time, format_time_range

FREE_MPI = ("openmpi", "mpich")  # how the names of the freely available MPIs begin
GLOO_BARS = (50.0, 15.0, 6.0)  # one a band
MPI_BARS = (1.7, 1.7, 1.8)
BEST_BARS = {NEAR: (1.8, 1.35, 1.7), FAR: (1.4, 1.2, 1.4)}
AHEAD_BARS = {NEAR: (1.0, 1.0, 1.0), FAR: (1.0, 1.0, 1.0)}  # of all other collectives
SHARED_BARS = (None, 1.8, 2.0)
FOUR_RANKS_BAR = 1.4
FOUR_RANKS_SECONDS, SIXTEEN_RANKS_SECONDS = 2.5e-6, 15e-6


@dataclass(frozen=True)
class Bar:
    """met: None where there is no data, which counts as not reached."""

    question: str
    wanted: str
    measured: str
    met: bool | None


def bars_of(worlds: Mapping[str, World], asked: Collection[str] | None = None) -> list[Bar]:
    """Returns every bar for the parts of a run, by the parts' names; those of parts that did not run have no data.

    `asked`: parts that the run was to have, None for all; collectives without any of them have no bars.
    """
    bars: list[Bar] = []
    for collective in collectives_of(asked):
        two = worlds.get(_name(NATIVE, 2, collective))
        of_one = _all_reduce_bars(worlds) if collective == ALL_REDUCE else _best_of_all(two, AHEAD_BARS)
        bars += [replace(bar, question=f"{collective}, {bar.question}") for bar in of_one]
    return bars


def collectives_of(asked: Collection[str] | None) -> list[str]:
    """Returns the collectives that these parts are of; None: all parts."""
    parts = {part.name: part.collective for part in PARTS}
    wanted = set(parts.values()) if asked is None else {parts[name] for name in asked if name in parts}
    return [collective for collective in COLLECTIVES if collective in wanted]


def _all_reduce_bars(worlds: Mapping[str, World]) -> list[Bar]:
    bars: list[Bar] = []
    through_torch, two, four = (worlds.get(_name(*part)) for part in ((TORCH, 2), (NATIVE, 2), (NATIVE, 4)))
    bars += _in_each_place("2 ranks through PyTorch, against Gloo", through_torch, None, GLOO_BARS)
    free = None if two is None else [peer for peer in two.peers if peer.startswith(FREE_MPI)]
    bars += _in_each_place("2 ranks, against the better of Open MPI and MPICH", two, free, MPI_BARS)
    bars += _best_of_all(two, BEST_BARS)
    shared = None if two is None else f"{two.engine}/shared"
    bars += _in_each_place("2 ranks, shared buffers, against the best of all peers", two, None, SHARED_BARS, shared)
    same = {name: world for name, world in worlds.items() if world.is_native and world.collective == ALL_REDUCE}
    bars += [_nobody_faster(name, world) for name, world in same.items()]
    bars += _in_each_place("4 ranks on 2 cores, against the best of all peers", four, None, (FOUR_RANKS_BAR,) * 3)
    bars += _time_bars("4 ranks on 2 cores", four, FOUR_RANKS_SECONDS, (NEAR,))
    bars += _time_bars("16 ranks on 2 cores", worlds.get(_name(NATIVE, 16)), SIXTEEN_RANKS_SECONDS, (NEAR, FAR))
    return bars


def _name(kind: str, num_ranks: int, collective: str = ALL_REDUCE) -> str:
    return Part(kind, num_ranks, 0.0, 0, collective=collective).name


def ratio_text(interval: TypicalInterval, ratio: float, ends: tuple[float, float]) -> str:
    """Returns "1.85× (1.80–1.90)"; with one launch no interval."""
    if interval.num_launches == 1:
        return f"{format_factor(ratio)}× (1 launch)"
    return f"{format_factor(ratio)}× ({format_factor_range(*ends)})"


def _best_of_all(two: World | None, wanted: Mapping[str, Sequence[float]]) -> list[Bar]:
    """2 ranks against the fastest peer of each size; `wanted`: by column, one a band."""
    bars: list[Bar] = []
    for column, of_bands in wanted.items():
        question = f"2 ranks {column}, against the best of all peers"
        places = [place for place in two.places if place.column == column] if two else []
        for place in places:
            bars += _bands(question, two, place, None, of_bands)
        if not places:
            bars.append(Bar(question, _wanted(of_bands[0]), f"the cores were never {column}" if two else "", None))
    return bars


def _in_each_place(
    question: str,
    world: World | None,
    peers: Sequence[str] | None,
    wanted: Sequence[float | None],
    engine: str | None = None,
) -> list[Bar]:
    if world is None or not world.places:
        return [Bar(question, _wanted(next(one for one in wanted if one is not None)), "", None)]
    return [
        bar
        for place in world.places
        for bar in _bands(f"{question}, {place.name or place.column}", world, place, peers, wanted, engine)
    ]


def _bands(
    question: str,
    world: World | None,
    place: Place,
    peers: Sequence[str] | None,
    wanted: Sequence[float | None],
    engine: str | None = None,
) -> list[Bar]:
    bars = []
    for band, bar in zip(BANDS, wanted, strict=True):
        if bar is None or world is None:
            continue
        found = world.band(band, world.peers if peers is None else peers, place, engine)
        what = f"{question}, {band.name}"
        if found is None:
            bars.append(Bar(what, _wanted(bar), "", None))
            continue
        text = ratio_text(found.interval, found.ratio, found.ends)
        arms = sorted(dict.fromkeys(found.chosen.values()), key=list(found.chosen.values()).count, reverse=True)
        text += f" over {len(found.chosen)} of {found.num_wanted} sizes, {count(found.interval.num_launches, 'launch')}"
        bars.append(Bar(what, _wanted(bar), f"{text}; {', '.join(arms)}", found.ratio >= bar))
    return bars


def _nobody_faster(name: str, world: World) -> Bar:
    """No peer is significantly faster at any size, in any kind of call that a user's program could make of both."""
    compared = [found for found in world.verdicts() if found[1] in world.peers]
    judged = [found for found in compared if found[3].num_launches >= FAMILY_LAUNCHES]
    faster: dict[str, list[tuple[int, float]]] = {}
    for size, label, place, found in judged:
        if found.verdict == "faster":
            faster.setdefault(f"{label} {place}".rstrip(), []).append((size, found.ratio))
    open_ = sum(found.verdict == "inconclusive" for *_, found in judged)
    below = sum(found.high < 1 for *_, found in compared)
    num_faster = sum(map(len, faster.values()))
    told = f"{num_faster} of {len(judged)} comparisons with at least {FAMILY_LAUNCHES} launches, {open_} inconclusive"
    told += f"; of all {len(compared)}, {below} have an interval below 1"
    who = []
    for label, sizes in faster.items():
        lowest = format_factor(min(ratio for _, ratio in sizes))
        who.append(f"{label} at {', '.join(format_size(size) for size, _ in sizes)} (down to {lowest}×)")
    measured = f"{told}: {'; '.join(who)}" if who else told
    return Bar(f"{name}: peers significantly faster at a single size", "none", measured, not faster if judged else None)


def _time_bars(question: str, world: World | None, limit: float, columns: Sequence[str]) -> list[Bar]:
    """Time of the engine at 8 B."""
    wanted = f"at most {format_time(limit)}"
    bars = []
    for place in world.places if world is not None else ():
        time = world.time(8, world.engine, place) if world is not None and place.column in columns else None
        if time is not None:
            measured = f"{format_time(time.median)} ({format_time_range(time.low, time.high)}; {time.label})"
            bars.append(Bar(f"{question} {place.column}, 8 B", wanted, measured, time.median <= limit))
    return bars or [Bar(f"{question} {' or '.join(columns)}, 8 B", wanted, "", None)]


def _wanted(bar: float | None) -> str:
    return "" if bar is None else f"{bar:g}×"
