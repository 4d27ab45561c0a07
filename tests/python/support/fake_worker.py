"""A worker of no library: speaks the line protocol of workers/worker.h and answers with made-up times.

    python fake_worker.py RANKS SOCKET FACTOR BEHAVIOUR

For: testing worker sets and tools/bench without any library. Ranks are forked; times are FACTOR · (1 µs + 1 ns a byte)
· CALLS with a few per cent of reproducible scatter, told, not spent; `algorithm 2` has calls take twice as long.
BEHAVIOUR: `good`, or what goes wrong and from which size on, as in `hang:4096`: hang, die, wrong, refuse, break (and
stays broken), garbage, slow (tells of calls of a second and more), sleepy (takes 60 ms a batch, as a slow library
does); or which is the one collective that it has, as in `only:broadcast`; or what it says that its variables are set
to, as in `control:ring`; or at the start: `absent` (never connects), `stillborn` (ends with an error), `stray` (good,
but leaves a process behind in a session of its own). Not a pytest module.
"""

from __future__ import annotations

import hashlib
import json
import os
import signal
import socket
import sys
import time

DIFFERENT_VERSION = "Fake 1.0"


def serve(rank: int, num_ranks: int, path: str, factor: float, behaviour: str) -> None:
    what, _, first = behaviour.partition(":")
    connection = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    connection.connect(path)
    hello = {"rank": rank, "size": num_ranks, "pid": os.getpid(), "version": DIFFERENT_VERSION, "cores": "0"}
    connection.sendall(json.dumps(hello).encode() + b"\n")
    broken, times_as_long = False, 1.0
    with connection.makefile("r") as lines:
        for line in lines:
            words = line.split()
            if words[0] == "quit":
                return
            if words[0] == "algorithm":
                times_as_long = 1.0 if words[1] == "auto" else float(words[1])
                connection.sendall(b"ok\n")
                continue
            if words[0] == "data":
                connection.sendall(b"ok\n")
                continue
            if words[0] == "control":
                said = b"error unsupported\n" if what != "control" else f"ok {first}\n".encode()
                connection.sendall(said)
                continue
            collective, (size, calls, batches, warmup, _, seed, _, _) = words[1], map(int, words[4:12])
            reached = collective != first if what == "only" else first.isdigit() and size >= int(first)
            if reached and what == "hang" and rank == 1:
                signal.pause()
            if reached and what == "die" and rank == 1:
                os.kill(os.getpid(), signal.SIGKILL)
            if reached and what in ("refuse", "only"):
                connection.sendall(b"error unsupported\n")
                continue
            broken = broken or (reached and what == "break")
            if broken:
                connection.sendall(b"error peer is gone\n")
                continue
            if reached and what == "garbage":
                connection.sendall(b"ok 0 nan\n")
                continue
            if reached and what == "sleepy":
                time.sleep(0.06 * (warmup + batches))
            wrong = 3 if reached and what == "wrong" and rank == 1 else 0
            call = factor * times_as_long * (1e-6 + 1e-9 * size) * (1e6 if reached and what == "slow" else 1)
            digits = hashlib.sha256(f"{seed}/{rank}/{factor}".encode()).digest()
            times = [calls * call * (1 + 0.04 * digits[i % 32] / 255) for i in range(batches)]
            connection.sendall(f"ok {wrong} {' '.join(f'{one:.9f}' for one in times)}\n".encode())


def main() -> None:
    num_ranks, path, factor, behaviour = int(sys.argv[1]), sys.argv[2], float(sys.argv[3]), sys.argv[4]
    if behaviour == "stillborn":
        sys.exit("fake: error: no such device")
    if behaviour == "stray":
        done, ready = os.pipe()
        if os.fork() == 0:
            os.setsid()
            os.write(ready, b".")
            signal.pause()
        os.read(done, 1)
    if behaviour == "absent":
        signal.pause()
    ranks = []
    for rank in range(num_ranks):
        pid = os.fork()
        if pid == 0:
            serve(rank, num_ranks, path, factor, behaviour)
            os._exit(0)
        ranks.append(pid)
    for pid in ranks:
        os.waitpid(pid, 0)


if __name__ == "__main__":
    main()
