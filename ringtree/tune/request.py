"""From options to a request that can be run.

For: checking what a person asked of a tuning, one line for each mistake. Not for: options themselves (ringtree.cli).
"""

from __future__ import annotations

import os
from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from ringtree.comm.profile import own_cores
from ringtree.comm.profile_format import Profile
from ringtree.errors import UsageError
from ringtree.measure.environment import available_memory, lacks_memory
from ringtree.measure.plan import fresh_seed
from ringtree.traits import COLLECTIVES
from ringtree.tune.hosts import Hosts
from ringtree.tune.measured import CHECK, TUNE, TuneRequest
from ringtree.tune.world import BUFFERS, PRIVATE, SHARED, SHARED_COLLECTIVES, SHARED_FROM, World
from ringtree.units import format_duration, format_size, parse_counts, parse_duration, parse_sizes

DEFAULT_COLLECTIVES = "all_reduce"
DEFAULT_SIZES = "8:64M"
DEFAULT_BUDGET = "5m"
MAX_RANKS = 256
DTYPE = "float32"
# Seconds below which no launch measures anything: its ranks start, and every candidate is called twice.
LEAST_BUDGET = 1.0


@dataclass(frozen=True)
class Asked:
    """The options as they were given; None: not said, take the default."""

    ranks: str | None = None
    collectives: str | None = None
    sizes: str | None = None
    buffers: str | None = None
    budget: str | None = None
    seed: int | None = None


def make_request(asked: Asked, hosts: Hosts | None = None) -> TuneRequest:
    """Returns what is asked of a tuning. Ranges of sizes go by 2 unless they say otherwise. `hosts`: where a launcher
    has started ranks. Raises UsageError."""
    collectives = [name.strip() for name in (asked.collectives or DEFAULT_COLLECTIVES).split(",")]
    for name in collectives:
        if name not in COLLECTIVES:
            raise UsageError(f"{name!r} can't be tuned; choose from: {', '.join(COLLECTIVES)}")
    sizes = asked.sizes or DEFAULT_SIZES
    by_two = ",".join(f"{part}:2" if part.count(":") == 1 else part for part in sizes.split(","))
    collectives_once, all_sizes = list(dict.fromkeys(collectives)), parse_sizes(by_two)
    kinds = None if asked.buffers is None else _buffers(asked.buffers)
    if hosts is None:
        worlds = _worlds(_ranks(asked.ranks), kinds, collectives_once, all_sizes)
    else:
        _check_against(hosts, kinds)
        worlds = [World(num_ranks=hosts.num_ranks, num_hosts=hosts.num_hosts)]
    return _checked(TUNE, collectives_once, worlds, all_sizes, asked, hosts)


def check_request(profile: Profile, path: str, asked: Asked, hosts: Hosts | None = None) -> TuneRequest:
    """Returns a check of a profile: its tables that hold here, at sizes that it was not tuned at. Raises UsageError."""
    wanted = None if asked.ranks is None else _ranks(asked.ranks)
    kinds = BUFFERS if asked.buffers is None else _buffers(asked.buffers)
    if hosts is not None:
        _check_against(hosts, None if asked.buffers is None else kinds)
        wanted = [hosts.num_ranks]
    tables = [
        table
        for table in profile.tables
        if table.num_hosts == (1 if hosts is None else hosts.num_hosts)
        and table.own_cores == (own_cores(table.num_ranks) if hosts is None else hosts.own_cores)
        and (wanted is None or table.num_ranks in wanted)
        and (SHARED if table.shared_buffers else PRIVATE) in kinds
    ]
    if not tables:
        raise UsageError(f"{path} holds no rules for these ranks and buffers on the hosts and cores that are used here")
    measured = {size.size_bytes for table in tables for size in table.sizes}
    request = _checked(
        CHECK,
        sorted({table.collective for table in tables}),
        _in_order(
            {
                World(num_ranks=table.num_ranks, num_hosts=table.num_hosts, shared_buffers=table.shared_buffers)
                for table in tables
            }
        ),
        unseen_sizes(measured),
        asked,
        hosts,
    )
    return request.model_copy(update={"profile": path})


