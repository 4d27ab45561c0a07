"""Rank processes of NCCL, with proof of what NCCL executed.

For: algorithm, protocol and channels of every cell from NCCL's own log, and cells that ran something else than they
were asked for. Not for: what the lines mean (ringtree.logs.nccl_info), or what is timed (rank_set.py).

NCCL writes a line a call where it is told to, which would be timed too. So a second set of processes with the same
variables makes one call of every cell first and writes; the set that is timed writes nothing. What NCCL chooses follows
from variables, ranks and size alone, and a launch goes on with what an earlier one of the run has proved.
"""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

from ringtree.arms.nccl_name import ALGO, PROTO, left
from ringtree.logs.nccl_info.decisions import parse_decision
from ringtree.logs.nccl_info.prefix import INFO
from ringtree.logs.nccl_info.shapes import Decision
from ringtree.measure.plan import PlannedLaunch, by_environment, sizes_of
from ringtree.measure.process_set import CellKey, ProcessSet, SetFailed, Visited
from ringtree.measure.rank_set import RankSet
from ringtree.nccl.names import KERNELS, POINT_TO_POINT, algorithm_name, protocol_name
from ringtree.results import ArmPlan, Boundary, Launch, Plan

BY_LOG = "the log of NCCL processes with the same variables"
BY_DESIGN = "NCCL sends it point to point, whatever is asked for"
WRITING = {"NCCL_DEBUG": "INFO", "NCCL_DEBUG_SUBSYS": "INIT,ENV,TUNING"}

Facts = dict[str, Any]
FactsOf = dict[tuple[int, str], Facts]  # by size and arm


class ProvenSet:
    """A set of ranks that share their variables. `make(more)`: its processes, with more variables."""

    restarts = 1

    def __init__(
        self,
        make: Callable[[Mapping[str, str]], RankSet],
        cells: Sequence[CellKey],
        collective: str,
        num_ranks: int,
        environment: Mapping[str, str],
        proved: FactsOf,
    ) -> None:
        """`cells`: those of the launch; `proved`: what earlier launches have found out."""
        self._timed, self._make, self._collective, self._num_ranks = make({}), make, collective, num_ranks
        self._environment, self._facts = environment, dict(proved)
        self._open = [cell for cell in cells if (cell.size_bytes, cell.arm) not in proved]
        self._warm: set[CellKey] = set()
        self.arms = self._timed.arms

    @property
    def boundary(self) -> Boundary:
        return self._timed.boundary

    @property
    def pids(self) -> Sequence[int]:
        return self._timed.pids

    def start(self) -> None:
        if not self._open:
            self._timed.start()

    def ready(self) -> dict[str, str]:
        if self._open:
            self._prove()
            self._timed.start()
        self._warm.clear()
        return self._timed.ready()

    def warm_up(self, cell: CellKey, budget: float) -> Visited:
        facts = self._facts.get((cell.size_bytes, cell.arm), {})
        if (other := other_than_asked(facts, self._collective, self._environment)) is not None:
            return Visited([[] for _ in range(self._num_ranks)], facts, error=other)
        self._warm.add(cell)
        return self._with_facts(cell, self._timed.warm_up(cell, budget))

    def visit(self, cell: CellKey, untimed: int, timed: int) -> Visited:
        if cell not in self._warm:  # the set was started anew
            self._warm.add(cell)
            self._timed.warm_up(cell, 0.0)
        return self._with_facts(cell, self._timed.visit(cell, untimed, timed))

    def close(self) -> None:
        self._timed.close()

    def kill(self) -> None:
        self._timed.kill()

    def _prove(self) -> None:
        """One call of each cell in processes that write. An arm that fails in them fails when it is timed, too."""
        with tempfile.TemporaryDirectory(prefix="ringtree-", ignore_cleanup_errors=True) as folder:
            witness = self._make({**WRITING, "NCCL_DEBUG_FILE": f"{folder}/%h.%p"})
            log = NcclLog(Path(folder))
            try:
                witness.start()
                failed = witness.ready()
                for cell in [cell for cell in self._open if cell.arm not in failed]:
                    log.new_lines()
                    visited = witness.warm_up(cell, 0.0)
                    if visited.error is None:
                        self._facts[cell.size_bytes, cell.arm] = facts_of_lines(
                            log.new_lines(), visited.executed or {}, self._collective, self._num_ranks
                        )
                witness.close()
            except SetFailed as failed_set:
                raise SetFailed(f"{failed_set} (in the processes whose log tells what runs)") from None
            finally:
                witness.kill()
        self._open = []

    def _with_facts(self, cell: CellKey, visited: Visited) -> Visited:
        facts = self._facts.get((cell.size_bytes, cell.arm), {})
        return replace(visited, executed={**(visited.executed or {}), **facts})


