"""Telling the other processes of a job that this one can't take part, if they can be reached.

For: mistakes of one process that no other sees, so that all end soon and rank 0 says why. Not for: what is a mistake,
or who prints it (joining.py), nor for refusals while ranks meet, which the core hands on itself (core/bootstrap).
"""

from __future__ import annotations

import platform
import socket
import time

from ringtree.comm.meeting import STORES, host_of, store_of
from ringtree.errors import RingtreeError, UsageError
from ringtree.launchers import Identity, address_of, port_of
from ringtree.measure.crew import MEETING

TELL_LIMIT = 30.0  # seconds for rank 0 to open the store, in which it can be told
DISAGREE_LIMIT = 6.0  # where a typo in a shell is most likely all there is, and nobody to tell
LISTEN_LIMIT = 10.0  # for rank 0 to listen, where it most likely makes the same mistake and never does
_ATTEMPT = 2.0


def tell(identity: Identity, error: UsageError, limit: float = TELL_LIMIT) -> bool:
    """Makes the meeting of that job fail on all processes, with who refuses and why; returns whether any could be
    reached, for which rank 0 must open the store in `limit` seconds. Rank 0 serves it for a moment, until those that
    are there know."""
    reason = f"rank {identity.rank}, on {platform.node()}: {error}"
    try:
        return STORES.refuse(store_of(identity), identity.rank, identity.world_size, MEETING, reason, limit)
    except RingtreeError:
        return False


def rank_0_listens(identity: Identity) -> bool:
    """Returns whether somebody listens where rank 0 serves the store, over the network. For a process that can't
    join because it has no secret: rank 0 listens only with one."""
    try:
        if host_of(store_of(identity)) is None:
            return False
        place = (address_of(identity)[0], port_of(identity)[0])
    except UsageError:
        return False
    until = time.monotonic() + LISTEN_LIMIT
    while time.monotonic() < until:
        try:
            socket.create_connection(place, timeout=_ATTEMPT).close()
            return True
        except UnicodeError:  # of a name that is none, as with an empty part
            return False
        except OSError:
            time.sleep(0.1)
    return False
