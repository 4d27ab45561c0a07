"""A rank that streams through plain sockets: `python -m bench.hosts.stream BYTES BLOCKS ADDRESSES`, one on each host.

For: what TCP itself reaches on the links of the rate, in the pattern of a ring: every host sends to the next and
receives from the one before, at the same time. Rank 0 prints bytes/s of each block, by the last host to finish. Not
for: collectives; the engine only tells when to begin.
"""

from __future__ import annotations

import json
import socket
import sys
import threading
import time

import numpy as np

import ringtree

PORT = 29400
PIECE = 1 << 20


def receive(connection: socket.socket, num_bytes: int) -> None:
    """Takes so many bytes."""
    buffer = bytearray(PIECE)
    while num_bytes > 0:
        got = connection.recv_into(buffer, min(PIECE, num_bytes))
        if got == 0:
            raise ConnectionError("the host before has left")
        num_bytes -= got


def send(connection: socket.socket, num_bytes: int) -> None:
    """Sends so many bytes."""
    piece = bytes(PIECE)
    for at in range(0, num_bytes, PIECE):
        connection.sendall(piece[: num_bytes - at])


def main(num_bytes: int, blocks: int, addresses: list[str]) -> None:
    with ringtree.init() as comm, socket.create_server((addresses[comm.rank], PORT)) as server:
        comm.barrier()
        onward = socket.create_connection((addresses[(comm.rank + 1) % comm.world_size], PORT))
        behind = server.accept()[0]
        rates = []
        for _ in range(blocks):
            comm.barrier()
            started = time.perf_counter()
            receiver = threading.Thread(target=receive, args=(behind, num_bytes))
            receiver.start()
            send(onward, num_bytes)
            receiver.join()
            seconds = np.array([time.perf_counter() - started])
            comm.all_reduce(seconds, op="max")
            rates.append(num_bytes / float(seconds[0]))
        if comm.rank == 0:
            print(json.dumps(rates))


if __name__ == "__main__":
    main(int(sys.argv[1]), int(sys.argv[2]), sys.argv[3].split(","))
