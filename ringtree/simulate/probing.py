"""This machine as a description: its constants from a few calls of the engine, measured now.

For: `ringtree cluster from --probe`. Not for: other machines' logs (from_log), the fit (ringtree.simulate.calibration).

Two things are probed directly: the hand-off of a cache line between cores, and how fast a core copies, with as much as
fits its caches and with more. Neither says what the engine's slots cost, nor what happens where ranks outnumber cores.
So algorithms that differ in hops and in traffic are measured at a few sizes, and what is left is fitted to them. Other
algorithms and sizes are predictions.
"""

from __future__ import annotations

import datetime
from collections.abc import Callable
from pathlib import Path

from ringtree.errors import UsageError
from ringtree.judge.observations import observations_of_run
from ringtree.measure.probe import DEFAULT_MEMORY_CAP, Handoff, copy_rates, usable_cores
from ringtree.measure.recording import OnProgress, run_comparison
from ringtree.measure.request import Request, make_plan
from ringtree.results import Plan, StoredRun
from ringtree.simulate.calibration import Calibration, calibrate, evidence_of
from ringtree.simulate.calibration.constants import changed, constant_like
from ringtree.simulate.cluster import Cluster
from ringtree.simulate.cluster.constants import Rate, Size
from ringtree.simulate.cluster.core_hosts import core_host
from ringtree.simulate.cluster.host import Touched
from ringtree.units import format_size

SIZES = "16K,128K,1M,8M"
LAUNCHES = 4
NAME = "this-machine"
# Two ranks have one hop in one_shot and two in the others. With more ranks ring and tree differ.
_ARMS_OF_TWO, _ARMS = "ring,tree,one_shot", "ring,tree"
_LATENCY, _COPY, _LAUNCH = "host.memory.latency.simple", "channel.copy_rate", "launch.simple"
_LINK, _FOLD = "host.memory.rate", "channel.reduce_rate"
_COPIED, _COPY_SECONDS, _BOUNCE_SECONDS = 1 << 20, 0.02, 1e-3
_TOUCHED = tuple(1 << power for power in range(17, 26))  # bytes copied: 128 KB in a near cache to 32 MB beyond all


def probe_plan(ranks: int, sizes: str = SIZES) -> Plan:
    """Returns what is measured. Raises UsageError for what can't be."""
    return make_plan(Request(ranks=ranks, arms=_ARMS_OF_TWO if ranks == 2 else _ARMS, sizes=sizes, launches=LAUNCHES))


def probe_machine(
    ranks: int, runs: Path, follow: Callable[[Plan], OnProgress], tell: Callable[[str], None] = lambda _: None
) -> Calibration:
    """Measures this machine with `ranks` ranks, half a minute or so, and returns its description.

    The run is stored in `runs`; `follow(plan)` gives what hears of its progress. Raises UsageError, or as
    run_comparison() does.
    """
    plan = probe_plan(ranks)
    base, told = probed_base(ranks)
    tell(told)
    return calibrated_by(base, [run_comparison(plan, runs, follow(plan))])


def probed_base(ranks: int) -> tuple[Cluster, str]:
    """Returns a host of `ranks` ranks with what can be probed without ranks, and a line that says it."""
    cores = usable_cores()
    today = datetime.date.today().isoformat()
    base = core_host(NAME, ranks)
    memory = base.host.memory
    assert memory is not None
    host = base.host.model_copy(update={"memory": memory.model_copy(update={"cores": len(cores)})})
    title = f"{ranks} ranks on {len(cores)} cores of this machine"
    base = base.model_copy(update={"host": host, "title": title, "assumptions": []})
    handoff = Handoff().measure(_BOUNCE_SECONDS)
    copying = copy_rates([_COPIED], min(ranks, len(cores)), _COPY_SECONDS).get(_COPIED)
    touched = _touched(min(ranks, len(cores)), today)
    # Cores copy through memory: a link that carried less than they copy would hide them from the fit.
    carried = max([copying or 0.0, *(one.rate.si / 2 for one in touched)]) or None
    found, words = {}, []
    for key, value, source in (
        (_LATENCY, handoff, "hand-off of a cache line, probed"),
        (_COPY, copying, "a core's copying of 1 MB while all copy, probed"),
        (_LINK, carried, "the fastest of a core's copies, probed"),
    ):
        old = dict(base.constants())[key]
        if value is not None:
            found[key] = constant_like(old, value, source, today, digits=4)
            words.append(f"{key} = {found[key]}")
    if touched:
        ends = touched[0], touched[-1]
        words.append(
            "a core reads or writes " + " and ".join(f"{one.rate} of {format_size(int(one.bytes.si))}" for one in ends)
        )
    base = changed(base, found)
    assert base.host.memory is not None
    memory = base.host.memory.model_copy(update={"touched": touched})
    base = base.model_copy(update={"host": base.host.model_copy(update={"memory": memory})})
    return base, "probed: " + (", ".join(words) or "nothing: no core answered")


def _touched(num_cores: int, today: str) -> list[Touched]:
    """A copy of n bytes reads n and writes n. What disturbs a probe makes it slower, and more bytes never are faster:
    so a size has at least the rate of all larger ones."""
    fitting = [size for size in _TOUCHED if 2 * size * num_cores <= DEFAULT_MEMORY_CAP]
    rates = copy_rates(fitting, num_cores, _COPY_SECONDS)
    found: list[Touched] = []
    best = 0.0
    for size in sorted(rates, reverse=True):
        best = max(best, 2 * rates[size])
        source = f"reading and writing in copies of {format_size(size)} while all cores copy, probed"
        rate = Rate(value=float(f"{best / 1e9:.4g}"), unit="GB/s", source=source, date=today)
        found.append(
            Touched(bytes=Size(value=2 * size / 1024, unit="KiB", source="of that probe", date=today), rate=rate)
        )
    return found[::-1]


def calibrated_by(base: Cluster, stored: list[StoredRun]) -> Calibration:
    """Fits the rest of a probed base to runs of probe_plan(): the core's rate, what a hop costs beyond a hand-off, and
    the call, as far as the times tell them. Where ranks outnumber cores a hop is mostly waiting for a core, beside
    which the call costs nothing. Folding is a core's work like moving, and these algorithms fold about as much a byte
    that they move, so it stays as assumed. Raises UsageError for a base without cores."""
    memory = base.host.memory
    if memory is None or memory.cores is None:
        raise UsageError(f"{base.name} does not describe a host of cores")
    hold = {_COPY, _FOLD} | ({_LAUNCH} if base.host.ranks > memory.cores else set())
    evidence = evidence_of([one for run in stored for one in observations_of_run(run)], base)
    return calibrate(base, evidence, hold=hold, may_tell_nothing=True)
