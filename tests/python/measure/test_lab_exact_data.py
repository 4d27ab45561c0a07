"""Exact data: sums are what they must be, and every kind of misplacement shows.

For: ringtree.measure.exact_data, and that the timed loop finds a wrong result. Not for: real arms.
"""

from __future__ import annotations

import functools
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
import pytest

import ringtree
from ringtree.errors import UsageError
from ringtree.measure.cell_loop import CallNumbers, CellLoop
from ringtree.measure.collective_data import CollectiveData
from ringtree.measure.coordinator import Coordinator
from ringtree.measure.exact_data import (
    BITWISE_OPS,
    DTYPES,
    OPS,
    PERIOD,
    ExactData,
    check_exact,
    largest_value,
    stored_patterns,
)
from ringtree.measure.messages import Answer, Memory, WarmCell
from ringtree.measure.operands import Operands
from ringtree.results import WarmUp

Array = np.ndarray[Any, Any]


def all_inputs(dtype: str, num_ranks: int, count: int, call: int, op: str = "sum") -> list[Array]:
    inputs = []
    for rank in range(num_ranks):
        buffer = np.full(count, 77, dtype=dtype)
        ExactData(dtype, num_ranks, rank, seed=3, op=op).write(buffer, call)
        inputs.append(buffer)
    return inputs


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("num_ranks", [1, 3, 8])
def test_sums_are_exact_in_any_order(dtype: str, num_ranks: int) -> None:
    count = PERIOD + 1000
    inputs = all_inputs(dtype, num_ranks, count, call=5)
    data = ExactData(dtype, num_ranks, 0, seed=3)
    for order in (inputs, inputs[::-1]):
        total = order[0].copy()
        for other in order[1:]:
            total += other  # in the dtype itself, so rounding or overflow would show
        assert data.check(total, 5) is None


def multiplied(array: Array, factor: int) -> Array:
    return (array * factor).astype(array.dtype)


# What the ops are, on arrays of any dtype: not how ringtree.measure.exact_data says it.
COMBINE: dict[str, Callable[[Array, Array], Array]] = {
    "sum": lambda left, right: left + right,
    "prod": lambda left, right: left * right,
    "min": lambda left, right: np.where(left < right, left, right),
    "max": lambda left, right: np.where(left > right, left, right),
    "avg": lambda left, right: left + right,
    "premul_sum": lambda left, right: left + right,
    "band": lambda left, right: left & right,
    "bor": lambda left, right: left | right,
    "bxor": lambda left, right: left ^ right,
    "land": lambda left, right: ((left != 0) & (right != 0)).astype(left.dtype),
    "lor": lambda left, right: ((left != 0) | (right != 0)).astype(left.dtype),
    "lxor": lambda left, right: ((left != 0) != (right != 0)).astype(left.dtype),
}


def combined(op: str, inputs: list[Array], num_ranks: int) -> Array:
    """In the dtype itself, so rounding or overflow would show."""
    total = functools.reduce(COMBINE[op], inputs)
    assert total.dtype == inputs[0].dtype
    return (total / num_ranks).astype(total.dtype) if op == "avg" else total


DEFINED = [(dtype, op) for dtype in DTYPES for op in OPS if op not in BITWISE_OPS or "int" in dtype]


@pytest.mark.parametrize(("dtype", "op"), DEFINED)
@pytest.mark.parametrize("num_ranks", [1, 3, 8])
def test_every_op_is_exact_in_any_order_and_needs_every_rank(dtype: str, op: str, num_ranks: int) -> None:
    count = PERIOD + 1000
    factors = [ExactData(dtype, num_ranks, rank, seed=3, op=op).factor for rank in range(num_ranks)]
    own = all_inputs(dtype, num_ranks, count, 5, op)
    inputs = [multiplied(array, factor) for array, factor in zip(own, factors, strict=True)]
    data = ExactData(dtype, num_ranks, 0, seed=3, op=op)
    for order in (inputs, inputs[::-1]):
        assert data.count_wrong(combined(op, order, num_ranks), 5) == 0
    for rank in range(num_ranks if num_ranks > 1 else 0):
        without = inputs[:rank] + inputs[rank + 1 :]
        assert data.count_wrong(combined(op, without, num_ranks), 5) > 0, "without this rank"


