"""What a reader must know besides the figures.

For: the sentences that qualify a run: caveats bear on every figure and stand beside the verdict, notes come after the
table: findings (stragglers, outliers, drift), how the method may err, what was left out. Not for: what a comparison
supports (words.py).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from itertools import groupby

from ringtree.judge.cells import LEAST_ROUNDS
from ringtree.judge.comparison import MIXED, Comparison, Drift, Outlier, Straggler
from ringtree.judge.factors import design_line
from ringtree.judge.findings import rivals_of
from ringtree.judge.phrases import placement_phrase
from ringtree.judge.shared_gpus import shared_gpus
from ringtree.judge.simulated import CAVEAT
from ringtree.measure.plan import planned_launches
from ringtree.results import EmulatedCluster, Plan, Provenance, StoredRun
from ringtree.units import count, format_change, format_margin, format_share, format_size

MOST_STOLEN = 0.01  # share of CPU time; above it the hypervisor is part of what was timed
_MOST_NAMED = 4


def caveats_of(stored: StoredRun, comparison: Comparison) -> list[str]:
    """Returns what makes every figure of the run mean less, or something else, than it seems to."""
    plan, cores = stored.run.plan, len(stored.run.provenance.affinity)
    caveats = [*stored.notes, *(f"{what} was left out: {reason}" for what, reason in plan.left_out.items())]
    if plan.design is not None:
        caveats += [f"a design of {design_line(plan)}", *plan.design.notes]
    if plan.purpose == "pilot":
        caveats.append("a pilot run: it plans the launches of a comparison; do not use it as evidence")
    if plan.boundary == "native":
        caveats.append(
            "native: every arm runs in pinned processes of its own and is called from C, so times are not those of "
            "calls from Python; a switch asks, and what MPI and oneCCL really ran is not known"
        )
    if plan.simulation is not None:
        return [*caveats, CAVEAT.format(plan.simulation.called)]
    if plan.emulation is not None:
        caveats.append(_emulated(plan.emulation))
    elif plan.hosts is not None:
        caveats.append(_on_hosts(plan.hosts, stored.run.provenance))
    elif plan.num_ranks > cores:
        caveats.append(f"{plan.num_ranks} ranks on {count(cores, 'core')}: timings include OS scheduling")
    caveats += shared_gpus(plan, stored.run.provenance)
    load = stored.run.provenance.load_average[:1]
    if load and load[0] > cores / 2:
        caveats.append(f"the machine was busy: load {load[0]:.1f} on {count(cores, 'core')} when it started")
    caveats += _stolen(stored)
    caveats += _beyond_limit(comparison)
    planned = len(planned_launches(plan))
    if len(stored.launches) < planned:
        caveats.append(
            f"only {len(stored.launches)} of {count(planned, 'launch')} are stored; to run the rest: "
            f"ringtree compare --resume {stored.run.run_id}"
        )
    return [*caveats, *_placements(comparison)]


def notes_of(stored: StoredRun, comparison: Comparison) -> list[str]:
    """Returns what else belongs to the run."""
    plan = stored.run.plan
    by_rank = groupby(sorted(comparison.stragglers, key=lambda one: one.rank), key=lambda one: one.rank)
    notes = [_straggler(list(group), len(comparison.arms)) for _, group in by_rank]
    notes += _outliers(sorted(comparison.outliers, key=lambda one: -abs(math.log(one.ratio))))
    notes += _drifts(comparison.drifts)
    notes += _cut_warm_ups(stored)
    names = [arm.name for arm in plan.arms]
    twice = [name for name in dict.fromkeys(names) if names.count(name) > 1]
    if twice and all(not arm.environment for arm in plan.arms):
        notes.append(f"same arm twice ({', '.join(twice)}): any difference shown is an error of the method")
    notes += _how_to_compare_rivals(plan)
    return [*notes, *_method(comparison)]


def _emulated(cluster: EmulatedCluster) -> str:
    shape = f"emulated: {count(cluster.hosts, 'host')} of {count(cluster.ranks_per_host, 'rank')}"
    if cluster.hosts == 1:
        return f"{shape} has no link between hosts: nothing is slowed"
    return (
        f"{shape} with {cluster.alpha * 1e3:g} ms and {cluster.beta / 1e6:g} MB/s between hosts; "
        "times are those of the emulated network, not of this machine"
    )


def _on_hosts(hosts: list[int], provenance: Provenance) -> str:
    sizes = [str(hosts.count(host)) for host in range(max(hosts) + 1)]
    # Agents of a launcher check each other's versions before the first launch (measure/joining.py).
    recorded = "machine and versions were" if provenance.launcher is None else "the machine was"
    return (
        f"ranks on {count(len(sizes), 'host')} ({' + '.join(sizes)}), over the network between them; "
        f"{recorded} recorded on {provenance.host_name} only"
    )


def _stolen(stored: StoredRun) -> list[str]:
    stolen = [launch.stolen for launch in stored.launches if launch.stolen is not None]
    if not stolen or sum(stolen) / len(stolen) <= MOST_STOLEN:
        return []
    return [
        f"the hypervisor took {format_share(sum(stolen) / len(stolen))} of the CPU time, "
        f"{format_share(max(stolen))} in the worst launch"
    ]


def _beyond_limit(comparison: Comparison) -> list[str]:
    """Times whose whole interval lies below what no call should be able to take; the highest shares first."""
    beyond = [
        (cell.share_of_limit, f"{cell.arm} at {format_size(cell.size_bytes)} ({format_share(cell.share_of_limit)})")
        for cell in comparison.cells
        if cell.time is not None and cell.share_of_limit is not None and (cell.limit or 0.0) > cell.time.high
    ]
    if not beyond:
        return []
    named = [name for _, name in sorted(beyond, reverse=True)][:_MOST_NAMED]
    more = f" and {len(beyond) - len(named)} more" if len(beyond) > len(named) else ""
    return [
        f"faster than this machine's limit, as probed before the first launch: {', '.join(named)}{more}; the "
        "probe was disturbed, or these calls did not do all of their work"
    ]


def _placements(comparison: Comparison) -> list[str]:
    """Where the cores were: which rows are not judged, which mix placements, how many visits were left out."""
    if len(comparison.placements) == 1:
        return []
    told = f"cores were {', '.join(comparison.placements[:-1])} or {comparison.placements[-1]} (by hand-off time)"
    caveats = [f"{told}: judged separately, never averaged"]
    moved = sum({row.size_bytes: row.num_moved for row in comparison.rows}.values())
    kept = sum(row.num_visits for row in comparison.rows)
    if moved:
        caveats.append(f"cores moved during {moved} of {count(moved + kept, 'visit')}: excluded")
    mixed = [format_size(row.size_bytes) for row in comparison.rows if row.placement == MIXED]
    if mixed:
        caveats.append(
            f"{', '.join(mixed)}: too few launches under any one placement; ratios pair near with near and far with "
            "far, times mix both"
        )
    for placement in comparison.placements:
        hidden = [row for row in comparison.rows if row.placement == placement and not row.shown]
        if hidden:
            sizes = ", ".join(format_size(row.size_bytes) for row in hidden)
            caveats.append(
                f"{placement_phrase(placement)} at {sizes}: too few launches with at least {LEAST_ROUNDS} rounds "
                "there, not judged (see --json)"
            )
    return caveats


def _straggler(same_rank: Sequence[Straggler], num_arms: int) -> str:
    """One rank; slow with every arm it is the place that it runs at, with some it may be how these arms work."""
    arms = "every arm" if len(same_rank) == num_arms else ", ".join(one.arm for one in same_rank)
    slowest = _range([one.share_slowest for one in same_rank], format_share)
    excess = _range([1 + one.excess for one in same_rank], format_change)
    rank = same_rank[0].rank
    return f"rank {rank} lags with {arms}: last to finish in {slowest} of iterations, {excess} over the others"


def _outliers(outliers: Sequence[Outlier]) -> list[str]:
    """One line, the furthest launches first."""
    if not outliers:
        return []
    named = [
        f"{one.arm} at {format_size(one.size_bytes)}{f' {one.placement}' if one.placement else ''} in launch "
        f"{one.launch + 1} ({format_change(one.ratio)})"
        for one in outliers[:_MOST_NAMED]
    ]
    more = f" and {len(outliers) - len(named)} more" if len(outliers) > len(named) else ""
    return [f"outliers (kept in all figures; difference from the median): {', '.join(named)}{more}"]


def _drifts(drifts: Sequence[Drift]) -> list[str]:
    if not drifts:
        return []
    told = ", ".join(f"{one.arm} {format_change(1 + one.change)}" for one in drifts)
    return [f"times drifted from the first launch to the last: {told}; ratios are not affected"]


def _cut_warm_ups(stored: StoredRun) -> list[str]:
    """Cells whose untimed start reached its limit while times still fell."""
    ended = [
        (cell.arm, cell.warm_up.ended)
        for launch in stored.launches
        for cell in launch.cells
        if cell.warm_up is not None
    ]
    cut = [arm for arm, how in ended if how == "limit"]
    if not cut:
        return []
    arms = ", ".join(dict.fromkeys(cut))
    return [f"warm-up hit its limit before times were stable in {len(cut)} of {len(ended)} cells ({arms})"]


def _how_to_compare_rivals(plan: Plan) -> list[str]:
    """A hint if all ratios are taken to a library while several algorithms of another one ran beside it."""
    return [
        f"{' and '.join(own[:2])} are each compared with {plan.reference}; for one against the other: "
        f"--reference {own[0]}"
        for own in rivals_of(plan)
        if len(own) > 1 and plan.reference not in own
    ]


def _method(comparison: Comparison) -> list[str]:
    """How often the verdicts may be wrong, and what may not be done with them."""
    compared = [cell.versus_reference for cell in comparison.cells if cell.versus_reference is not None]
    if not any(row.judged for row in comparison.rows) or not compared:
        return []
    error = 100 * (1 - comparison.level)
    family = f"all {len(compared)} comparisons together" if len(compared) > 1 else "one comparison"
    floor = 2.0 ** (1 - max(versus.num_launches for versus in compared))
    notes = [
        f"verdicts: sign-flip max-T of whole launches over {family}: at most {error:.2g} % "
        f"of runs report a false difference; margin {format_margin(comparison.margin)}; smallest attainable "
        f"p {floor:.2g}; measured error rate: docs/method.md"
    ]
    if comparison.crossovers or comparison.fastest:
        notes.append(f"crossovers and fastest arms are tested separately, at {error:.2g} % each")
    if comparison.effects:
        num = count(len(comparison.effects), "effect")
        notes.append(
            f"{num} of factors are tested as another family, at {error:.2g} %; an interaction is half the difference "
            "of one factor's effect between the other's values; interactions of three or more factors are assumed zero"
        )
    if any(versus.verdict == "inconclusive" for versus in compared):
        notes.append("to use more launches, start a new run: adding launches after looking raises the error rate")
    return notes


def _range(values: Sequence[float], text: Callable[[float], str]) -> str:
    low, high = text(min(values)), text(max(values))
    return low if low == high else f"{low} to {high}"
