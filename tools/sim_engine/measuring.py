"""The runs that the page rests on: a probe before and after each comparison of this machine, and emulated ones.

For: `python -m sim_engine`. Not for: what comes of them (held.py, page.py).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from ringtree.measure.recording import run_comparison
from ringtree.measure.request import Request, make_plan
from ringtree.results import Plan, StoredRun
from ringtree.schedules.emulation import Emulation
from ringtree.show.calibration_text import calibration_lines
from ringtree.simulate.cluster.emulated_hosts import emulated_cluster
from ringtree.simulate.probing import calibrated_by, probe_plan, probed_base
from sim_engine.held import Held, hold

HERE_ARMS, HERE_SIZES, HERE_LAUNCHES = "ring,tree,double_tree,one_shot,two_shot", "64K,256K,1M,4M,16M,64M", 5
EMULATED_ARMS, EMULATED_SIZES = "ring,tree,double_tree,recursive_doubling,halving_doubling,two_shot", "4K,64K,512K"
# Slow enough that 16 ranks which wait for two cores do not show.
EMULATED_LAUNCHES, ALPHA, BETA = 2, "20ms", "10MB/s"
PARTS: dict[str, int | str] = {"engine-2": 2, "engine-4": 4, "emulated-4x2": "4x2", "emulated-2x8": "2x8"}


@dataclass(frozen=True)
class Part:
    """What one part found. `probed`: lines about the constants; empty where they were asked for."""

    name: str
    stored: StoredRun
    cells: list[Held]
    probed: list[str]

    @property
    def emulated(self) -> bool:
        """Whether links were slowed on purpose."""
        return self.stored.run.plan.emulation is not None


def measure(name: str, runs: Path, tell: Callable[[str], None]) -> Part:
    """Measures a part of PARTS, one to two minutes each."""
    what = PARTS[name]
    return _emulated(name, str(what), runs, tell) if isinstance(what, str) else _here(name, what, runs, tell)


def _here(name: str, ranks: int, runs: Path, tell: Callable[[str], None]) -> Part:
    plan = make_plan(Request(ranks=ranks, arms=HERE_ARMS, sizes=HERE_SIZES, launches=HERE_LAUNCHES))
    base, told = probed_base(ranks)
    before = _run(probe_plan(ranks), runs, tell, f"{name}: probe before")
    stored = _run(plan, runs, tell, name)
    after = _run(probe_plan(ranks), runs, tell, f"{name}: probe after")
    found = calibrated_by(base, [before, after])
    return Part(name, stored, hold(stored, found.cluster), [told, *calibration_lines(found)])


def _emulated(name: str, cluster: str, runs: Path, tell: Callable[[str], None]) -> Part:
    plan = make_plan(
        Request(
            emulate=cluster,
            alpha=ALPHA,
            beta=BETA,
            arms=EMULATED_ARMS,
            sizes=EMULATED_SIZES,
            launches=EMULATED_LAUNCHES,
        )
    )
    stored = _run(plan, runs, tell, name)
    assert plan.emulation is not None
    described = emulated_cluster(Emulation(**plan.emulation.model_dump()), stored.run.created_utc[:10])
    return Part(name, stored, hold(stored, described), [])


def _run(plan: Plan, runs: Path, tell: Callable[[str], None], what: str) -> StoredRun:
    tell(what)
    return run_comparison(plan, runs, lambda *_: None)
