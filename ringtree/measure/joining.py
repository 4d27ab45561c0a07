"""Becoming an agent: who joins, what is checked first, and who says what went wrong.

For: one clear line where a crew can't be made. Not for: what a crew does (crew.py).

A mistake that all processes of a job make is said once, by rank 0; the others end with the same exit code and say
nothing. What only another process can know it tells the others through the store, and rank 0 says it; where it can't
reach them (it has no secret, can't resolve the name, or doesn't know where to), the first process of its host says it,
with the host's name.
"""

from __future__ import annotations

import os
import platform
import time
from collections.abc import Sequence

from ringtree.comm.meeting import store_of
from ringtree.errors import DeadlineError, MismatchError, RingtreeError, UsageError
from ringtree.launchers import Identity, LaunchersDisagree, Unidentified, address_of, identify
from ringtree.measure.crew import JOIN_SECONDS, Crew, Hello, join_limit
from ringtree.measure.refusing import DISAGREE_LIMIT, rank_0_listens, tell

SECRETS = ("RINGTREE_SECRET_FILE", "RINGTREE_SECRET")
MOST_SKEW = 5.0  # seconds between two hosts' clocks; NTP leaves milliseconds
# Seconds for who speaks: mpirun ends all processes once the first has failed, and rank 0 serves those that tell it for
# up to 2 s (Rendezvous::stay) before it speaks.
FIRST_WORD = 5.0
_LOOPBACK = ("localhost", "127.", "::1")


class SaidElsewhere(RingtreeError):
    """Another process of the job says why. `is_usage`: whether it is the user's mistake."""

    def __init__(self, error: RingtreeError) -> None:
        super().__init__(str(error))
        self.is_usage = isinstance(error, UsageError)


def crew_of_the_launcher() -> Crew | None:
    """Returns this process's crew if a launcher has started it among others, else None. Raises UsageError or
    SaidElsewhere."""
    try:
        identity = identify()
    except Unidentified as error:
        raise _by_one_of(error) from None
    if identity is None or identity.world_size == 1:
        return None
    return join(identity)


def join(identity: Identity) -> Crew:
    """Returns the crew of that process's job, when all of it have come."""
    try:
        _check(identity)
    except UsageError as error:
        raise _checked_by(identity, error) from None
    try:
        crew = Crew(identity, join_limit())
    except MismatchError as error:  # they were started with settings that contradict each other
        told = UsageError(str(error))
        raise (told if identity.rank == 0 else SaidElsewhere(told)) from None
    except DeadlineError as error:
        late = DeadlineError(f"{error}; if hosts start slowly, raise {JOIN_SECONDS} (now {join_limit():g})")
        # Nobody can tell whether rank 0 has said why, or has died.
        speaks = identity.rank == (1 if "rank 0 did not open" in str(error) else 0)
        raise (late if speaks else SaidElsewhere(late)) from None
    except RingtreeError as error:
        raise _said_by(identity, error) from None
    problem = differing_versions(crew.hellos) or differing_clocks(crew.hellos)
    if problem is not None:
        crew.comm.close()
        told = UsageError(problem)
        raise told if identity.rank == 0 else SaidElsewhere(told)
    return crew


def differing_versions(hellos: list[Hello]) -> str | None:
    """Returns what hosts have in other versions than rank 0's, host by host; None: nothing."""
    first = hellos[0]
    said: dict[str, None] = {}
    for hello in hellos:
        for name, version in hello.versions.items():
            here = first.versions.get(name)
            if version != here:
                said[
                    f"{name} is {version or 'not installed'} on {hello.host_name}, {here or 'missing'} on rank 0's host"
                ] = None
    if not said:
        return None
    return f"hosts have other versions: {'; '.join(said)}: install the same everywhere"


