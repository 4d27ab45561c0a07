"""The store that torchrun's agent serves, for ranks on several hosts.

For: meeting.py, when torchrun has started the ranks. Not for: anything else of PyTorch; that is ringtree.arms and
ringtree.torch. PyTorch is loaded only when this is called, by name, as `import ringtree` must not depend on it: who was
started by torchrun has it.
"""

from __future__ import annotations

import contextlib
import importlib
import os
from collections.abc import Iterator
from datetime import timedelta

from ringtree._core import CallableStore, Store
from ringtree.errors import PeerError, UsageError


def torchrun_store(host: str, port: int, timeout: float) -> Store:
    """Returns a store over the agent's, for this restart of the job. It lets anybody on the network in: what ranks tell
    each other there is enough to find them, not to join them, which takes the job's secret. Raises UsageError, and
    PeerError if the agent's is not reached, as set() and get() of the store do."""
    try:
        distributed = importlib.import_module("torch.distributed")
    except ImportError as error:
        raise UsageError(f"torchrun has started this rank, but PyTorch cannot be loaded: {error}") from error
    with _reached(host, port):
        served = distributed.TCPStore(host, port, is_master=False, timeout=timedelta(seconds=timeout))
    restart = os.environ.get("TORCHELASTIC_RESTART_COUNT", "0")
    keys = distributed.PrefixStore(f"ringtree/{restart}", served)

    def set_value(key: str, value: bytes) -> None:
        with _reached(host, port):
            keys.set(key, value)

    def get(key: str, seconds: float) -> bytes | None:
        with _reached(host, port):
            try:
                keys.wait([key], timedelta(seconds=max(seconds, 0.001)))
            except RuntimeError as error:  # DistStoreError where there is one
                if "timeout" in str(error).lower():
                    return None
                raise
            return bytes(keys.get(key))

    return CallableStore(set_value, get)


@contextlib.contextmanager
def _reached(host: str, port: int) -> Iterator[None]:
    """Raises PeerError for what PyTorch's store raises: DistNetworkError and its like are RuntimeErrors."""
    try:
        yield
    except RuntimeError as error:
        first_line = str(error).partition("\n")[0]
        raise PeerError(f"torchrun's store at {host}:{port} can't be reached: {first_line}") from None
