"""A whole run: the launches of all parts, in shuffled blocks, each stored as it ends; and going on with one.

For: what `bench run` does between its options and the page. Not for: one launch (rounds.py; through PyTorch
ringtree.lab.compare), or judging (effects.py).

A block is one launch of every part, in shuffled order: what changes on the machine from minute to minute meets all
parts. A launch that fails as a whole is left out and said; --resume tries it again.
"""

from __future__ import annotations

import os
import random
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from bench.allowance import allowance
from bench.cases import ENGINE
from bench.crew import Limits
from bench.driver import PeerArm
from bench.plans import Choices, Part, make_parts, num_launches
from bench.rounds import NativeLaunch
from bench.stored import (
    ArmNote,
    Header,
    machine_name,
    pack,
    part_path,
    provenance,
    read_bench,
    read_part,
    relative,
    rounded,
    unpack,
    write_header,
)
from ringtree.errors import UsageError
from ringtree.lab.compare import measure_launch
from ringtree.lab.environment import allowed, difference
from ringtree.lab.plan import PlannedLaunch, planned_launches
from ringtree.lab.rank_group import LaunchFailed
from ringtree.probe import usable_cores
from ringtree.results import Launch, Run, RunWriter, StoredRun, read_run

NUM_CORES = 2  # that ranks are pinned to: a pair whose placement one probe tells
Say = Callable[[str], None]


def chosen_cores() -> list[int]:
    """Returns the cores for ranks. Raises UsageError if there are too few."""
    cores = usable_cores()[:NUM_CORES]
    if len(cores) < NUM_CORES:
        raise UsageError(f"the bench needs {NUM_CORES} cores, and {len(cores)} may be used")
    return cores


def run(choices: Choices, directory: Path, peers: Sequence[PeerArm], root: Path, say: Say, limits: Limits) -> None:
    """Measures everything into `directory`. Raises UsageError for what can't be done; KeyboardInterrupt says how to go
    on."""
    cores, machine = chosen_cores(), machine_name(len(usable_cores()))
    unknown = set(choices.arms or ()) - {peer.name for peer in peers}
    if unknown:
        names = ", ".join(peer.name for peer in peers)
        raise UsageError(f"there is no arm {', '.join(sorted(unknown))}; there are: {names}")
    asked = [peer for peer in peers if choices.arms is None or peer.name in (*choices.arms, ENGINE)]
    asked.sort(key=lambda peer: peer.name != ENGINE)  # the first column of every table
    notes = [_note(peer, cores, root) for peer in asked]
    left_out = {note.name: note.missing for note in notes if note.missing is not None}
    for name, why in left_out.items():
        say(f"{name} is left out: {why}")
    parts = make_parts(choices, [note.name for note in notes if note.missing is None], left_out)
    header = Header(
        machine=machine,
        created_utc=_utc(),
        budget=choices.budget,
        num_launches=num_launches(choices),
        seed=choices.seed,
        cores=cores,
        parts=[part.name for part in parts],
        arms=notes,
        left_out=left_out,
    )
    write_header(directory, header)
    origin = provenance(machine, root)
    for part in parts:
        record = Run(run_id=part.name, created_utc=header.created_utc, plan=part.plan, provenance=origin)
        RunWriter(part_path(directory, part.name).parent, record).close()
    _measure(directory, header, peers, say, limits)


def resume(directory: Path, peers: Sequence[PeerArm], root: Path, say: Say, limits: Limits) -> None:
    """Runs the launches that a run lacks. Raises UsageError if they would not be comparable with those it has."""
    header = read_bench(directory)
    now = provenance(machine_name(len(usable_cores())), root)
    for name in header.parts:
        stored = read_part(directory, name)
        differences = difference(stored.run.provenance, now) if stored else [f"{name} was not begun"]
        differences += ["the cores were others"] if header.cores != chosen_cores() else []
        if differences:
            raise UsageError(f"{directory} can't go on here: {'; '.join(differences)}")
    _measure(directory, header, peers, say, limits)


def _measure(directory: Path, header: Header, peers: Sequence[PeerArm], say: Say, limits: Limits) -> None:
    todo: list[tuple[str, PlannedLaunch]] = []
    for name in header.parts:
        stored = read_part(directory, name)
        assert stored is not None, "run() begins every part, and resume() looks whether it did"
        done = {launch.launch for launch in stored.launches}
        todo += [(name, launch) for launch in planned_launches(stored.run.plan) if launch.launch not in done]
    todo.sort(key=lambda one: (one[1].block, random.Random(f"{header.seed}/{one[1].block}/{one[0]}").random()))
    by_name = {peer.name: peer for peer in peers}
    for number, (name, launch) in enumerate(todo):
        say(f"launch {number + 1} of {len(todo)}: {name}, block {launch.block + 1}")
        unpack(directory, name)
        try:
            measured = _launch(read_run(part_path(directory, name)), launch, by_name, header.cores, say, limits)
        except LaunchFailed as failed:
            say(f"left out: {failed}")
            continue
        except KeyboardInterrupt:
            raise KeyboardInterrupt(f"go on with: --resume {directory}") from None
        with RunWriter.resume(part_path(directory, name)) as writer:
            writer.append(rounded(measured))
    for name in header.parts:
        pack(directory, name)


def _launch(
    stored: StoredRun,
    launch: PlannedLaunch,
    peers: Mapping[str, PeerArm],
    cores: Sequence[int],
    say: Say,
    limits: Limits,
) -> Launch:
    """One launch more of a part, which knows what the earlier ones found out."""
    part, before = Part(stored.run.run_id, stored.run.plan), stored.launches
    if not part.is_native:
        return measure_launch(part.plan, launch, lambda _: None)
    return NativeLaunch(part.plan, launch, peers, cores, limits, say, allowance(part, before)).measure()


def _note(peer: PeerArm, cores: Sequence[int], root: Path) -> ArmNote:
    missing = peer.missing()
    if missing is not None:
        return ArmNote(name=peer.name, missing=relative(missing, root))
    own = {name: value for name, value in peer.environment().items() if os.environ.get(name) != value}
    command = [relative(word, root) for word in peer.command(2, Path("SOCKET"), cores)]
    return ArmNote(
        name=peer.name,
        command=command,
        environment={name: relative(value, root) for name, value in allowed(own).items()},
    )


def _utc() -> str:
    return time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())
