"""`init_process_group(init_method="ringtree://")`: rank, world size and meeting point from whatever launcher there is.

    torch.distributed.init_process_group("ringtree", init_method="ringtree://")     # under srun, mpirun, torchrun, …

For: programs under launchers that do not set RANK, WORLD_SIZE, MASTER_ADDR and MASTER_PORT, as env:// needs them; any
backend may follow. Not for: reading launchers' variables (ringtree.launchers), or the backend (ringtree.torch).
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from datetime import timedelta
from typing import TYPE_CHECKING, Any

from ringtree.comm.meeting import no_launcher
from ringtree.errors import UsageError
from ringtree.launchers import address_of, identify, port_of

if TYPE_CHECKING:
    from torch._C._distributed_c10d import Store


def rendezvous(url: str, timeout: timedelta = timedelta(minutes=30), **_: Any) -> Iterator[tuple[Store, int, int]]:
    """Yields store, rank and world size, as torch.distributed asks of a rendezvous handler. Raises UsageError."""
    from torch._C._distributed_c10d import PrefixStore, TCPStore  # not exported, says torch.distributed

    identity = identify()
    if identity is None:
        raise UsageError(no_launcher())
    rank, size = identity.rank, identity.world_size
    if identity.several_hosts or identity.sources.get("address") == "MASTER_ADDR":
        host = address_of(identity)[0]
    else:
        host = "127.0.0.1"
    # The backend takes the network that leads there (core/bootstrap/network.cpp), as with env://.
    os.environ.setdefault("MASTER_ADDR", host)
    serves = rank == 0 and not identity.serves_store
    store = TCPStore(host, port_of(identity)[0], None if identity.serves_store else size, serves, timeout)
    yield PrefixStore(f"ringtree/torch/{identity.attempt}", store), rank, size
    raise RuntimeError("ringtree:// supports one rendezvous per process: start the job again")
