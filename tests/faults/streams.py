"""Connections between two ranks that break, one of several, or carry what was not sent: through a proxy.

For: what bar 2 leaves out: the peer lives, the connection does not. Two ranks, told apart as hosts by RINGTREE_HOSTID,
meet on the loopback interface; rank 1 reads the proxy's address in place of rank 0's. No namespaces are needed.
"""

from __future__ import annotations

import functools
import re
import time
from contextlib import ExitStack
from pathlib import Path
from tempfile import TemporaryDirectory

from fault_ranks import Call, Place

from faults.bodies import Plan, follow
from faults.directory_store import DirectoryStore
from faults.proxy import Fault, Proxy, Role
from faults.silences import DEADLINE_S, SUSPICION_S
from faults.stage import staged_at
from faults.trial import Cell, Trial
from ringtree import _core

_ADDRESS = re.compile(rb"(....)(127\.0\.0\.1:[0-9]+)", re.DOTALL)  # its length and text (core/bootstrap/peer.cpp)
CALLS_AFTER_PAUSE = 20


def _store_of(directory: str, port: int, rank: int) -> _core.Store:
    """Of that rank. Rank 1 reads the proxy's address in place of rank 0's, which goes into a file for the proxy."""

    def change(key: str, value: bytes) -> bytes:
        if rank == 0 or not key.endswith("/identity/0"):
            return value
        found = _ADDRESS.search(value)
        assert found is not None, "rank 0's identity says where it listens"
        assert int.from_bytes(found[1], "little") == len(found[2])
        draft = Path(directory, "upstream.draft")
        draft.write_bytes(found[2])
        draft.rename(Path(directory, "upstream"))
        ours = f"127.0.0.1:{port}".encode()
        return value[: found.start()] + len(ours).to_bytes(4, "little") + ours + value[found.end() :]

    return DirectoryStore(directory, change).as_store()


def _upstream(directory: str) -> tuple[str, int]:
    host, _, port = Path(directory, "upstream").read_text().rpartition(":")
    return host, int(port)


def broken(cell: Cell, role: Role, fault: Fault, *, checksums: bool = False) -> Trial:
    """Both ranks are heard: the victim is whoever is at the other end."""
    goes_on = fault is Fault.PAUSE
    more = CALLS_AFTER_PAUSE if goes_on else 0
    with ExitStack() as stack:
        directory = stack.enter_context(TemporaryDirectory(prefix="ringtree-faults-"))
        proxy = stack.enter_context(Proxy(functools.partial(_upstream, directory)))
        store = functools.partial(_store_of, directory, proxy.port)
        # The proxy follows frames from the handshake on: no probe of the link before them.
        environment = {"RINGTREE_PROBE": "0", **({"RINGTREE_CRC": "1"} if checksums else {})}
        places = [
            Place(environment={"RINGTREE_HOSTID": name, **environment}, store=store) for name in ("left", "right")
        ]
        plan = Plan(Call(cell.collective), 1, timeout=DEADLINE_S, idle=goes_on, more=more)
        with staged_at(places, follow, plan) as stage:
            for rank in (0, 1) if goes_on else (1,):
                assert stage.job.hear(rank) == "ready"
            at = proxy.apply(role, fault)
            for rank in (0, 1) if goes_on else ():
                stage.job.tell(rank, "call")
            silent = fault is Fault.SILENCE
            warned = {}
            if silent:
                who = re.compile(r"has not been heard of")
                warned = stage.job.await_words([0, 1], who, time.monotonic() + SUSPICION_S)
            survivors = [stage.told(rank, at, 1 - rank, warned.get(rank)) for rank in (0, 1)]
            stage.descriptors([0, 1])
    return Trial(cell, survivors, DEADLINE_S if silent else None, stage.left)
