"""From what a person asked for to a plan.

For: defaults, presets, and every check that can be made before a process is started; each failed check is one line that
says what exists. Not for: parsing options (ringtree.cli), or running.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial

from ringtree.arms import ArmKind, Wish, check_arm, common_boundary, has_arm, native_of
from ringtree.arms.own_launcher import launcher_words
from ringtree.errors import UsageError
from ringtree.measure.collective_data import SHAPES, whole_size
from ringtree.measure.crew import spread
from ringtree.measure.environment import lacks_memory, memory_for
from ringtree.measure.estimate import cell_budget, start_of_arms
from ringtree.measure.exact_data import DTYPES, largest_value
from ringtree.measure.factors import factorial_design
from ringtree.measure.narrow_floats import NARROW_FLOATS
from ringtree.measure.plan import (
    DEFAULT_LAUNCHES,
    calls_overlap,
    choose_reference,
    fresh_seed,
    label_arms,
    memory_needed,
    native_size,
    size_plan,
)
from ringtree.nccl.nccl_tests import NO_OP
from ringtree.results import ON_GPU, ArmPlan, Boundary, EmulatedCluster, Plan
from ringtree.storage import storage_of
from ringtree.units import (
    count,
    format_size,
    parse_cluster,
    parse_duration,
    parse_rate,
    parse_share,
    parse_sizes,
)

TEXTBOOK = "textbook"
PRESETS = (TEXTBOOK,)
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
    factors: list[str] | None = None
    fraction: str | None = None
    launcher: str | None = None  # that starts the ranks of an MPI library
    agents: list[int] | None = None  # the host of each process that a launcher has started; each has as many ranks


def make_plan(request: Request) -> Plan:
    """Returns the plan for `request`. Raises UsageError for what can't be done."""
    _check_options(request)
    emulation = emulated_cluster(request)
    num_ranks = num_ranks_of(request, emulation)
    if request.dtype not in (*DTYPES, *NARROW_FLOATS):
        raise UsageError(f"unknown dtype {request.dtype!r}; choose from: {', '.join(DTYPES)}")
    largest_value(request.dtype, num_ranks)
    left_out: dict[str, str] = {}
    experiment = factorial_design(request.factors or (), request.fraction, request.arms)
    arms = _arms(_asked_arms(request) if experiment is None else experiment[1], request, emulation, num_ranks, left_out)
    if experiment is not None and left_out:
        lacking, why = next(iter(left_out.items()))
        others = f" and {count(len(left_out) - 1, 'other')}" if len(left_out) > 1 else ""
        raise UsageError(f"--factors needs every combination, but {lacking}{others} can't run: {why}")
    num_launches = DEFAULT_LAUNCHES if request.launches is None else request.launches
    margin = parse_share(request.margin or DEFAULT_MARGIN)
    if not margin < 1:
        raise UsageError(f"--margin must lie below 100 %, not {request.margin}")
    names = [arm.name for arm in arms]
    boundary = common_boundary(names)
    if request.dtype in NARROW_FLOATS and boundary not in ON_GPU:
        there = f"{', '.join(DTYPES)}; on GPUs also {', '.join(NARROW_FLOATS)}"
        raise UsageError(f"unknown dtype {request.dtype!r}; choose from: {there}")
    available = memory_for(boundary, num_ranks)
    native = partial(native_size, overlap=calls_overlap(request.collective, num_ranks))
    planned = native if boundary == "native" else partial(size_plan, emulated=emulation is not None)
    sizes = [planned(size, num_launches) for size in _sizes(request, num_ranks, available, left_out)]
    starting = start_of_arms(num_ranks, boundary, arms)
    return Plan(
        collective=request.collective,
        op="sum" if SHAPES[request.collective].reduces else NO_OP,
        dtype=request.dtype,
        num_ranks=num_ranks,
        arms=arms,
        boundary=boundary,
        reference=choose_reference(arms, arms[-1].label if request.preset == TEXTBOOK else request.reference),
        sizes=sizes,
        num_launches=num_launches,
        seed=fresh_seed() if request.seed is None else request.seed,
        cell_budget=cell_budget(DEFAULT_SECONDS, len(arms) * len(sizes), starting),
        margin=margin,
        time_budget=None if request.budget is None else parse_duration(request.budget),
        left_out=left_out,
        emulation=emulation,
        hosts=hosts_of(request, num_ranks),
        by_agents=request.agents is not None,
        preset=request.preset,
        native_launcher=_native_launcher(request, arms, boundary),
        design=None if experiment is None else experiment[0],
    )


def _check_options(request: Request) -> None:
    """Raises UsageError for options that nothing else need be known of to refuse."""
    if request.collective not in SHAPES:
        raise UsageError(f"compare can't run {request.collective!r}; it can run: {', '.join(SHAPES)}")
    preset = request.preset
    if preset is not None:
        if request.collective != "all_reduce":
            raise UsageError(f"--preset {preset} compares all_reduce: leave --collective {request.collective} out")
        if preset not in PRESETS:
            raise UsageError(f"unknown preset {preset!r}; choose from: {', '.join(PRESETS)}")
        if request.factors:
            raise UsageError(f"--preset {preset} has its own two arms: leave --factors out")
        if preset == TEXTBOOK and request.reference is not None:
            raise UsageError("--preset textbook compares with its library: choose it by --library, not --reference")
    if request.launches is not None:
        if not 1 <= request.launches <= 1000:
            raise UsageError(f"--launches must lie in 1..1000, not {request.launches}")
        if request.budget is not None:
            raise UsageError("--budget decides the number of launches: leave --launches out")


