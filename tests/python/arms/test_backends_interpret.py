"""The interpreter against NumPy sums, over Gloo, in processes.

For: every built-in all_reduce with 2 to 5 ranks, uneven and empty chunks, in place and out of place, the ops, with ==.
Not for: the order of messages alone (test_backends_rounds.py).
"""

from __future__ import annotations

import os
import traceback
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from forked import close, preload, start

torch = pytest.importorskip("torch")

import torch.distributed as dist  # noqa: E402

import ringtree  # noqa: E402
from ringtree.arms.interpret import InterpretedCall  # noqa: E402
from ringtree.measure.collective_data import CollectiveData, sides_in  # noqa: E402
from ringtree.traits import ROOTED  # noqa: E402

preload("torch", "torch.distributed", "ringtree", "pytest")

WORLDS = (2, 3, 4, 5)
LIMIT_S = 240
COUNTS = (0, 1, 2, 3, 7, 64, 1001)
FOLDS = {"sum": np.add, "prod": np.multiply, "min": np.minimum, "max": np.maximum}


def own_data(rank: int, count: int) -> np.ndarray[Any, Any]:
    return np.random.default_rng([count, rank]).integers(-3, 4, count).astype(np.float32)


def expected_result(num_ranks: int, count: int, op: str) -> np.ndarray[Any, Any]:
    total = own_data(0, count)
    for rank in range(1, num_ranks):
        total = FOLDS[op](total, own_data(rank, count))
    return total


def check_rank(rank: int, store: str) -> None:
    """All checks of one rank; raises AssertionError with the first that fails."""
    os.environ["GLOO_SOCKET_IFNAME"] = "lo"
    dist.init_process_group("gloo", init_method=f"file://{store}", rank=rank, world_size=max(WORLDS))
    for num_ranks in WORLDS:  # the first ranks: one set of processes for all
        group = dist.new_group(list(range(num_ranks)))
        if rank < num_ranks:
            check_world(rank, num_ranks, group)
    dist.destroy_process_group()


def check_world(rank: int, num_ranks: int, group: dist.ProcessGroup) -> None:
    for name in ringtree.algorithms.names("all_reduce"):
        schedule = ringtree.schedule("all_reduce", name, ranks=num_ranks)
        rounds = schedule.rounds(rank)
        check_same_bits(schedule, rounds, rank, group)
        for count in COUNTS:
            for op in FOLDS if count == 7 else ("sum",):
                for in_place in (True, False):
                    given = torch.from_numpy(own_data(rank, count))
                    result = given if in_place else torch.full_like(given, 77)
                    call = InterpretedCall(schedule, rounds, rank, group, given, result, count, op)
                    for repetition in range(2):
                        given.copy_(torch.from_numpy(own_data(rank, count)))
                        call.run()
                        same = np.array_equal(result.numpy(), expected_result(num_ranks, count, op))
                        assert same, f"{name} n={num_ranks} rank={rank} count={count} {op} in_place={in_place}"
                        untouched = in_place or np.array_equal(given.numpy(), own_data(rank, count))
                        assert untouched, f"{name} wrote to its input in repetition {repetition}"
    check_blocks(rank, num_ranks, group)


def check_blocks(rank: int, num_ranks: int, group: dist.ProcessGroup) -> None:
    """Every other collective, with the lab's data: a block in another's place is wrong."""
    for collective in (one for one in ringtree.algorithms.COLLECTIVES if one != "all_reduce"):
        root = num_ranks - 1 if collective in ROOTED else 0
        data = CollectiveData(collective, "float32", num_ranks, rank, 7, root=root)
        for name in ringtree.algorithms.names(collective):
            schedule = ringtree.schedule(collective, name, ranks=num_ranks, root=root)
            rounds = schedule.rounds(rank)
            for number, size in enumerate((4 * num_ranks, 4 * 7 * num_ranks, 4 * 1000 * num_ranks)):
                elements = data.elements(size)
                for in_place in (True, False) if data.shape.can_be_in_place else (False,):
                    source, result = np.zeros(elements.source, np.float32), np.zeros(elements.result, np.float32)
                    if in_place:
                        source, result = sides_in(collective, np.zeros(elements.whole, np.float32), rank, num_ranks)
                    given, taken = torch.from_numpy(source), torch.from_numpy(result)
                    data.write(source, number)
                    InterpretedCall(schedule, rounds, rank, group, given, taken, elements.count).run()
                    wrong = data.check(result, number)
                    assert wrong is None, f"{collective} {name} n={num_ranks} rank={rank} in_place={in_place}: {wrong}"


def check_same_bits(schedule: Any, rounds: list[Any], rank: int, group: dist.ProcessGroup) -> None:
    """Sums that depend on their order must come out alike on all ranks: the fold keeps the schedule's order."""
    mine = torch.randn(1001, generator=torch.Generator().manual_seed(rank))
    InterpretedCall(schedule, rounds, rank, group, mine, mine, 1001).run()
    first = mine.clone()
    dist.broadcast(first, 0, group=group)
    assert torch.equal(mine, first), f"{schedule.name} gives other bits on rank {rank} than on rank 0"


def be_rank(rank: int, folder: str) -> None:
    """check_rank() in a process of its own, which ends with 1 if it raises; what it raised is in a file."""
    try:
        check_rank(rank, f"{folder}/store")
    except BaseException:
        Path(folder, f"said{rank}").write_text(traceback.format_exc())
        raise


def test_every_algorithm_gives_numpys_sums(tmp_path: Path) -> None:
    ranks = [start(be_rank, rank, str(tmp_path)) for rank in range(max(WORLDS))]
    try:
        for rank in ranks:
            rank.join(LIMIT_S)
        ended = [rank.exitcode for rank in ranks]
    finally:
        for rank in ranks:
            rank.kill()
            rank.join()
            close(rank)
    assert ended == [0] * len(ranks), "\n".join(file.read_text() for file in sorted(tmp_path.glob("said*")))[-2000:]


def test_unknown_op_lists_what_exists() -> None:
    schedule = ringtree.schedule("all_reduce", "ring", ranks=2)
    data = torch.zeros(4)
    with pytest.raises(ringtree.UsageError, match="sum, prod, min, max"):
        InterpretedCall(schedule, [], 0, None, data, data, 4, op="avg")  # type: ignore[arg-type]