@pytest.mark.parametrize("dtype", DTYPES)
def test_factors_are_the_rank_s_own_and_needed(dtype: str) -> None:
    own = all_inputs(dtype, 4, PERIOD, 5, "premul_sum")
    all_data = [ExactData(dtype, 4, rank, seed=3, op="premul_sum") for rank in range(4)]
    assert [data.factor for data in all_data] == [1, 2, 3, 1]
    assert ExactData(dtype, 4, 1, seed=3).factor == 1
    for factors in ([1, 1, 1, 1], [2, 1, 3, 1], [1, 2, 3, 2]):
        wrong = combined("sum", [multiplied(array, factor) for array, factor in zip(own, factors, strict=True)], 4)
        assert all_data[0].count_wrong(wrong, 5) > PERIOD // 2


@pytest.mark.parametrize("op", ["land", "lor", "lxor"])
def test_numbers_for_truth_values_are_no_truth_values(op: str) -> None:
    inputs = all_inputs("float32", 3, PERIOD, 0, op)
    data = ExactData("float32", 3, 0, seed=3, op=op)
    for bitwise in (np.bitwise_and, np.bitwise_or, np.bitwise_xor):
        as_bits = functools.reduce(bitwise, [array.astype("int32") for array in inputs]).astype("float32")
        assert data.count_wrong(as_bits, 0) > PERIOD // 4
    right = combined(op, inputs, 3)
    assert 0.4 < np.count_nonzero(right) / PERIOD < 0.6, "true as often as not"


def test_many_ranks_are_no_matter_where_nothing_grows() -> None:
    for op in ("band", "bor", "bxor", "land", "lor", "lxor"):
        check_exact("int8", 1000, op)
    *inputs, _ = stored_patterns("uint8", 200, 3, "band")  # of all ranks at once: each rank's data makes all of them
    data = ExactData("uint8", 200, 0, seed=3, op="band")
    assert data.count_wrong(combined("band", inputs, 200), 0) == 0
    assert data.count_wrong(combined("band", inputs[1:], 200), 0) > 0
    with pytest.raises(UsageError, match="band is not defined for float64"):
        check_exact("float64", 2, "band")
    with pytest.raises(UsageError, match="unknown dtype 'bool'"):
        check_exact("bool", 2, "land")


def test_every_single_wrong_element_is_found_with_its_place() -> None:
    count = 2 * PERIOD + 17
    data = ExactData("float32", 2, 0, seed=3)
    right = np.add(*all_inputs("float32", 2, count, call=0))
    for index in (0, 1, PERIOD - 1, PERIOD, count - 1):
        wrong = right.copy()
        wrong[index] += 1
        found = data.check(wrong, 0)
        assert found is not None
        assert found.index == index
        assert (found.expected, found.found) == (float(right[index]), float(wrong[index]))
    right[9] = np.nan
    found = data.check(right, 0)
    assert found is not None
    assert found.index == 9


def test_wrong_elements_are_counted() -> None:
    count = 2 * PERIOD + 17
    data = ExactData("float32", 2, 0, seed=3)
    right = np.add(*all_inputs("float32", 2, count, call=0))
    assert data.count_wrong(right, 0) == 0
    for index in (0, PERIOD - 1, PERIOD, count - 1):
        right[index] += 1
    right[9] = np.nan
    assert data.count_wrong(right, 0) == 5
    assert data.count_wrong(right[:0], 0) == 0


def test_data_moved_or_left_over_does_not_pass() -> None:
    count = 1 << 18
    data = ExactData("float32", 2, 0, seed=3)
    right = np.add(*all_inputs("float32", 2, count, call=0))
    for shift in (1, 16, 1024, 1 << 14, 1 << 16):
        assert data.check(np.roll(right, shift), 0) is not None
    assert data.check(right, 1) is not None, "the result of an earlier call must be wrong in the next"
    assert data.check(all_inputs("float32", 2, count, call=0)[0], 0) is not None, "an input is not a result"


