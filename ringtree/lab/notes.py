"""What a reader must know besides the figures.

For: the sentences that qualify a run as a whole: caveats are read before the figures' verdict, notes after it.
Not for: what a single cell supports (words.py).
"""

from __future__ import annotations

from ringtree.backends import needs_torch
from ringtree.lab.units import count
from ringtree.results import EmulatedCluster, Plan, StoredRun
from ringtree.stats import MARGIN


def caveats_of(stored: StoredRun) -> list[str]:
    """Returns what makes every figure of the run mean less, or something else, than it seems to."""
    plan, cores = stored.run.plan, len(stored.run.provenance.affinity)
    caveats = list(stored.notes)
    if plan.emulation is not None:
        caveats.append(_emulated(plan.emulation))
    elif plan.num_ranks > cores:
        caveats.append(f"{plan.num_ranks} ranks on {count(cores, 'core')}: these times show the scheduler as well")
    load = stored.run.provenance.load_average[:1]
    if load and load[0] > cores / 2:
        caveats.append(f"the machine was busy: load {load[0]:.1f} on {count(cores, 'core')} when it started")
    if len(stored.launches) < plan.num_launches:
        caveats.append(f"only {len(stored.launches)} of {count(plan.num_launches, 'launch')} are stored")
    return caveats


def notes_of(stored: StoredRun, num_ratios: int, has_verdicts: bool) -> list[str]:
    """Returns what else belongs to the run; `num_ratios`: ratios that are shown, `has_verdicts`: any of them judged."""
    plan = stored.run.plan
    notes = []
    if has_verdicts:
        adjusted = f"adjusted for looking at {num_ratios} cells (Bonferroni), " if num_ratios > 1 else "of one cell, "
        notes.append(f"verdicts are {adjusted}margin {100 * MARGIN:g} %")
    names = [arm.name for arm in plan.arms]
    twice = [name for name in dict.fromkeys(names) if names.count(name) > 1]
    if twice:
        notes.append(f"same arm twice ({', '.join(twice)}): any difference shown is the method's error")
    notes += [f"{what} was left out: {reason}" for what, reason in plan.left_out.items()]
    notes += _how_to_compare_the_engines_arms(plan)
    return notes


def _emulated(cluster: EmulatedCluster) -> str:
    shape = f"emulated: {count(cluster.hosts, 'host')} of {count(cluster.ranks_per_host, 'rank')}"
    if cluster.hosts == 1:
        return f"{shape} has no link between hosts, so nothing is slowed"
    return (
        f"{shape} with {cluster.alpha * 1e3:g} ms and {cluster.beta / 1e6:g} MB/s between hosts; "
        "no time here is this machine's own"
    )


def _how_to_compare_the_engines_arms(plan: Plan) -> list[str]:
    """A hint if all ratios are taken to a library while several algorithms of the engine ran beside it."""
    own = [arm.label for arm in plan.arms if not needs_torch(arm.name)]
    if len(own) < 2 or plan.reference in own:
        return []
    return [f"{' and '.join(own[:2])} are each compared with {plan.reference}; with each other: --reference {own[0]}"]
