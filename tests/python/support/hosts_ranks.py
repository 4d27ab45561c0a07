"""What the processes of a Job on several hosts do: calls whose results are known, and what they saw of the network.

For: the ranks of test_hosts.py. Not for: ranks that something happens to (fault_ranks.py).
"""

from __future__ import annotations

from multiprocessing.connection import Connection
from typing import Any

import numpy as np
from engine_case import COLLECTIVES, Case
from engine_oracle import expected
from engine_support import call
from fault_ranks import num_descriptors

import ringtree
from ringtree import Communicator

LARGE, MANY_RANKS = 1 << 20, 16  # elements of four bytes; each rank holds what all give: less where there are more


def case_of(ranks: int, collective: str, count: int, **options: Any) -> Case:
    """A call as most make it; options: fields of Case."""
    usual: dict[str, Any] = {
        "channels": 1,
        "deterministic": False,
        "algorithm": "auto",
        "protocol": "auto",
        "dtype": "int32",
        "op": "sum",
        "counts": (),
        "root": 0,
        "in_place": False,
        "offset": 0,
        "slice_bytes": 0,
        "streaming": None,
        "shared_input": False,
        "shared_output": False,
        "started": False,
        "seed": count + 2 * len(collective),
    }
    return Case(ranks=ranks, collective=collective, count=count, **{**usual, **options})


def cases_of(ranks: int) -> list[Case]:
    """Every collective in several sizes up to vectors of 4 MB, in and out of place, started, with other roots."""
    blocked = ("reduce_scatter", "all_gather", "gather", "scatter", "all_to_all")
    large = LARGE if ranks <= MANY_RANKS else LARGE // 16
    cases = []
    for at, collective in enumerate(COLLECTIVES):
        most = large // ranks if collective in blocked else large
        for count in (0, 1, 1000, 100_003 if ranks <= MANY_RANKS else most // 2 + 3, most):
            root = (at + count) % ranks
            in_place = count == 1000 and collective != "all_to_all"
            cases.append(case_of(ranks, collective, count, root=root, in_place=in_place, started=count == 1))
    cases.append(case_of(ranks, "all_reduce", 5000, dtype="float32", op="avg"))
    cases.append(case_of(ranks, "all_reduce", 5000, dtype="uint8", op="max", offset=3))
    return cases


def call_all(comm: Communicator, pipe: Connection) -> None:
    """Runs the cases; says what was wrong, the hosts, and the bytes that this rank sent and received."""
    wrong = []
    for case in cases_of(comm.world_size):
        outcome = call(case, comm)
        wanted = expected(case, comm.rank)
        wrong += [f"{case}: {complaint}" for complaint in outcome.complaints]
        if wanted is not None and (outcome.output is None or not np.array_equal(outcome.output, wanted)):
            wrong.append(f"{case}: wrong result")
    pipe.send((wrong, comm.hosts, comm.network_bytes))


def transfer_and_split(comm: Communicator, pipe: Connection) -> None:
    """Messages round the ring, at once in a group, and communicators of the even and the odd ranks; says what came."""
    ranks, rank = comm.world_size, comm.rank
    after, before = (rank + 1) % ranks, (rank - 1) % ranks
    got = np.zeros(LARGE, "int32")
    if rank == 0:
        comm.send(np.arange(LARGE, dtype="int32"), after)
    comm.recv(got, before)
    if rank != 0:
        comm.send(got, after)
    in_order = bool((got == np.arange(LARGE)).all())

    heard = {peer: np.zeros(LARGE // 4, "int32") for peer in range(ranks)}
    with ringtree.group() as group:
        on = group.on(comm)
        for peer in range(ranks):
            on.send(np.full(LARGE // 4, 10 * rank + peer, "int32"), peer)
            on.recv(heard[peer], peer)
    at_once = all(bool((heard[peer] == 10 * peer + rank).all()) for peer in range(ranks))

    part = comm.split(rank % 2)
    assert part is not None
    total = int(part.all_reduce(np.full(1000, 1 + rank, "int64"))[999])
    part.close()
    pipe.send((in_order, at_once, total))


def open_and_close(comm: Communicator, pipe: Connection) -> None:
    """Calls and closes; says how many descriptors a communicator that was made and closed in between has left."""
    comm.barrier()
    pipe.send("up")
    pipe.recv()
    counts = []
    for _ in range(3):  # the first makes what comm itself needs to make one
        part = comm.split(0)
        assert part is not None
        part.all_reduce(np.ones(LARGE))
        part.close()
        comm.barrier()
        counts.append(num_descriptors())
    comm.close()
    pipe.send(counts[2] - counts[1])


def send_some(comm: Communicator, pipe: Connection, num_bytes: int) -> None:
    """All-reduces vectors of that size once; says what went over the network in it."""
    comm.all_reduce(np.ones(num_bytes, "uint8"))  # links are made
    before = comm.network_bytes
    comm.all_reduce(np.ones(num_bytes, "uint8"))
    sent, received = (now - then for now, then in zip(comm.network_bytes, before, strict=True))
    comm.barrier()
    pipe.send((sent, received))
