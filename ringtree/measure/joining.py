"""Becoming an agent: who joins, and what is checked before and after.

For: one clear line where a crew can't be made. Not for: which process says it (who_speaks.py), or what a crew does
(crew.py).
"""

from __future__ import annotations

import os

from ringtree.comm.meeting import store_of
from ringtree.errors import RingtreeError, UsageError
from ringtree.launchers import Identity, Unidentified, address_of, identify, key_of_start
from ringtree.measure.crew import Crew, Hello
from ringtree.measure.host_speaker import HostSpeaker
from ringtree.measure.join_limits import join_limits
from ringtree.measure.who_speaks import checked, disagreed, failed_to_meet, unidentified

SECRETS = ("RINGTREE_SECRET_FILE", "RINGTREE_SECRET")
MOST_SKEW = 5.0  # seconds between two hosts' clocks; NTP leaves milliseconds
_LOOPBACK = ("localhost", "127.", "::1")


def crew_of_the_launcher() -> Crew | None:
    """Returns this process's crew if a launcher has started it among others, else None. Raises UsageError or
    SaidElsewhere."""
    try:
        identity = identify()
    except Unidentified as error:
        raise unidentified(error) from None
    if identity is None or identity.world_size == 1:
        return None
    return join(identity)


def join(identity: Identity) -> Crew:
    """Returns the crew of that process's job, when all of it have come. Raises RingtreeError in the process that says
    why not, SaidElsewhere in the others."""
    speaker = HostSpeaker(key_of_start(identity), identity.rank)
    if identity.rank != 0:
        speaker.join()
    try:
        _check(identity)
    except UsageError as error:
        raise checked(identity, speaker, error) from None
    seconds = join_limits().join
    try:
        crew = Crew(identity, seconds)
    except RingtreeError as error:
        raise failed_to_meet(identity, speaker, error, seconds) from None
    problem = differing_versions(crew.hellos) or differing_clocks(crew.hellos)
    if problem is not None:
        crew.comm.close()
        raise disagreed(identity, speaker, UsageError(problem))
    speaker.close()
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
    return f"clocks differ from that of rank 0's host: {', '.join(said.values())}: synchronise them, e.g. with NTP"


def _check(identity: Identity) -> None:
    """What all processes of the job should know alike. Raises UsageError."""
    store_of(identity)
    join_limits()
    if "RINGTREE_SECRET" in os.environ:
        raise UsageError("rank processes need the secret too: use RINGTREE_SECRET_FILE, not RINGTREE_SECRET")
    if not identity.several_hosts:
        return
    host = address_of(identity)[0]
    if not host.startswith(_LOOPBACK) and not any(os.environ.get(name) for name in SECRETS):
        raise UsageError(
            "ranks on several hosts need a secret: write one into a file that only you can read and set "
            "RINGTREE_SECRET_FILE to its path on every rank"
        )
