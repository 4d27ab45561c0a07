"""From what a person asked for to a plan.

For: defaults, presets, and every check that can be made before a process is started; each failed check is one line that
says what exists. Not for: parsing options (ringtree.cli), or running.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from ringtree.backends import check_arm, needs_torch, runs_emulated, runs_on_hosts, why_unavailable
from ringtree.errors import UsageError
from ringtree.lab.environment import available_memory
from ringtree.lab.estimate import cell_budget
from ringtree.lab.exact_data import DTYPES, largest_value
from ringtree.lab.launcher import check_launcher
from ringtree.lab.plan import (
    DEFAULT_LAUNCHES,
    choose_reference,
    fresh_seed,
    label_arms,
    memory_needed,
    size_plan,
)
from ringtree.lab.units import (
    count,
    format_size,
    parse_cluster,
    parse_duration,
    parse_rate,
    parse_share,
    parse_sizes,
)
from ringtree.results import ArmPlan, EmulatedCluster, Plan

TEXTBOOK = "textbook"
PRESETS = (TEXTBOOK,)
COLLECTIVES = ("all_reduce",)
DEFAULT_RANKS = 4
DEFAULT_MARGIN = "2%"
DEFAULT_SECONDS = 120.0  # what a comparison aims at unless it is told otherwise
DEFAULT_SIZES = "1K:64M"
DEFAULT_ARMS = "ring,tree,auto,gloo,send-recv:ring"
TEXTBOOK_SIZES = "4K,256K,4M,64M,512M,8G"
TEXTBOOK_CUSTOM = "send-recv:ring"
TEXTBOOK_LIBRARY = "auto"
DEFAULT_ALPHA = "1ms"
DEFAULT_BETA = "200MB/s"
MAX_RANKS = 256
# What the engine accepts (core/engine/settings.cpp, core/transport/nic.h), checked here before any process starts.
MAX_ALPHA = 60.0  # seconds
MIN_BETA = 1.0  # bytes/s
MAX_RANKS_PER_EMULATED_HOST = 64


@dataclass(frozen=True)
class Request:
    """What was asked for; None: not said, take the default."""

    ranks: int | None = None
    sizes: str | None = None
    arms: str | None = None
    launches: int | None = None
    seed: int | None = None
    collective: str = "all_reduce"
    dtype: str = "float32"
    reference: str | None = None
    emulate: str | None = None
    alpha: str | None = None
    beta: str | None = None
    preset: str | None = None
    library: str | None = None
    margin: str | None = None
    budget: str | None = None
    launcher: str | None = None
    hosts: list[int] | None = None  # by rank, where a launcher has started ranks on several


def make_plan(request: Request) -> Plan:
    """Returns the plan for `request`. Raises UsageError for what can't be done."""
    if request.collective not in COLLECTIVES:
        raise UsageError(f"compare can't run {request.collective!r}; it can run: {', '.join(COLLECTIVES)}")
    if request.preset is not None and request.preset not in PRESETS:
        raise UsageError(f"unknown preset {request.preset!r}; there are: {', '.join(PRESETS)}")
    emulation = emulated_cluster(request)
    num_ranks = num_ranks_of(request, emulation)
    if request.dtype not in DTYPES:
        raise UsageError(f"unknown dtype {request.dtype!r}; there are: {', '.join(DTYPES)}")
    largest_value(request.dtype, num_ranks)
    left_out: dict[str, str] = {}
    arms = _arms(request, emulation, left_out)
    num_launches = DEFAULT_LAUNCHES if request.launches is None else request.launches
    if not 1 <= num_launches <= 1000:
        raise UsageError(f"--launches must lie in 1..1000, not {num_launches}")
    if request.budget is not None and request.launches is not None:
        raise UsageError("--budget decides the number of launches: leave --launches out")
    margin = parse_share(request.margin or DEFAULT_MARGIN)
    if not margin < 1:
        raise UsageError(f"--margin must lie below 100 %, not {request.margin}")
    reference = request.reference
    if request.preset == TEXTBOOK:
        if reference is not None:
            raise UsageError("--preset textbook compares with its library: choose it by --library, not --reference")
        reference = arms[-1].label
    sizes = [size_plan(size, num_launches, emulation is not None) for size in _sizes(request, num_ranks, left_out)]
    use_torch = any(needs_torch(arm.name) for arm in arms)
    return Plan(
        collective=request.collective,
        op="sum",
        dtype=request.dtype,
        num_ranks=num_ranks,
        arms=arms,
        reference=choose_reference(arms, reference),
        sizes=sizes,
        num_launches=num_launches,
        seed=fresh_seed() if request.seed is None else request.seed,
        cell_budget=cell_budget(DEFAULT_SECONDS, len(arms) * len(sizes), num_ranks, use_torch),
        margin=margin,
        launcher=None if request.launcher is None else check_launcher(request.launcher),
        time_budget=None if request.budget is None else parse_duration(request.budget),
        left_out=left_out,
        emulation=emulation,
        hosts=request.hosts,
        preset=request.preset,
    )