def differing_clocks(hellos: list[Hello]) -> str | None:
    """Returns which hosts' clocks are certainly more than MOST_SKEW from rank 0's, and how far; None: none is."""
    began, ended = hellos[0].clock
    said: dict[str, str] = {}
    for hello in hellos[1:]:
        before, after = hello.clock
        # The moment lies in both intervals, so what lies between these is skew; a busy host has a wider one.
        if max(before - ended, began - after) > MOST_SKEW:
            skew = (before + after - began - ended) / 2
            said.setdefault(
                hello.host_name, f"{hello.host_name} is {abs(skew):.1f} s {'ahead' if skew > 0 else 'behind'}"
            )
    if not said:
        return None
    return f"clocks differ from that of rank 0's host: {', '.join(said.values())}: set them alike, as by NTP"


def _check(identity: Identity) -> None:
    """What all processes of the job should know alike. Raises UsageError."""
    store_of(identity)
    join_limit()
    if "RINGTREE_SECRET" in os.environ:
        raise UsageError("rank processes need the secret too: give it by RINGTREE_SECRET_FILE, not RINGTREE_SECRET")
    if not identity.several_hosts:
        return
    host = address_of(identity)[0]
    if not host.startswith(_LOOPBACK) and not any(os.environ.get(name) for name in SECRETS):
        raise UsageError(
            "ranks on several hosts need a secret: write one into a file that only you can read and set "
            "RINGTREE_SECRET_FILE to its path on every rank"
        )


def _by_one_of(error: Unidentified) -> RingtreeError:
    """Who says that launchers disagree or can't be read: rank 0 of the job whose processes are there, by whichever
    launcher. Where nobody can be told: of launchers that disagree each first process of its host, by whichever, as the
    variables of either may be the ones that are left over; else each process."""
    to_tell = jobs_to_tell(error.identities)
    num_waits = sum(identity.rank != 0 for identity in to_tell)  # rank 0 opens the store itself
    for identity in to_tell:
        if tell(identity, error, DISAGREE_LIMIT / max(num_waits, 1)):
            return error if identity.rank == 0 else _silent(error)
    # What can't be read may stand beside the numbers of a launcher of another time, whose first process is not there.
    speaks = not isinstance(error, LaunchersDisagree) or any(one.is_first_on_host for one in error.identities)
    return error if speaks else _silent(error)


def _silent(error: RingtreeError) -> SaidElsewhere:
    """Leaves the first word to the process that says it."""
    time.sleep(FIRST_WORD)
    return SaidElsewhere(error)


def jobs_to_tell(identities: Sequence[Identity]) -> list[Identity]:
    """Returns by which of its identities a process tells the others of their job. Where two have the same store, not as
    rank 0: who opens a store has its port from then on, which the real rank 0 needs."""
    jobs = [identity for identity in identities if identity.world_size > 1]
    joined = {_named_store(identity) for identity in jobs if identity.rank != 0}
    return [identity for identity in jobs if identity.rank != 0 or _named_store(identity) not in joined - {None}]


def _named_store(identity: Identity) -> str | None:
    """Returns the name of the store of that process's job, None if it does not follow from what is known here."""
    try:
        return store_of(identity)
    except UsageError:
        return None


def _checked_by(identity: Identity, error: UsageError) -> RingtreeError:
    """Who says that a check failed: rank 0, if it fails there or can be told; else the first process of the host, if
    rank 0 has passed the check or there is no knowing where it is. Where nothing is told of hosts, all processes are on
    rank 0's and see what it sees."""
    told = tell(identity, error)
    if identity.rank == 0:
        return error
    if told or not (identity.tells_of_hosts and identity.is_first_on_host):
        return _silent(error)
    speaks = _named_store(identity) is None or rank_0_listens(identity)
    return _said_by(identity, error) if speaks else SaidElsewhere(error)


def _said_by(identity: Identity, error: RingtreeError) -> RingtreeError:
    """Who says that joining failed: rank 0; of what only another host can know, the first process there."""
    if identity.rank == 0:
        return error
    if isinstance(error, UsageError) and identity.is_first_on_host:
        return UsageError(f"{platform.node()}: {error}")
    return SaidElsewhere(error)
