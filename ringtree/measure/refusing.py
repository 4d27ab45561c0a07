"""Telling the other processes of a job that this one can't take part, if they can be reached.

For: mistakes of one process that no other sees, so that all end soon and rank 0 says why. Not for: what is a mistake,
or who prints it (who_speaks.py), nor for refusals while ranks meet, which the core hands on itself (core/bootstrap).
"""

from __future__ import annotations

import contextlib
import platform
import socket
import time
from enum import Enum, auto

from ringtree.comm.meeting import STORES, host_of, store_of
from ringtree.errors import RingtreeError, UsageError
from ringtree.launchers import Identity, address_of, port_of
from ringtree.measure.crew import MEETING

STAY = 2.0  # seconds of rank 0 for the others to hear it, as long as Rendezvous::stay
_ATTEMPT = 2.0
_ANSWER = 1.0  # for the word of rank 0, which comes at once or not at all
_REFUSED = b"ringtree: rank 0 has no secret and says so\n"


class Met(Enum):
    """What is where rank 0 should be: nobody yet, somebody who listens, or rank 0, which makes the same mistake."""

    NOBODY = auto()
    LISTENS = auto()
    REFUSES = auto()


def tell(identity: Identity, error: UsageError, limit: float) -> bool:
    """Makes the meeting of that job fail on all processes, with who refuses and why; returns whether any could be
    reached, for which rank 0 must open the store in `limit` seconds. Rank 0 serves it for a moment, until those that
    are there know."""
    reason = f"rank {identity.rank}, on {platform.node()}: {error}"
    try:
        return STORES.refuse(store_of(identity), identity.rank, identity.world_size, MEETING, reason, limit)
    except RingtreeError:
        return False


def refuse_openly(identity: Identity, seconds: float = STAY) -> bool:
    """Rank 0, which can't open the store without a secret: listens in its place until all have called, `seconds` at
    most, reads nothing, and answers that it speaks. Returns whether it could."""
    place = _place_of(identity)
    if place is None or identity.serves_store:
        return False
    try:
        family, kind, protocol, _, address = socket.getaddrinfo(*place, type=socket.SOCK_STREAM)[0]
        with socket.socket(family, kind, protocol) as listener:
            listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            listener.bind(address)
            listener.listen(identity.world_size)
            _answer_callers(listener, identity.world_size - 1, seconds)
    except (OSError, UnicodeError):  # not an address of this host, or taken
        return False
    return True


def meet_rank_0(identity: Identity) -> Met:
    """Looks once where rank 0 serves the store, over the network. For a process that can't join because it has no
    secret: rank 0 listens only with one."""
    place = _place_of(identity)
    if place is None:
        return Met.NOBODY
    try:
        with socket.create_connection(place, timeout=_ATTEMPT) as connection:
            connection.settimeout(_ANSWER)
            with contextlib.suppress(OSError):  # it says nothing
                if connection.recv(len(_REFUSED), socket.MSG_WAITALL) == _REFUSED:
                    return Met.REFUSES
            return Met.LISTENS
    except (OSError, UnicodeError):  # the latter of a name that is none, as with an empty part
        return Met.NOBODY


def _place_of(identity: Identity) -> tuple[str, int] | None:
    """Returns where rank 0 serves the store over the network; None: nowhere, or there is no knowing."""
    try:
        if host_of(store_of(identity)) is None:
            return None
        return address_of(identity)[0], port_of(identity)[0]
    except UsageError:
        return None


def _answer_callers(listener: socket.socket, num_others: int, seconds: float) -> None:
    until = time.monotonic() + seconds
    for _ in range(num_others):
        left = until - time.monotonic()
        if left <= 0:
            return
        listener.settimeout(left)
        with contextlib.suppress(OSError), listener.accept()[0] as caller:  # nobody has come, or it has gone again
            caller.sendall(_REFUSED)
