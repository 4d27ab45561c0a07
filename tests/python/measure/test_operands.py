"""The memory of a launch's calls: each cell's own, or one that all share.

For: ringtree.measure.operands, and what CellLoop makes of it. Not for: the data in it (test_lab_exact_data.py).
"""

from __future__ import annotations

import numpy as np
import pytest

from ringtree.arms import Array, make_arm
from ringtree.arms.engine import EngineArm
from ringtree.measure.collective_data import CollectiveData
from ringtree.measure.messages import Answer, Memory, SetSpec, SetUp
from ringtree.measure.operands import Operands
from ringtree.measure.process_set import CellKey
from ringtree.measure.rank_set import RankSet


@pytest.fixture
def made(monkeypatch: pytest.MonkeyPatch) -> list[tuple[int, int]]:
    """Elements and number of the vectors that the engine's arms make."""
    said: list[tuple[int, int]] = []

    def make_buffers(arm: EngineArm, count: int, num_buffers: int) -> list[Array]:
        said.append((count, num_buffers))
        return [np.zeros(count, dtype=np.float32) for _ in range(num_buffers)]

    monkeypatch.setattr(EngineArm, "make_buffers", make_buffers)
    return said


def sides(operands: Operands, collective: str, size_bytes: int, batch: int) -> list[tuple[Array, Array]]:
    data = CollectiveData(collective, "float32", 2, 0, seed=1)
    return operands.sides(make_arm("auto"), data, size_bytes, batch)


def test_cells_have_memory_of_their_own(made: list[tuple[int, int]]) -> None:
    operands = Operands(Memory())
    for size in (1024, 4096):
        assert all(source is result for source, result in sides(operands, "all_reduce", size, 2))
    ((source, result),) = sides(operands, "all_to_all", 4096, 1)
    assert not np.shares_memory(source, result)
    assert made == [(256, 2), (1024, 2), (1024, 1), (1024, 1)]


def test_large_cells_share_one_vector_and_small_ones_a_batch(made: list[tuple[int, int]]) -> None:
    operands = Operands(Memory(largest={1: 4 << 20, 10: 64 << 10}))
    small, large, largest = (
        sides(operands, "all_reduce", size, batch) for size, batch in ((1024, 10), (128 << 10, 1), (4 << 20, 1))
    )
    assert [source.nbytes for source, _ in small] == [1024] * 10
    assert large[0][0].nbytes == 128 << 10
    assert np.shares_memory(large[0][0], largest[0][0])
    assert not np.shares_memory(small[0][0], small[1][0])
    assert all(source.base is result.base for source, result in (*small, *large, *largest))
    assert made == [(16 << 10, 10), (1 << 20, 1)]
    # What can't be in place has a result besides, and the same source.
    ((source, result),) = sides(operands, "all_to_all", 128 << 10, 1)
    assert np.shares_memory(source, large[0][0])
    assert not np.shares_memory(source, result)
    assert made[2:] == [(1 << 20, 1)]


def test_calls_are_out_of_place_where_the_launch_says_so(made: list[tuple[int, int]]) -> None:
    operands = Operands(Memory(in_place=False, largest={10: 64 << 10}))
    for source, result in sides(operands, "all_reduce", 1024, 10):
        assert not np.shares_memory(source, result)
    assert made == 2 * [(16 << 10, 10)], "as many results"


def test_cells_that_are_visited_in_turn_have_the_slowest_ranks_times(monkeypatch: pytest.MonkeyPatch) -> None:
    arm = SetUp(arm="a", name="ring", collective="all_reduce", op="sum", dtype="float32")
    ranks = RankSet([arm], SetSpec(num_ranks=2, seed=1, boundary="numpy"))
    answers = [Answer(times=[1.0, 5.0, 3.0, 4.0]), Answer(times=[2.0, 1.0, 3.5, 1.0])]
    monkeypatch.setattr(ranks, "ask", lambda command: answers)
    cells = [CellKey(size, "a", 1) for size in (8, 16)]
    for cell in cells:
        ranks.warm_up(cell, 0.0)
    assert ranks.visit_in_turn(cells, 1, 2) == [[2.0, 5.0], [3.5, 4.0]]
