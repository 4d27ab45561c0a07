"""An all-reduce of your own: a ring that runs both ways round at once. Written, proved, costed and run for real.

python examples/own_algorithm.py
"""

import numpy as np

import ringtree


def two_way_ring(p: ringtree.ProgramBuilder) -> None:
    """Half of the chunks travel upwards, the other half downwards, on two lanes that overlap."""
    for lane, way in enumerate((+1, -1)):
        ahead, behind = (p.rank + way) % p.ranks, (p.rank - way) % p.ranks
        # At step s each rank handles the chunk that rank - way * s began with.
        chunks = [(p.rank - way * step) % p.ranks + lane * p.ranks for step in range(2 * p.ranks - 1)]
        source = (behind, lane)  # the lane is the tag: with 2 ranks both ways use the same pair
        p.send(chunks[0], to=ahead, lane=lane, tag=lane)
        for chunk in chunks[1 : p.ranks - 1]:
            p.recv_reduce_send(chunk, source=source, to=ahead, lane=lane, tag=lane)
        p.recv_reduce_copy_send(chunks[p.ranks - 1], source=source, to=ahead, lane=lane, tag=lane)
        for chunk in chunks[p.ranks : -1]:
            p.recv_copy_send(chunk, source=source, to=ahead, lane=lane, tag=lane)
        p.recv(chunks[-1], source=source, lane=lane)


def main() -> None:
    ranks = 4
    schedule = ringtree.build("all_reduce", two_way_ring, ranks=ranks, chunks=2 * ranks)

    report = ringtree.verify_report(schedule)  # ringtree.verify(schedule) would raise instead
    print(f"proved: {report['ok']}, {report['num_steps']} steps, {report['num_messages']} messages")

    for name, one in (("two-way ring", schedule), ("ring", ringtree.schedule("all_reduce", "ring", ranks=ranks))):
        cost = one.cost()
        print(f"{name}: {cost.hops} hops, each rank sends {cost.sent:.2f} of the data")

    def work(comm: ringtree.Communicator) -> np.ndarray:
        data = np.full(1_000_003, comm.rank + 1, dtype=np.float32)
        return comm.all_reduce(data, algorithm=schedule)

    results = ringtree.run(work, ranks=ranks)
    print(f"ran: every rank has {results[0][0]:.0f} in each element: {all((r == 10).all() for r in results)}")


if __name__ == "__main__":
    main()
