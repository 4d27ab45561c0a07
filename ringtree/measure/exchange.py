"""Records between ranks, over a communicator: from rank 0 to all, and from all to all.

For: JSON whose length travels first and is checked. Not for: what is said (messages.py, crew.py), or pipes
(framing.py).
"""

from __future__ import annotations

from typing import Any

import numpy as np
from pydantic import BaseModel

from ringtree.errors import RingtreeError

MAX_MESSAGE_BYTES = 256 << 20


def tell(comm: Any, record: BaseModel, timeout: float = 0) -> None:
    """Rank 0: sends a record to all others, which `hear` it. `timeout`: seconds of each wait; 0: the communicator's."""
    payload = _bytes_of(record)
    comm.broadcast(np.array([payload.size], np.int64), timeout=timeout)
    comm.broadcast(payload, timeout=timeout)


def hear(comm: Any, timeout: float = 0) -> bytes:
    """The other ranks: returns the JSON of what rank 0 tells. `timeout`: as tell()."""
    length = np.zeros(1, np.int64)
    comm.broadcast(length, timeout=timeout)
    payload = np.zeros(_checked(int(length[0])), np.uint8)
    comm.broadcast(payload, timeout=timeout)
    return payload.tobytes()


def gather(comm: Any, mine: BaseModel, timeout: float = 0) -> list[bytes]:
    """Returns, on every rank, the JSON of each rank's record. `timeout`: as tell()."""
    payload = _bytes_of(mine)
    lengths = np.zeros(comm.world_size, np.int64)
    comm.all_gather(np.array([payload.size], np.int64), lengths, timeout=timeout)
    counts = [_checked(int(length)) for length in lengths]
    everything = np.zeros(sum(counts), np.uint8)
    comm.all_gather(payload, everything, counts=counts, timeout=timeout)
    return [part.tobytes() for part in np.split(everything, np.cumsum(counts)[:-1])]


def _bytes_of(record: BaseModel) -> Any:
    return np.frombuffer(record.model_dump_json().encode(), np.uint8).copy()


def _checked(length: int) -> int:
    if not 0 < length <= MAX_MESSAGE_BYTES:
        raise RingtreeError(f"a message of {length} bytes cannot be the lab's")
    return length
