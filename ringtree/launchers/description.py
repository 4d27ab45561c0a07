"""What was found out about a process's launcher, in rows that a person reads.

For: `ringtree launchers`, and whoever else shows it. Not for: deciding anything (table.py), or printing.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from ringtree.errors import UsageError
from ringtree.launchers.identity import Identity, Surroundings
from ringtree.launchers.meeting_point import address_of, job_key, port_of
from ringtree.launchers.table import identify

_MOST_NAMES = 8


@dataclass(frozen=True)
class Described:
    """`launcher`: its name, None: no launcher. `rows`: what, value, and the variable that said it. `problem`: what
    would keep ranks from meeting, in one line."""

    launcher: str | None
    rows: tuple[tuple[str, str, str], ...] = ()
    problem: str | None = None


def describe(environment: Mapping[str, str] | Surroundings) -> Described:
    """Returns what the variables say; raises nothing."""
    around = environment if isinstance(environment, Surroundings) else Surroundings(environment)
    try:
        identity = identify(around)
    except UsageError as error:
        return Described(None, problem=str(error))
    if identity is None:
        return Described(None, tuple(_near_misses(around.environment)))
    rows = [(label, value, identity.sources.get(name, "")) for label, name, value in _facts(identity)]
    rows += [("inside of", words, "") for words in identity.inside]
    problem = None
    if identity.world_size > 1:
        try:
            rows += _meeting(identity)
        except UsageError as error:
            problem = str(error)
    return Described(identity.launcher, tuple(rows), problem)


def _facts(identity: Identity) -> list[tuple[str, str, str]]:
    """Label, name of the field, value; without what the launcher does not say."""
    names = ", ".join(identity.hosts[:_MOST_NAMES]) + (", …" if len(identity.hosts) > _MOST_NAMES else "")
    facts = [
        ("rank", "rank", identity.rank),
        ("world size", "world_size", identity.world_size),
        ("rank on its host", "local_rank", identity.local_rank),
        ("ranks on its host", "local_size", identity.local_size),
        ("number of its host", "host_rank", identity.host_rank),
        ("hosts", "num_hosts", identity.num_hosts),
        ("names of hosts", "hosts", names or None),
        ("job", "job", identity.job),
    ]
    return [(label, name, str(value)) for label, name, value in facts if value is not None]


def _meeting(identity: Identity) -> list[tuple[str, str, str]]:
    if not identity.several_hosts:
        return [("ranks meet", f"on this host (unix:{job_key(identity)})", "")]
    (address, said), (port, derived) = address_of(identity), port_of(identity)
    whose = "the launcher's store" if identity.serves_store else "a store of rank 0's"
    return [("ranks meet", f"at {address}, port {port}: {whose}", f"{said}; {derived}")]


def _near_misses(environment: Mapping[str, str]) -> list[tuple[str, str, str]]:
    """Variables that look like a launcher's and do not make this process a rank, with the reason."""
    rows = []
    if environment.get("SLURM_JOB_ID") and not environment.get("SLURM_STEP_ID"):
        rows.append(("not a rank", "inside a Slurm job, but not started by srun", "SLURM_JOB_ID"))
    if environment.get("JOB_COMPLETION_INDEX") and not environment.get("WORLD_SIZE"):
        rows.append(("not a rank", "a pod of an indexed Job: WORLD_SIZE is not set", "JOB_COMPLETION_INDEX"))
    if bool(environment.get("RANK")) != bool(environment.get("WORLD_SIZE")):
        there, lacking = ("RANK", "WORLD_SIZE") if environment.get("RANK") else ("WORLD_SIZE", "RANK")
        rows.append(("not a rank", f"{lacking} is not set", there))
    return rows
