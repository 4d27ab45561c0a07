"""A whole run: every part between hosts of its own, stored as it ends.

For: what `run` does between its options and the page. Not for: a comparison of the lab (agent.py), or judging. A part
that fails as a whole is left out and said; the others go on.
"""

from __future__ import annotations

import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from bench.hosts.arms import ENGINE, host_arms, missing_arms
from bench.hosts.header import HEADER, LINKS, HostsHeader, begin, read_links, write
from bench.hosts.links import Links, LinkTimes, measure_messages, measure_streams
from bench.hosts.network import Hosts, made_hosts, patience_for, require_hosts, run_on_ranks
from bench.hosts.tuned import rules_for_hosts
from bench.hosts.worlds import CROSSOVER, RATE, UNSHAPED, WORLDS, World, default_launches, make_plan
from bench.parts import NATIVE, chosen_cores
from bench.stored import machine_name, pack, part_path, provenance, relative, rounded, take_over
from ringtree.arms import kind_named
from ringtree.errors import RingtreeError, UsageError
from ringtree.measure.giving_up import given_up
from ringtree.measure.launch import run_sets
from ringtree.measure.plan import data_seed, planned_launches
from ringtree.measure.probe import Handoff, usable_cores
from ringtree.measure.recording import measure_launch
from ringtree.measure.worker_set import Moved, NativeCalls, WorkerSet
from ringtree.results import Launch, Plan, Provenance, Run, RunWriter, read_run

LINK_SHARE = 0.2  # of the time of the crossover
Say = Callable[[str], None]


@dataclass(frozen=True)
class Choices:
    """What a person may choose."""

    budget: float
    num_launches: int | None = None
    seed: int = 1
    worlds: Sequence[World] = WORLDS


def run(choices: Choices, directory: Path, root: Path, say: Say) -> None:
    """Measures everything into `directory`. Raises UsageError for what can't be done, as where hosts can't be made."""
    require_hosts()
    if not choices.budget > 0:
        raise UsageError(f"--budget must be above 0, not {choices.budget:g} s")
    machine, origin = machine_name(len(usable_cores())), provenance(machine_name(len(usable_cores())), root)
    left_out = _missing(root)
    if ENGINE in left_out:
        raise UsageError(f"nothing to compare with: {left_out[ENGINE]}")
    header = HostsHeader(
        machine=machine,
        created_utc=time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime()),
        command=" ".join(["bench.hosts", *origin.command[1:]]),
        budget=choices.budget,
        num_launches=choices.num_launches or default_launches(choices.budget),
        seed=choices.seed,
        cores=chosen_cores(),
        parts=[world.name for world in choices.worlds],
        arms={},
        left_out=left_out,
        rules=rules_for_hosts(),
    )
    begin(directory, header)
    whole = sum(world.share for world in choices.worlds)
    for world in choices.worlds:
        seconds = choices.budget * world.share / whole
        say(f"{world.name}: about {seconds:.0f} s")
        began = time.monotonic()
        try:
            _Part(world, seconds, header, origin, directory, root, say).measure()
        except (RingtreeError, OSError) as error:
            header.left_out[world.name] = relative(str(error), root)
            say(f"{world.name} is left out: {error}")
        say(f"{world.name}: took {time.monotonic() - began:.0f} s")
        write(directory / HEADER, header)


def _missing(root: Path) -> dict[str, str]:
    """Arms that can't run here, and why."""
    missing = {name: relative(why, root) for name, why in missing_arms().items()}
    why = kind_named("gloo").lacks()
    return missing if why is None else {**missing, "gloo": why}


@dataclass(frozen=True)
class _Part:
    world: World
    seconds: float
    header: HostsHeader
    origin: Provenance
    directory: Path
    root: Path
    say: Say

    def measure(self) -> None:
        """Measures and stores the part. Raises RingtreeError."""
        world = self.world
        with (
            made_hosts(world.hosts, world.ranks_per_host, world.shaping) as hosts,
            tempfile.TemporaryDirectory(prefix="bench-hosts-", ignore_cleanup_errors=True) as folder,
        ):
            if world.kind == NATIVE:
                self._native(hosts, Path(folder))
                return
            seconds = self.seconds
            if world.kind in (CROSSOVER, UNSHAPED):
                self._add_links(measure_messages(hosts, LINK_SHARE * seconds))
                seconds *= 1 - LINK_SHARE
            if world.kind == RATE:
                self._add_links(LinkTimes(streams=measure_streams(hosts)))
            self._by_the_lab(hosts, Path(folder), seconds)

    def _add_links(self, found: LinkTimes) -> None:
        write(self.directory / LINKS, Links(parts={**read_links(self.directory).parts, self.world.name: found}))

    def _native(self, hosts: Hosts, folder: Path) -> None:
        arms = host_arms(hosts, folder, self.header.left_out)
        self.header.arms.update({f"{self.world.name} {name}": arm.said() for name, arm in arms.items()})
        plan = self._plan(self.seconds, list(arms))
        with self._writer(plan) as writer:
            stored: list[Launch] = []
            cores, moved = self.header.cores, partial(Moved, plan.collective, plan.dtype, plan.op)
            for launch in planned_launches(plan):
                seed = data_seed(plan, launch.launch)
                sets = [
                    WorkerSet(arm, {name: NativeCalls()}, moved(seed), plan.num_ranks, cores)
                    for name, arm in arms.items()
                ]
                run = partial(run_sets, plan, launch, sets, lambda _: None, given_up(stored), Handoff(cores))
                stored.append(rounded(measure_launch(plan, launch, run)))
                writer.append(stored[-1])
        pack(self.directory, self.world.name)

    def _by_the_lab(self, hosts: Hosts, folder: Path, seconds: float) -> None:
        plan = self._plan(seconds, [])
        file, runs = folder / "plan.json", folder / "runs"
        file.write_text(plan.model_dump_json())
        command = [sys.executable, "-m", "bench.hosts.agent", str(file), str(runs)]
        said = run_on_ranks(hosts, command, patience_for(seconds))
        found, created = read_run(Path(said.strip())), self.header.created_utc
        take_over(found, self.directory, self.world.name, self.root, created_utc=created)

    def _plan(self, seconds: float, arms: Sequence[str]) -> Plan:
        return make_plan(self.world, seconds, self.header.num_launches, self.header.seed, arms)

    def _writer(self, plan: Plan) -> RunWriter:
        record = Run(
            run_id=self.world.name,
            created_utc=self.header.created_utc,
            plan=plan,
            provenance=self.origin,
        )
        return RunWriter(part_path(self.directory, self.world.name).parent, record)
