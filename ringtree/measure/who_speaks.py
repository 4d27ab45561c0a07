"""Who says why a job's processes can't work together: rank 0; where it can't, one process of each host.

A mistake that all processes of a job make is said once, by rank 0; the others end with the same exit code and say
nothing, once the line is out: mpirun ends all with the first. What only another process can know it tells the others
through the store, and rank 0 says it. Where it can't reach them (it has no secret, can't resolve the name, or doesn't
know where to), or where rank 0 is missing, the first process that came says it, on each host, as hosts can't agree
without rank 0. Two lines are better than none.

For: what is raised in which process. Not for: what is a mistake (joining.py), telling (refusing.py), or how processes
of a host agree (host_speaker.py).
"""

from __future__ import annotations

import platform
import time
from collections.abc import Sequence

from ringtree.comm.meeting import STORES, store_of
from ringtree.errors import DeadlineError, MismatchError, PeerError, RingtreeError, UsageError
from ringtree.launchers import Identity, LaunchersDisagree, Unidentified
from ringtree.measure.crew import MEETING
from ringtree.measure.host_speaker import HostSpeaker
from ringtree.measure.join_limits import FIRST_WORD, JOIN_SECONDS, limits_of_a_refusal
from ringtree.measure.refusing import STAY, Met, meet_rank_0, refuse_openly, tell

_MOST_OF_A_WORD = 64  # ranks that one process tells the others (kMaxRanks of core/bootstrap/rendezvous.cpp)
_LOOK_SECONDS = 0.1  # between two looks for rank 0


class SaidElsewhere(RingtreeError):
    """Another process of the job says why. `is_usage`: whether it is the user's mistake."""

    def __init__(self, error: RingtreeError) -> None:
        super().__init__(str(error))
        self.is_usage = isinstance(error, UsageError)


def unidentified(error: Unidentified) -> RingtreeError:
    """Who says that launchers disagree or can't be read: rank 0 of the job whose processes are there, by whichever
    launcher. Where nobody can be told: of launchers that disagree each first process of its host, by whichever, as the
    variables of either may be the ones that are left over; else each process."""
    to_tell = jobs_to_tell(error.identities)
    num_waits = sum(identity.rank != 0 for identity in to_tell)  # rank 0 opens the store itself
    limit = limits_of_a_refusal().disagree
    said = _of_this_host(error) if any(one.several_hosts for one in error.identities) else error
    for identity in to_tell:
        if tell(identity, error, limit / max(num_waits, 1)):
            if identity.rank == 0:
                return said
            time.sleep(FIRST_WORD)
            return SaidElsewhere(error)
    # What can't be read may stand beside the numbers of a launcher of another time, whose first process is not there.
    if not isinstance(error, LaunchersDisagree) or any(one.is_first_on_host for one in error.identities):
        return said
    time.sleep(limit + FIRST_WORD)  # those that speak come later, and look for somebody to tell
    return SaidElsewhere(error)


def jobs_to_tell(identities: Sequence[Identity]) -> list[Identity]:
    """Returns by which of its identities a process tells the others of their job. Where two have the same store, not as
    rank 0: who opens a store has its port from then on, which the real rank 0 needs."""
    jobs = [identity for identity in identities if identity.world_size > 1]
    joined = {_named_store(identity) for identity in jobs if identity.rank != 0}
    return [identity for identity in jobs if identity.rank != 0 or _named_store(identity) not in joined - {None}]


def checked(identity: Identity, speaker: HostSpeaker, error: UsageError) -> RingtreeError:
    """Who says that a check failed: rank 0, if it fails there or can be told. Else one process of each host: once rank
    0 has passed the check, where there is no knowing where it is, or where it has not come."""
    speaker.note_failure()
    limits = limits_of_a_refusal()
    told = tell(identity, error, limits.tell)
    if identity.rank == 0:
        if not told and not refuse_openly(identity):
            speaker.announce(identity.world_size - 1, STAY)
        return _said_here(identity, speaker, error)
    if told:
        return _silent(speaker, error)
    is_known = _named_store(identity) is not None or identity.may_be_with_rank_0
    if is_known and _rank_0_says_it(identity, speaker, limits.listen):
        return SaidElsewhere(error)
    return _said_here(identity, speaker, error) if speaker.speaks() else SaidElsewhere(error)