def emulated_cluster(request: Request) -> EmulatedCluster | None:
    """The cluster that was asked for, None: none. Raises UsageError for what the engine would refuse."""
    if request.emulate is None:
        if request.alpha is not None or request.beta is not None:
            raise UsageError("--alpha and --beta describe an emulated cluster: add --emulate 2x8 (hosts x ranks)")
        return None
    hosts, ranks_per_host = parse_cluster(request.emulate)
    alpha, beta = parse_duration(request.alpha or DEFAULT_ALPHA), parse_rate(request.beta or DEFAULT_BETA)
    if ranks_per_host > MAX_RANKS_PER_EMULATED_HOST:
        raise UsageError(
            f"an emulated host has at most {MAX_RANKS_PER_EMULATED_HOST} ranks, not {ranks_per_host}: use more hosts"
        )
    if not alpha <= MAX_ALPHA:
        raise UsageError(f"--alpha must lie in 0..{MAX_ALPHA:g} s, not {alpha:g} s")
    if not MIN_BETA <= beta < math.inf:
        raise UsageError(f"--beta must be at least {MIN_BETA:g} B/s and finite, not {beta:g} B/s")
    return EmulatedCluster(hosts=hosts, ranks_per_host=ranks_per_host, alpha=alpha, beta=beta)


def num_ranks_of(request: Request, emulation: EmulatedCluster | None) -> int:
    """The number of ranks that was asked for, in so many words or as a cluster. Raises UsageError."""
    num_ranks = request.ranks
    if emulation is not None:
        emulated = emulation.hosts * emulation.ranks_per_host
        if num_ranks is not None and num_ranks != emulated:
            raise UsageError(f"--emulate {request.emulate} means {emulated} ranks, not --ranks {num_ranks}")
        num_ranks = emulated
    if num_ranks is None:
        num_ranks = DEFAULT_RANKS
    if request.hosts is not None:
        _check_hosts(request, request.hosts)
        num_ranks = len(request.hosts)
    if emulation is not None and num_ranks > MAX_RANKS:
        raise UsageError(f"--emulate {request.emulate} means {num_ranks} ranks, more than {MAX_RANKS}: use fewer")
    if not 1 <= num_ranks <= MAX_RANKS:
        raise UsageError(f"--ranks must lie in 1..{MAX_RANKS}, not {num_ranks}")
    return num_ranks


def _check_hosts(request: Request, hosts: list[int]) -> None:
    if request.emulate is not None:
        raise UsageError("a cluster is emulated on one host: leave --emulate out, or start ringtree on one host only")
    if request.ranks is not None and request.ranks != len(hosts):
        raise UsageError(f"the launcher has started {len(hosts)} ranks, not --ranks {request.ranks}: leave it out")
    if request.preset is not None:
        raise UsageError(f"--preset {request.preset} compares ranks of one host: start ringtree on one host only")


def _arms(request: Request, emulation: EmulatedCluster | None, left_out: dict[str, str]) -> list[ArmPlan]:
    """The arms that will run; those that can't go to `left_out`. An arm that was named must exist and fit."""
    arms = label_arms(_asked_arms(request))
    for arm in arms:
        check_arm(arm.name, request.collective)
    if emulation is not None:
        unfit = [arm.name for arm in arms if not runs_emulated(arm.name)]
        if unfit and (request.arms is not None or request.library is not None):
            raise UsageError(
                f"{', '.join(unfit)} can't run over emulated links; only the engine's arms can: auto, ring, …"
            )
        left_out.update(dict.fromkeys(unfit, "it can't run over emulated links, which are the engine's own"))
    if request.hosts is not None:
        unfit = [arm.name for arm in arms if not runs_on_hosts(arm.name)]
        left_out.update(dict.fromkeys(unfit, "it runs on one host only"))
    for name in dict.fromkeys(arm.name for arm in arms if arm.name not in left_out):
        reason = why_unavailable(name)
        if reason is not None:
            left_out[name] = reason
    usable = [arm for arm in arms if arm.name not in left_out]
    if not usable:
        raise UsageError("no arm is left to run: " + "; ".join(f"{arm}: {why}" for arm, why in left_out.items()))
    return usable


def _asked_arms(request: Request) -> list[str]:
    if request.preset != TEXTBOOK:
        if request.library is not None:
            raise UsageError("--library belongs to --preset textbook; name the arms with --arms")
        return _split(DEFAULT_ARMS if request.arms is None else request.arms)
    if request.arms is not None:
        raise UsageError("--preset textbook has its own two arms; choose the second by --library")
    return [TEXTBOOK_CUSTOM, request.library or TEXTBOOK_LIBRARY]


def _split(text: str) -> list[str]:
    names = [name.strip() for name in text.split(",")]
    if not all(names):
        raise UsageError(f"{text!r} has an empty name; separate the arms by commas, for example {DEFAULT_ARMS}")
    return names


def _sizes(request: Request, num_ranks: int, left_out: dict[str, str]) -> Sequence[int]:
    """The sizes that will run: those named must fit into memory, those of a preset are left out if they don't."""
    preset = request.preset == TEXTBOOK and request.sizes is None
    sizes = parse_sizes(TEXTBOOK_SIZES if preset else request.sizes or DEFAULT_SIZES)
    item = np.dtype(request.dtype).itemsize
    for size in sizes:
        if size % item or size == 0:
            raise UsageError(f"{size} bytes is no size for {request.dtype}: use a multiple of {item} bytes above 0")
    available = available_memory()
    fitting = [size for size in sizes if memory_needed(size, num_ranks) <= available]
    for size in sizes:
        if size not in fitting:
            needed = format_size(memory_needed(size, num_ranks) >> 20 << 20)
            need = "needs" if num_ranks == 1 else "need"
            reason = (
                f"{count(num_ranks, 'rank')} {need} about {needed} of memory and "
                f"{format_size(available >> 20 << 20)} are free"
            )
            if not preset:
                raise UsageError(f"{format_size(size)} does not fit: {reason}; choose smaller --sizes or fewer --ranks")
            left_out[format_size(size)] = reason
    if not fitting:
        raise UsageError("no size fits into memory: use --sizes with smaller ones")
    return fitting