def facts_of_lines(lines: Sequence[str], executed: Facts, collective: str, num_ranks: int) -> Facts:
    """Returns what NCCL's messages say of the calls of one cell. `executed`: what is known without them."""
    version = executed.get("version")
    if collective in KERNELS[POINT_TO_POINT] or executed.get("algorithm"):
        return {"algorithm": executed.get("algorithm", POINT_TO_POINT), "proof": BY_DESIGN, "version": version}
    found = [parse_decision(line, version, num_ranks) for line in lines]
    here = [one for one in found if one is not None and one.collective in (collective, None)]
    if not here:
        return {"algorithm": None, "proof": None, "version": version}
    return {**_facts_of(here), "proof": BY_LOG, "version": version}


def other_than_asked(facts: Facts, collective: str, environment: Mapping[str, str]) -> str | None:
    """Why nothing can be said under an arm's name; None: it ran what it was asked for, or that isn't known."""
    if facts.get("proof") != BY_LOG:
        return None
    allowed = left(collective, environment, facts["version"])
    ran = [facts["algorithm"] or facts["path"], facts["protocol"] or facts["path"]]
    for variable, may, did in zip((ALGO, PROTO), allowed, ran, strict=True):
        if may and not set(did.split(", ")) <= set(may):
            what = "/".join(dict.fromkeys(ran))
            return f"NCCL ran {what} although {variable} allows only {', '.join(may)}: not timed"
    return None


def proven_sets(
    plan: Plan,
    launch: PlannedLaunch,
    ranks: Callable[[Sequence[ArmPlan], Mapping[str, str]], RankSet],
    before: Sequence[Launch],
) -> list[ProcessSet]:
    """Returns a set for each environment of a launch's arms. `ranks(arms, more)`: processes of arms that share theirs,
    with more variables; `before`: earlier launches of the run."""
    return [
        ProvenSet(
            partial(ranks, arms),
            [CellKey(size.size_bytes, arm.label, size.batch) for size in sizes_of(plan, launch) for arm in arms],
            plan.collective,
            plan.num_ranks,
            arms[0].environment,
            _proved_by(before),
        )
        for arms in by_environment(launch.arms)
    ]


class NcclLog:
    """What NCCL writes into the files of a folder."""

    def __init__(self, folder: Path) -> None:
        self._folder, self._read = folder, dict[Path, int]()

    def new_lines(self) -> list[str]:
        """Returns NCCL's messages since the last time, without what stands before them."""
        messages = []
        for path in sorted(self._folder.iterdir()):
            with path.open("rb") as file:
                file.seek(self._read.get(path, 0))
                new = file.read()
            self._read[path] = self._read.get(path, 0) + len(new)
            lines = new.decode(errors="replace").splitlines()
            messages += [line.partition(INFO)[2] for line in lines if INFO in line]
        return messages


def _proved_by(before: Sequence[Launch]) -> FactsOf:
    """Returns what NCCL's log has told in earlier launches of a run."""
    names = ("algorithm", "protocol", "num_channels", "path", "kernel", "proof", "version")
    return {
        (cell.size_bytes, cell.arm): {name: cell.executed[name] for name in names if name in cell.executed}
        for launch in before
        for cell in launch.cells
        if cell.executed is not None and "proof" in cell.executed
    }


def _facts_of(decisions: Sequence[Decision]) -> Facts:
    """One record of all calls: several values of one kind are joined by commas."""

    def joined(values: list[str | None]) -> str | None:
        return ", ".join(dict.fromkeys(value for value in values if value is not None)) or None

    first = decisions[0]
    return {
        "algorithm": joined([one.algorithm and algorithm_name(one.algorithm) for one in decisions]),
        "protocol": joined([one.protocol and protocol_name(one.protocol) for one in decisions]),
        "num_channels": first.num_channels,
        "path": joined([one.path for one in decisions]),
        "kernel": joined([one.kernel for one in decisions]),
    }