def test_bounds() -> None:
    assert largest_value("int8", 8) * 8 <= 127
    assert largest_value("float16", 4) * 4 <= 2048
    with pytest.raises(UsageError, match="too many"):
        largest_value("int8", 128)
    with pytest.raises(UsageError, match="float64"):
        largest_value("complex64", 2)
    with pytest.raises(UsageError, match="unknown op 'mean'"):
        check_exact("float32", 2, "mean")
    check_exact("int8", 42, "premul_sum")
    with pytest.raises(UsageError, match="43 ranks are too many for exact premul_sums"):
        check_exact("int8", 43, "premul_sum")
    check_exact("int8", 11, "avg")
    with pytest.raises(UsageError, match="12 ranks are too many for exact averages"):
        check_exact("int8", 12, "avg")
    with pytest.raises(UsageError, match="rank 2 is not within"):
        ExactData("float32", 2, 2, seed=3)


class LoneRank:
    """A coordinator for one rank."""

    def ready(self) -> None: ...

    def barrier(self) -> None: ...

    def decide(self, values: Sequence[int]) -> list[int]:
        return list(values)

    def all_true(self, mine: bool) -> bool:
        return mine


class OneRankArm:
    """An all_reduce of one rank is nothing to do; `spoil` is called with (call number, buffer)."""

    name = "one"

    def __init__(self, spoil: Any = None) -> None:
        self.spoil, self.num_calls, self.num_made = spoil, 0, 0

    def make_buffers(self, count: int, num_buffers: int) -> list[Array]:
        self.num_made += 1
        return [np.zeros(count, dtype=np.float32) for _ in range(num_buffers)]

    def bind(self, source: Array, result: Array, root: int = 0) -> Callable[[], None]:
        assert source is result

        def call() -> None:
            if self.spoil is not None:
                self.spoil(self.num_calls, result)
            self.num_calls += 1

        return call

    def executed(self, call: object) -> dict[str, Any]:
        return {"algorithm": "one"}


def make_loop(arm: Any, batch: int = 2, memory: Memory | None = None, budget: float = 1.0) -> CellLoop:
    cell = WarmCell(cell=0, arm="one", size_bytes=4000, batch=batch, budget=budget)
    data = CollectiveData("all_reduce", "float32", 1, 0, seed=1)
    return CellLoop(arm, data, LoneRank(), cell, CallNumbers(), Operands(memory or Memory()))


def test_loop_times_every_iteration_and_accepts_right_results() -> None:
    arm = OneRankArm()
    loop = make_loop(arm)
    warm = loop.warm_up()
    assert warm.warm_up is not None
    assert warm.warm_up.num_iterations >= 2
    assert warm.seconds > 0
    assert warm.times == []
    visits = [loop.visit(1, 4), loop.visit(1, 3)]
    assert [len(visit.times) for visit in visits] == [4, 3]
    for answer in (warm, *visits):
        assert (answer.first_wrong, answer.error, answer.executed) == (None, None, {"algorithm": "one"})
        assert all(seconds > 0 for seconds in answer.times)
    assert arm.num_calls == 2 * (warm.warm_up.num_iterations + 2 + 7)
    assert arm.num_made == 1


def test_no_rank_checks_or_writes_before_all_have_stopped_their_clocks(monkeypatch: pytest.MonkeyPatch) -> None:
    happened: list[str] = []
    loop = make_loop(OneRankArm(lambda _, result: happened.append("call")), batch=1)
    for name in ("ready", "barrier"):
        monkeypatch.setattr(LoneRank, name, lambda self, name=name: happened.append(name))
    for name in ("write", "check"):
        monkeypatch.setattr(CollectiveData, name, lambda *ignored, name=name: happened.append(name))
    loop.visit(1, 2)
    assert happened == ["write", "ready", "call", "barrier", "check"] * 3


