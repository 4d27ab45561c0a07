"""The store of torchrun's agent when it can't be reached: one error of ours, whatever PyTorch raises.

For: ringtree.comm.torchrun. Not for: ranks that meet there (test_compare_launchers.py).
"""

from __future__ import annotations

from datetime import timedelta

import pytest
from launchers_support import free_ports

from ringtree.comm.torchrun import torchrun_store
from ringtree.errors import DeadlineError, PeerError

distributed = pytest.importorskip("torch.distributed")


def test_an_agent_that_is_not_there_is_a_peer_error() -> None:
    (port,) = free_ports(1)
    with pytest.raises(PeerError, match=rf"^torchrun's store at 127\.0\.0\.1:{port} can't be reached: .+$"):
        torchrun_store("127.0.0.1", port, 0.5)


def test_an_agent_that_ends_is_a_peer_error() -> None:
    served = distributed.TCPStore("127.0.0.1", 0, is_master=True, wait_for_workers=False, timeout=timedelta(seconds=9))
    store = torchrun_store("127.0.0.1", served.port, 9)
    store.set("key", "value")
    assert store.get("key", 9) == "value"
    with pytest.raises(DeadlineError, match="never"):
        store.get("never", 0.01)
    del served
    with pytest.raises(PeerError, match="can't be reached"):
        store.get("key", 9)
    with pytest.raises(PeerError, match="can't be reached"):  # a first one may be sent before the end is seen
        store.set("key", "other")
