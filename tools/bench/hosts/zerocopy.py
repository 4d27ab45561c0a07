"""Whether sending without a copy pays here: `PYTHONPATH=tools:tests/python/support python -m bench.hosts.zerocopy`.

MSG_ZEROCOPY (Linux, Documentation/networking/msg_zerocopy.rst) lets the kernel send from the caller's pages and tell
later, on the socket's error queue, when it is done with them, and whether it had to copy after all. Two hosts, plain
sockets; sends with and without it take turns, ratios are of neighbours.

For: decision 0019. Not for: the engine's links.
"""

from __future__ import annotations

import json
import resource
import socket
import struct
import sys
import time

from bench.hosts.network import made_hosts, run_on_ranks
from bench.hosts.stream import receive
from ringtree.stats import median_interval
from ringtree.units import format_size

SO_ZEROCOPY, MSG_ZEROCOPY, COPIED = 60, 0x4000000, 1  # <asm/socket.h>, <linux/socket.h>, <linux/errqueue.h>
# struct sock_extended_err: errno, origin, type, code, pad, first and last number of the sends it tells of
EXTENDED_ERROR = struct.Struct("=IBBBBII")
SIZES = (16 << 10, 64 << 10, 512 << 10)
BLOCK_BYTES, BLOCKS = 64 << 20, 12
UNDER_WAY = 16  # sends that the kernel has not told of
PORT, PATIENCE = 29400, 300.0


class Sender:
    """Sends from one place, with at most UNDER_WAY sends whose pages the kernel still has."""

    def __init__(self, connection: socket.socket, size: int) -> None:
        self.connection, self.piece = connection, bytes(size)
        self.ended, self.copied = 0, 0

    def send(self, count: int, flags: int) -> float:
        """Seconds of this process's time on a core for a byte, of `count` pieces."""
        began, self.ended, sends = _core_seconds(), 0, 0
        for _ in range(count):
            left = memoryview(self.piece)
            while left:
                left = left[self.connection.send(left, flags) :]
                sends += 1
            while flags and sends - self.ended >= UNDER_WAY:
                self._hear()
        while flags and self.ended < sends:
            self._hear()
        return (_core_seconds() - began) / (count * len(self.piece))

    def _hear(self) -> None:
        try:
            _, told, _, _ = self.connection.recvmsg(0, 256, socket.MSG_ERRQUEUE)
        except BlockingIOError:
            time.sleep(0)
            return
        for _, _, data in told:
            _, _, _, code, _, first, last = EXTENDED_ERROR.unpack_from(data)
            self.ended += last - first + 1
            self.copied += (last - first + 1) if code & COPIED else 0


def _core_seconds() -> float:
    usage = resource.getrusage(resource.RUSAGE_SELF)
    return usage.ru_utime + usage.ru_stime


def rank_main(addresses: list[str]) -> None:
    """Rank 0 sends and prints, rank 1 receives."""
    import ringtree

    with ringtree.init() as comm:
        if comm.rank == 1:
            with socket.create_server((addresses[1], PORT)) as server:
                comm.barrier()
                connection = server.accept()[0]
                for size in SIZES:
                    for _ in range(2 * BLOCKS):
                        receive(connection, BLOCK_BYTES // size * size)
                        comm.barrier()
            return
        comm.barrier()
        connection = socket.create_connection((addresses[1], PORT))
        connection.setsockopt(socket.SOL_SOCKET, SO_ZEROCOPY, 1)
        found = {}
        for size in SIZES:
            sender = Sender(connection, size)
            costs: tuple[list[float], list[float]] = ([], [])  # without, with
            times: tuple[list[float], list[float]] = ([], [])
            for block in range(2 * BLOCKS):
                which = block % 2
                began = time.perf_counter()
                costs[which].append(sender.send(BLOCK_BYTES // size, MSG_ZEROCOPY if which else 0))
                comm.barrier()
                times[which].append(time.perf_counter() - began)
            found[size] = {"core": costs, "time": times, "copied": sender.copied}
        print(json.dumps(found))


def main() -> None:
    """Makes the hosts and prints what was found."""
    with made_hosts(2, 1) as hosts:
        addresses = ",".join(hosts.address(host) for host in range(2))
        said = json.loads(run_on_ranks(hosts, [sys.executable, "-m", "bench.hosts.zerocopy", addresses], PATIENCE))
    for size, found in said.items():
        line = [f"{format_size(int(size))}: with over without, "]
        for what in ("time", "core"):
            ratios = median_interval([one / none for none, one in zip(*found[what], strict=True)])
            line.append(f"{what} {ratios.median:.2f} ({ratios.low:.2f}–{ratios.high:.2f}) ")
        sends = BLOCKS * (BLOCK_BYTES // int(size))
        print("".join(line) + f"; the kernel copied after all in {found['copied']} of at least {sends} sends")


if __name__ == "__main__":
    if len(sys.argv) > 1:
        rank_main(sys.argv[1].split(","))
    else:
        main()
