"""Where the ranks of a launcher's job meet: host and port for several hosts, a key for one.

For: names that all ranks derive alike from what the launcher told each of them. Not for: opening a store there
(ringtree.comm.meeting).

MASTER_ADDR and MASTER_PORT count where they are set. Else the host is the first of the launcher's list, which holds
rank 0, or the one on which mpirun itself runs; and the port follows from the job's id, so that two jobs on one host are
unlikely to want the same.
"""

from __future__ import annotations

import hashlib

from ringtree.errors import UsageError
from ringtree.launchers.allocation import NODE_FILE
from ringtree.launchers.identity import Identity, is_count, shown

FIRST_PORT, NUM_PORTS = 20000, 10000  # below the ports that kernels hand out by themselves (from 32768 on in Linux)


def address_of(identity: Identity) -> tuple[str, str]:
    """Returns a name or an address of rank 0's host, and what said so. Raises UsageError."""
    said = identity.sources.get("address", "")
    known_to_all = bool(identity.hosts) and identity.sources.get("hosts") != NODE_FILE
    if identity.address is not None and (said == "MASTER_ADDR" or not known_to_all):
        return identity.address, said
    if identity.hosts:
        return identity.hosts[0], f"the first of {identity.sources['hosts']}"
    raise UsageError(
        f"{identity.launcher} does not say on which host rank 0 runs: set MASTER_ADDR to a name or address of it"
    )


def port_of(identity: Identity) -> tuple[int, str]:
    """Returns the port at which rank 0 serves the store, and what said so. Raises UsageError."""
    said = _said_port(identity)
    if said is not None:
        return said, identity.sources["port"]
    if identity.job is None:
        raise UsageError(
            f"{identity.launcher} gives the job no id to derive a port from: set MASTER_PORT, the same on all "
            "ranks, to a free port of rank 0's host"
        )
    number = int.from_bytes(_digest(identity)[:8], "big") % NUM_PORTS
    return FIRST_PORT + number, f"derived from the job's id ({identity.sources['job']})"


def job_key(identity: Identity) -> str:
    """Returns a name that the ranks of this start of the job share, and no others on their host. Raises UsageError."""
    if _said_port(identity) is None and identity.job is None:
        raise UsageError(
            f"{identity.launcher} gives the job no id: set MASTER_PORT, the same on all ranks, or give store="
            '"unix:<id>"'
        )
    return _digest(identity).hex()[:32]


def key_of_start(identity: Identity) -> str:
    """Returns a name that the processes of this start of the job share on their host, also where job_key() can't tell:
    for saying why. Where the launcher gives no job id, a job before it may have had the same name."""
    parts = (identity.launcher, identity.job or "", identity.attempt, identity.address or "", identity.port or "")
    return _hash(parts).hex()[:32]


def _said_port(identity: Identity) -> int | None:
    text = identity.port
    if text is None:
        return None
    if not (is_count(text) and 0 < int(text) < 1 << 16):
        quoted = text if is_count(text) else shown(text)
        raise UsageError(f"{identity.sources['port']}={quoted} is not a port: use 1 to 65535")
    return int(text)


def _digest(identity: Identity) -> bytes:
    port = _said_port(identity)
    said = identity.sources.get("address") == "MASTER_ADDR"
    parts = (
        identity.launcher,
        identity.job or "",
        identity.attempt,
        (identity.address or "") if said else "",
        "" if port is None else str(port),
    )
    return _hash(parts)


def _hash(parts: tuple[str, ...]) -> bytes:
    return hashlib.sha256("\0".join(parts).encode()).digest()