def test_a_call_that_raises_on_one_rank_leaves_an_error_on_all_of_them() -> None:
    store = ringtree.ThreadStore()

    def run(rank: int) -> tuple[Answer, bool]:
        def call(number: int, result: Array) -> None:
            if rank == 1:
                raise RuntimeError("no more memory")

        with ringtree.init(rank=rank, world_size=2, store=store, timeout=20) as comm:
            sync = Coordinator(comm)
            data = CollectiveData("all_reduce", "float32", 2, rank, seed=1)
            cell = WarmCell(cell=0, arm="one", size_bytes=4000, batch=1, budget=1.0)
            answer = CellLoop(OneRankArm(call), data, sync, cell, CallNumbers(), Operands(Memory())).warm_up()
            return answer, sync.all_true(True)  # the ranks still agree on what comes next

    with ThreadPoolExecutor(2) as threads:
        answers = list(threads.map(run, range(2)))
    assert [answer.error for answer, _ in answers] == ["failed on another rank", "RuntimeError: no more memory"]
    assert [agreed for _, agreed in answers] == [True, True]


def test_what_only_the_first_iteration_does_is_not_in_the_time_of_one(monkeypatch: pytest.MonkeyPatch) -> None:
    now = [0.0]

    def call(number: int, result: Array) -> None:
        now[0] += 100.0 if number == 0 else 1.0

    loop = make_loop(OneRankArm(call), batch=1, budget=1e9)
    monkeypatch.setattr(time, "perf_counter", lambda: now[0])
    warm = loop.warm_up()
    assert warm.warm_up is not None
    assert warm.warm_up.num_iterations > 2
    assert warm.seconds == 1.0


def test_operands_are_made_anew_where_memory_does_not_hold_them_all() -> None:
    arm = OneRankArm()
    loop = make_loop(arm, memory=Memory(keep=False))
    loop.warm_up()
    loop.visit(0, 1)
    loop.visit(0, 1)
    assert arm.num_made == 3


def test_without_a_budget_a_loop_warms_up_once_and_what_is_not_checked_is_not_found() -> None:
    def spoil(number: int, buffer: np.ndarray[Any, Any]) -> None:
        if number >= 2:
            buffer[123] += 1

    arm = OneRankArm(spoil)
    loop = make_loop(arm, budget=0.0)
    assert loop.warm_up().warm_up == WarmUp(num_iterations=1, ended="limit")
    assert arm.num_calls == 2
    assert len(loop.visit(1, 3, check=False).times) == 3
    assert arm.num_calls == 2 * (1 + 1 + 3)
    assert loop.visit(0, 1, check=False).first_wrong is None
    assert loop.visit(0, 1).first_wrong is not None


def test_loop_finds_one_wrong_element_of_one_call() -> None:
    def spoil(number: int, buffer: np.ndarray[Any, Any]) -> None:
        if number == first_timed + 5:
            buffer[123] += 1

    first_timed = 1 << 40
    arm = OneRankArm(spoil)
    loop = make_loop(arm)
    loop.warm_up()
    first_timed = arm.num_calls
    assert loop.visit(0, 2).first_wrong is None
    wrong = loop.visit(0, 5).first_wrong
    assert wrong is not None
    assert (wrong.index, wrong.iteration, wrong.call) == (123, 2, 1), "iterations count from visit to visit"


def test_a_wrong_element_of_an_untimed_iteration_counts_too() -> None:
    def spoil(number: int, buffer: np.ndarray[Any, Any]) -> None:
        if number == 0:
            buffer[5] += 1

    wrong = make_loop(OneRankArm(spoil)).warm_up().first_wrong
    assert wrong is not None
    assert wrong.iteration == -1


def test_an_arm_that_raises_is_disqualified_not_fatal() -> None:
    def spoil(number: int, buffer: np.ndarray[Any, Any]) -> None:
        raise UsageError("no such thing")

    loop = make_loop(OneRankArm(spoil))
    assert loop.warm_up() == Answer(error="UsageError: no such thing")