def _native_launcher(request: Request, arms: Sequence[ArmPlan], boundary: Boundary) -> list[str]:
    if request.launcher is None:
        return []
    natives = [native_of(arm, request.collective) for arm in arms] if boundary == "native" else []
    return launcher_words(request.launcher, natives)


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
    if request.agents is not None:
        _check_launched(request)
    if num_ranks is None:
        num_ranks = DEFAULT_RANKS if request.agents is None else len(request.agents)
    if emulation is not None and num_ranks > MAX_RANKS:
        raise UsageError(f"--emulate {request.emulate} means {num_ranks} ranks, more than {MAX_RANKS}: use fewer")
    if not 1 <= num_ranks <= MAX_RANKS:
        raise UsageError(f"--ranks must lie in 1..{MAX_RANKS}, not {num_ranks}")
    return num_ranks


def hosts_of(request: Request, num_ranks: int) -> list[int] | None:
    """Returns each rank's host, None if there is one. Raises UsageError for ranks that can't be spread evenly."""
    hosts = None if request.agents is None else spread(request.agents, num_ranks)
    return hosts if hosts is not None and len(set(hosts)) > 1 else None


def _check_launched(request: Request) -> None:
    if request.emulate is not None:
        raise UsageError("a cluster is emulated on one host: leave --emulate out, or start ringtree without a launcher")
    if request.preset is not None:
        raise UsageError(f"--preset {request.preset} compares ranks of one host: start ringtree without a launcher")


def _arms(
    asked: Sequence[str],
    request: Request,
    emulation: EmulatedCluster | None,
    num_ranks: int,
    left_out: dict[str, str],
) -> list[ArmPlan]:
    """The arms that will run; those that can't go to `left_out`. An arm that was named must exist and fit."""
    arms = label_arms(asked)
    kinds = {arm.name: check_arm(arm.name, request.collective) for arm in arms}
    if emulation is not None:
        unfit = [name for name, kind in kinds.items() if not kind.emulated]
        if unfit and (request.arms is not None or request.library is not None):
            raise UsageError(
                f"{', '.join(unfit)} can't run over emulated links; only ringtree's own arms can: auto, ring, …"
            )
        left_out.update(dict.fromkeys(unfit, "it can't run over emulated links, which are the engine's own"))
    on_gpu = any(kind.device == "cuda" for kind in kinds.values())
    for arm in arms:
        reason = _why_not(arm, kinds[arm.name], request, num_ranks, on_gpu)
        if arm.name not in left_out and reason is not None:
            left_out[arm.label] = reason
    usable = [arm for arm in arms if arm.name not in left_out and arm.label not in left_out]
    if not usable:
        whose = {why: ", ".join(arm for arm, said in left_out.items() if said == why) for why in left_out.values()}
        raise UsageError("no arm is left to run: " + "; ".join(f"{names}: {why}" for why, names in whose.items()))
    return usable


def _why_not(arm: ArmPlan, kind: ArmKind, request: Request, num_ranks: int, on_gpu: bool) -> str | None:
    """Why an arm can't take part; None if it can."""
    hosts = hosts_of(request, num_ranks)
    if hosts is not None and not kind.several_hosts(arm.name):
        return "it runs on one host only"
    if request.agents is not None and kind.process == "own":
        return "it starts its own processes: run it without a launcher"
    if request.dtype not in kind.dtypes:
        return f"it has no {request.dtype}; it has: {', '.join(kind.dtypes)}"
    if kind.process == "own" and kind.device == "cpu" and kind.native(arm.name, None) is None:
        return "it runs in processes that compare doesn't start"
    wish = Wish(arm.name, arm.environment, request.collective, num_ranks, hosts is not None, on_gpu)
    return kind.lacks() or kind.refuses(wish)


def _asked_arms(request: Request) -> list[str]:
    if request.preset != TEXTBOOK:
        if request.library is not None:
            raise UsageError("--library belongs to --preset textbook; name the arms with --arms")
        if request.arms is not None:
            return _split(request.arms)
        return [arm for arm in _split(DEFAULT_ARMS) if has_arm(arm, request.collective)]
    if request.arms is not None:
        raise UsageError("--preset textbook has its own two arms; choose the second by --library")
    return [TEXTBOOK_CUSTOM, request.library or TEXTBOOK_LIBRARY]


def _split(text: str) -> list[str]:
    names = [name.strip() for name in text.split(",")]
    if not all(names):
        raise UsageError(f"{text!r} has an empty name; separate the arms by commas, for example {DEFAULT_ARMS}")
    return names


def _sizes(request: Request, num_ranks: int, available: int, left_out: dict[str, str]) -> Sequence[int]:
    """The sizes that will run: those named must fit into memory, those of a preset are left out if they don't."""
    preset = request.preset == TEXTBOOK and request.sizes is None
    asked = parse_sizes(TEXTBOOK_SIZES if preset else request.sizes or DEFAULT_SIZES)
    item = storage_of(request.dtype).itemsize
    for size in asked:
        if size % item or size == 0:
            raise UsageError(f"{size} bytes is not a size for {request.dtype}: use a multiple of {item} bytes above 0")
    sizes = list(dict.fromkeys(whole_size(request.collective, size, item, num_ranks) for size in asked))
    needs = {size: memory_needed(size, num_ranks, request.collective) for size in sizes}
    lacks = {size: lacks_memory(needs[size], num_ranks, available) for size in sizes}
    for size, reason in lacks.items():
        if reason is not None and not preset:
            raise UsageError(f"{format_size(size)} does not fit: {reason}; choose smaller --sizes or fewer --ranks")
        if reason is not None:
            left_out[format_size(size)] = reason
    fitting = [size for size in sizes if lacks[size] is None]
    if not fitting:
        raise UsageError("no size fits into memory: use --sizes with smaller ones")
    return fitting