def disagreed(identity: Identity, speaker: HostSpeaker, error: UsageError) -> RingtreeError:
    """Who says that processes which have met, or were about to, don't fit: rank 0. All of them know."""
    if identity.rank != 0:
        return _silent(speaker, error)
    speaker.announce()
    return error


def failed_to_meet(identity: Identity, speaker: HostSpeaker, error: RingtreeError, seconds: float) -> RingtreeError:
    """Who says that the processes did not meet in `seconds`: rank 0, unless it is missing; of what only another host
    can know, one process there."""
    if isinstance(error, MismatchError):  # they were started with settings that contradict each other
        return disagreed(identity, speaker, UsageError(str(error)))
    missing = error.ranks if isinstance(error, DeadlineError | PeerError) else ()
    if isinstance(error, DeadlineError) and missing:
        error = DeadlineError(f"{error}; if hosts start slowly, raise {JOIN_SECONDS} (now {seconds:g})", missing)
    if identity.rank == 0:
        if 0 in missing:  # it came when the others had given up, which say so
            return _silent(speaker, error)
        speaker.announce(identity.world_size - 1, STAY if isinstance(error, UsageError) else 0.0)
        return _said_here(identity, speaker, error)
    if 0 in missing:
        return _without_rank_0(identity, speaker, error, missing)
    # Of what a process refuses while they meet rank 0 hears, unless it has no store.
    told = missing or STORES.has_rank_0(store_of(identity), identity.rank, MEETING)
    if told and not isinstance(error, UsageError):
        return _silent(speaker, error)
    patience = FIRST_WORD if identity.may_be_with_rank_0 else 0.0
    return _said_here(identity, speaker, error) if speaker.speaks(patience) else SaidElsewhere(error)


def _without_rank_0(
    identity: Identity, speaker: HostSpeaker, error: RingtreeError, missing: Sequence[int]
) -> RingtreeError:
    """Who says that rank 0 is missing: the lowest that is there, if a launcher's store has told who that is; else one
    process of each host."""
    lowest = _lowest_that_came(identity, missing)
    if identity.serves_store and isinstance(error, DeadlineError) and lowest is not None:
        return _said_here(identity, speaker, error) if identity.rank == lowest else _silent(speaker, error)
    return _said_here(identity, speaker, error) if speaker.speaks() else SaidElsewhere(error)


def _lowest_that_came(identity: Identity, missing: Sequence[int]) -> int | None:
    """Returns the lowest rank that is not among those; None where they leave it open: the list may be cut off there, or
    another process made it, before this one came."""
    lowest = next(rank for rank in range(len(missing) + 1) if rank not in missing)
    may_be_cut_off = len(missing) >= _MOST_OF_A_WORD and lowest > max(missing)
    return None if may_be_cut_off or identity.rank in missing else lowest


def _rank_0_says_it(identity: Identity, speaker: HostSpeaker, seconds: float) -> bool:
    """Returns whether rank 0 makes the same mistake and has said so, for which it is waited `seconds`; False as soon as
    it is known not to."""
    until = time.monotonic() + seconds
    while time.monotonic() < until:
        met = meet_rank_0(identity)
        if met is Met.LISTENS:
            return False
        if met is Met.REFUSES:
            speaker.hears(FIRST_WORD)
            return True
        if speaker.hears(_LOOK_SECONDS):
            return True
    return False


def _silent(speaker: HostSpeaker, error: RingtreeError) -> SaidElsewhere:
    """Leaves the first word to the process that says it."""
    speaker.hears(FIRST_WORD)
    return SaidElsewhere(error)


def _said_here(identity: Identity, speaker: HostSpeaker, error: RingtreeError) -> RingtreeError:
    """What this process says, with its host's name where there are several."""
    speaker.announce()
    return _of_this_host(error) if identity.several_hosts else error


def _of_this_host(error: RingtreeError) -> RingtreeError:
    kinds = (UsageError, DeadlineError, PeerError, RingtreeError)
    return next(kind for kind in kinds if isinstance(error, kind))(f"{platform.node()}: {error}")


def _named_store(identity: Identity) -> str | None:
    """Returns the name of the store of that process's job, None if it does not follow from what is known here."""
    try:
        return store_of(identity)
    except UsageError:
        return None
