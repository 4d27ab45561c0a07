"""A rank that times messages to and fro: `python -m bench.hosts.ping SIZES BLOCKS SECONDS`, one on each host.

For: links.py; rank 0 prints a line of JSON. Not for: collectives.

First ranks 0 and 1 alone, then all pairs (0, 1), (2, 3), … at once: where ranks share cores a message waits for a core
as well, and in a collective all of them are busy.
"""

from __future__ import annotations

import json
import sys
import time
from statistics import median

import numpy as np
from numpy.typing import NDArray

import ringtree

LEAST_TRIPS, MOST_TRIPS = 3, 200
Seconds = dict[int, list[float]]


def round_trips(comm: ringtree.Communicator, data: NDArray[np.uint8], trips: int) -> list[float]:
    """Seconds of each of `trips` messages to and fro between the ranks of a pair."""
    seconds = []
    for _ in range(trips):
        started = time.perf_counter()
        if comm.rank % 2 == 0:
            comm.send(data, comm.rank + 1)
            comm.recv(data, comm.rank + 1)
        else:
            comm.recv(data, comm.rank - 1)
            comm.send(data, comm.rank - 1)
        seconds.append(time.perf_counter() - started)
    return seconds


def one_way(comm: ringtree.Communicator, num_busy: int, sizes: list[int], blocks: int, seconds: float) -> Seconds:
    """Half of the median round trip of each block of about `seconds`, by size, as rank 0 sees it."""
    found: Seconds = {size: [] for size in sizes}
    busy = comm.rank < num_busy
    for _ in range(blocks):
        for size in sizes:
            data, trips = np.zeros(size, np.uint8), np.zeros(1, np.int64)
            if busy:
                trips[0] = seconds / min(round_trips(comm, data, LEAST_TRIPS))
            comm.broadcast(trips)  # as many for all pairs, so that all are busy to the end
            if busy:
                number = int(min(MOST_TRIPS, max(LEAST_TRIPS, trips[0])))
                found[size].append(median(round_trips(comm, data, number)) / 2)
            comm.barrier()
    return found


def main(sizes: list[int], blocks: int, seconds: float) -> None:
    with ringtree.init() as comm:
        alone = one_way(comm, 2, sizes, blocks, seconds)
        together = one_way(comm, comm.world_size // 2 * 2, sizes, blocks, seconds)
        if comm.rank == 0:
            print(json.dumps({"alone": alone, "together": together}))


if __name__ == "__main__":
    main([int(size) for size in sys.argv[1].split(",")], int(sys.argv[2]), float(sys.argv[3]))