def unseen_sizes(measured: Iterable[int]) -> list[int]:
    """Returns sizes between the smallest and the largest measured that are none of them, two to a factor of four.

    Half of them are 3 * 2^k, the others 5 * 2^k + 4, which no power of two and hardly a slice divides. One size has no
    size between: it is returned itself.
    """
    known = set(measured)
    low, high = min(known), max(known)
    exponents = range(high.bit_length() + 1)
    sizes = {3 << k if k % 2 else (5 << k) + 4 for k in exponents if k >= 2}
    return sorted(size for size in sizes if low < size < high and size not in known) or [low]


def default_ranks() -> list[int]:
    """Returns 2, 4 and a rank for every core that can be used."""
    return sorted({2, 4, min(MAX_RANKS, max(2, len(os.sched_getaffinity(0))))})


def _check_against(hosts: Hosts, buffers: Iterable[str] | None) -> None:
    if hosts.num_ranks > MAX_RANKS:
        raise UsageError(f"at most {MAX_RANKS} ranks are tuned, not {hosts.num_ranks}")
    if buffers is not None and SHARED in buffers:
        raise UsageError("shared buffers are tuned on one host: leave --buffers out")


def _ranks(text: str | None) -> list[int]:
    if text is None:
        return default_ranks()
    ranks = parse_counts(text, "ranks")
    if ranks[0] < 2 or ranks[-1] > MAX_RANKS:
        raise UsageError(f"--ranks must lie in 2..{MAX_RANKS}, not {text}: one rank has nothing to choose")
    return ranks


def _buffers(text: str) -> list[str]:
    kinds = [kind.strip() for kind in text.split(",")]
    for kind in kinds:
        if kind not in BUFFERS:
            raise UsageError(f"{kind!r} are not buffers; choose from: {', '.join(BUFFERS)}")
    return kinds


def _worlds(ranks: list[int], buffers: list[str] | None, collectives: list[str], sizes: list[int]) -> list[World]:
    """The worlds to tune. `buffers` None: private ones, and shared ones where every rank has a core and they matter."""
    private = {World(num_ranks=num_ranks) for num_ranks in ranks if buffers is None or PRIVATE in buffers}
    shared = {
        World(num_ranks=num_ranks, shared_buffers=True)
        for num_ranks in ranks
        if (own_cores(num_ranks) if buffers is None else SHARED in buffers)
    }
    # Without a cell it would be ranks that start for nothing.
    measured = {
        world
        for world in shared
        if any(map(world.measures, collectives)) and not all(world.leaves_to_private(size, private) for size in sizes)
    }
    if buffers is not None and measured != shared:
        raise UsageError(
            f"shared buffers can be tuned only for {', '.join(SHARED_COLLECTIVES)}, and together with private ones "
            f"only from {format_size(SHARED_FROM)} up: leave --buffers out"
        )
    return _in_order(private | measured)


def _in_order(worlds: Iterable[World]) -> list[World]:
    """Private buffers first, then by ranks."""
    return sorted(worlds, key=lambda world: (world.shared_buffers, world.num_ranks))


def _checked(
    purpose: str,
    collectives: list[str],
    worlds: list[World],
    sizes: list[int],
    asked: Asked,
    hosts: Hosts | None,
) -> TuneRequest:
    item = np.dtype(DTYPE).itemsize
    for size in sizes:
        if size < item or size % item:
            raise UsageError(f"{size} bytes is not a size for {DTYPE}: use a multiple of {item} bytes above 0")
    most_ranks = max(world.num_ranks // world.num_hosts for world in worlds)
    lacks = lacks_memory(2 * max(sizes) * most_ranks, most_ranks, available_memory())
    if lacks is not None:
        raise UsageError(f"{format_size(max(sizes))} does not fit: {lacks}")
    budget = asked.budget or DEFAULT_BUDGET
    seconds = parse_duration(budget)
    if seconds < LEAST_BUDGET:
        raise UsageError(f"--budget {budget} is too short: give at least {format_duration(LEAST_BUDGET)}")
    return TuneRequest.model_validate(
        {
            "purpose": purpose,
            "collectives": collectives,
            "worlds": worlds,
            "sizes": sizes,
            "budget": seconds,
            "dtype": DTYPE,
            "seed": fresh_seed() if asked.seed is None else asked.seed,
            "own_cores": None if hosts is None else hosts.own_cores,
        }
    )
