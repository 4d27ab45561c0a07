"""The rounds of one rank on a clock that only calls move: order, dropping, times, reports; and the data of each
collective.

For: ringtree.tune.rank_rounds, visits and operands. Not for: several ranks (test_tune_launch.py).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from tune_support import NEAR, configuration, make_request

import ringtree
from ringtree.errors import UsageError
from ringtree.lab.messages import ProgressReport
from ringtree.tune.candidates import LEAVE_TO_ENGINE
from ringtree.tune.operands import COLLECTIVES, OUT_OF_PLACE, RankData, make_call
from ringtree.tune.rank_rounds import TuneRounds
from ringtree.tune.records import CellPlan, Chosen, Dropped, Launch, Measured, Round, TuneSpec
from ringtree.tune.visits import visit_of, visit_order
from ringtree.tune.world import World

Said = Measured | ProgressReport


class FakeEngine:
    """A communicator of one rank: its calls move a clock and nothing else, as an all_reduce of one rank does."""

    def __init__(self, seconds: Callable[[str, int], float]) -> None:
        self._seconds = seconds
        self.now = 0.0
        self.calls: list[tuple[str, int]] = []
        self.in_place: set[tuple[str, bool]] = set()  # collectives, and whether they were
        self._last = {"algorithm": "", "protocol": ""}
        self.execute_instead: dict[str, str] = {}

    def all_reduce(self, array: Any, op: str, out: Any, algorithm: str, protocol: str = "simple", **how: Any) -> None:
        self.calls.append((algorithm, array.nbytes))
        self.in_place.add(("all_reduce", np.shares_memory(array, out)))
        if algorithm == "broken":
            raise UsageError("broken can't")
        out[:] = array
        if algorithm == "wrong":
            out[len(out) // 2] += 1
        self.now += self._seconds(algorithm, array.nbytes)
        self._last = {"algorithm": self.execute_instead.get(algorithm, algorithm), "protocol": protocol}

    def all_to_all(self, array: Any, out: Any, algorithm: str, protocol: str = "simple", **how: Any) -> None:
        self.in_place.add(("all_to_all", np.shares_memory(array, out)))
        self.now += self._seconds(algorithm, array.nbytes)
        out[:] = array
        self._last = {"algorithm": algorithm, "protocol": protocol}

    def last_call(self) -> dict[str, str]:
        return self._last

    def choice(self, collective: str, count: int, dtype: str) -> tuple[str, str, int, bool, int, str]:
        return "good", "simple", 0, False, 1, f"{collective} of {count} {dtype}"


class OneRank:
    """The other ranks, of which there are none."""

    def __init__(self) -> None:
        self.num_probes = 0

    def ready(self) -> None:
        pass

    def decide(self, values: list[int]) -> list[int]:
        return values

    def all_true(self, mine: bool) -> bool:
        return mine

    def slowest(self, seconds: list[float]) -> list[float]:
        return seconds

    def probe(self) -> float | None:
        self.num_probes += 1
        return NEAR


class Agreeing(OneRank):
    """Another rank of several: what one rank alone makes of the data is wrong, and nobody minds."""

    def all_true(self, mine: bool) -> bool:
        return True


def make_spec(sizes: list[int], labels: list[str], rank: int = 0, **changes: Any) -> TuneSpec:
    candidates = [LEAVE_TO_ENGINE if label == "auto" else configuration(label) for label in labels]
    fields: dict[str, Any] = {
        "number": 3,
        "stage": "screen",
        "world": World(num_ranks=1),
        "cells": [CellPlan(collective="all_reduce", size_bytes=size, candidates=candidates) for size in sizes],
        "seconds": 0.0,
        "min_sweeps": 2,
        "max_sweeps": 5,
        "drop_above": None,
        **changes,
    }
    launch = Launch.model_validate(fields)
    return TuneSpec(
        launch=launch, first_sweep=0, request=make_request(), rank=rank, session="s", process_group=1, timeout=1.0
    )


def measure(spec: TuneSpec, seconds: Callable[[str, int], float], **instead: str) -> tuple[FakeEngine, list[Said]]:
    engine, said = FakeEngine(seconds), list[Said]()
    engine.execute_instead = instead
    TuneRounds(spec, engine, OneRank(), said.append, lambda: engine.now).run()
    return engine, said


def of_kind(said: list[Said], kind: type) -> list[Any]:
    return [one for one in said if isinstance(one, kind)]


def test_a_time_is_that_of_one_call() -> None:
    sizes = [8, 64 << 10, 128 << 10, 4 << 20]
    _, said = measure(make_spec(sizes, ["good/simple", "slow/simple"]), lambda name, size: len(name) * size)
    rounds = of_kind(said, Round)
    for size in sizes:
        mine = [one for one in rounds if one.size_bytes == size]
        assert len(mine) == 2 * visit_of(size).num_rounds
        assert [one.round for one in mine] == list(range(len(mine)))
        assert all(one.seconds == {"good/simple": 4.0 * size, "slow/simple": 4.0 * size} for one in mine)
        assert all(set(one.handoffs) == {NEAR} for one in mine)
        assert all(len(one.handoffs) == (3 if size == 4 << 20 else 2) for one in mine)
    assert {one.launch for one in rounds} == {3}


def test_candidates_of_a_round_run_one_after_the_other_in_shuffled_order() -> None:
    labels = ["a/simple", "b/simple", "c/simple"]
    engine, _ = measure(make_spec([4 << 20], labels, min_sweeps=12, max_sweeps=12), lambda name, size: 1.0)
    calls = [name for name, _ in engine.calls][2 * len(labels) :]  # the first two calls of each warm it up
    visits = [calls[i] for i in range(0, len(calls), 2)]
    assert calls[::2] == calls[1::2], "an untimed and a timed one"
    rounds = [tuple(visits[i : i + 3]) for i in range(0, len(visits), 3)]
    assert all(sorted(order) == ["a", "b", "c"] for order in rounds)
    assert len(set(rounds)) > 2


def test_orders_are_the_same_everywhere_and_differ_from_turn_to_turn() -> None:
    assert visit_order(1, 2, 3, ["a", "b", "c", "d"]) == visit_order(1, 2, 3, ["d", "c", "b", "a"])
    assert len({tuple(visit_order(1, 2, turn, ["a", "b", "c", "d"])) for turn in range(20)}) > 10


def test_sweeps_go_on_as_long_as_there_is_time() -> None:
    def num_sweeps(**changes: Any) -> int:
        _, said = measure(make_spec([1 << 20], ["good/simple"], **changes), lambda name, size: 1.0)
        return len(of_kind(said, Round)) // visit_of(1 << 20).num_rounds

    # A sweep is two rounds of four calls; warming up is two calls.
    assert num_sweeps(seconds=0.0) == 2
    assert num_sweeps(seconds=2.0 + 3 * 8.0) == 3
    assert num_sweeps(seconds=1e9) == 5
    assert num_sweeps(seconds=1e9, min_sweeps=0, max_sweeps=0) == 0


def test_hopeless_candidates_are_dropped_when_they_are_warm() -> None:
    times = {"good": 1.0, "slow": 2.9, "hopeless": 3.1}
    labels = [f"{name}/simple" for name in times]
    spec = make_spec([1 << 20, 2 << 20, 4 << 20], labels, drop_above=3.0)
    engine, said = measure(spec, lambda name, size: times[name])
    dropped = of_kind(said, Dropped)
    assert [(one.size_bytes >> 20, one.label) for one in dropped] == [(size, "hopeless/simple") for size in (1, 2, 4)]
    assert dropped[0].reason == "its warm call took 3.1 times as long as the best"
    assert dropped[2].reason == "at the size before it took 3.1 times as long as the best"
    assert [size >> 20 for name, size in engine.calls if name == "hopeless"] == [1, 1, 1], "above 1 MB not even tried"
    assert all(set(one.seconds) == {"good/simple", "slow/simple"} for one in of_kind(said, Round))
    _, said = measure(make_spec([1 << 20], labels), lambda name, size: times[name])
    assert not of_kind(said, Dropped)


def test_a_warm_call_that_was_disturbed_drops_nobody() -> None:
    """The second call of "good" takes ten times as long as all others."""
    calls: list[str] = []

    def seconds(name: str, size: int) -> float:
        calls.append(name)
        return 10.0 if calls.count("good") == 2 and name == "good" else 1.0

    _, said = measure(make_spec([1 << 20], ["good/simple", "other/simple"], drop_above=3.0), seconds)
    assert not of_kind(said, Dropped)
    assert of_kind(said, Round)[0].seconds["good/simple"] == 1.0


def test_auto_is_neither_the_best_nor_dropped() -> None:
    times = {"good": 1.0, "auto": 0.01, "slow": 2.0}
    spec = make_spec([8], ["auto", "good/simple", "slow/simple"], drop_above=1.5)
    _, said = measure(spec, lambda name, size: times[name])
    assert [one.label for one in of_kind(said, Dropped)] == ["slow/simple"]
    (chosen,) = of_kind(said, Chosen)
    assert (chosen.label, chosen.reason) == ("good/simple", "all_reduce of 2 float32")


def test_what_fails_lies_or_is_something_else_is_left_out() -> None:
    labels = ["good/simple", "broken/simple", "wrong/simple", "liar/simple"]
    _, said = measure(make_spec([1024], labels), lambda name, size: 1.0, liar="good")
    assert {one.label: one.reason for one in of_kind(said, Dropped)} == {
        "broken/simple": "UsageError: broken can't",
        "wrong/simple": "its result was wrong",
        "liar/simple": "good was executed instead",
    }
    assert all(set(one.seconds) == {"good/simple"} for one in of_kind(said, Round))


def test_a_launch_without_any_candidate_left_ends() -> None:
    _, said = measure(make_spec([1024], ["broken/simple"]), lambda name, size: 1.0)
    assert [type(one) for one in said if not isinstance(one, ProgressReport)] == [Dropped]


def test_only_rank_0_reports() -> None:
    spec = make_spec([8], ["good/simple"], rank=0)
    assert of_kind(measure(spec, lambda name, size: 1.0)[1], Round)
    engine, said = FakeEngine(lambda name, size: 1.0), list[Said]()
    other = spec.model_copy(update={"rank": 1, "launch": spec.launch.model_copy(update={"world": World(num_ranks=2)})})
    TuneRounds(other, engine, Agreeing(), said.append, lambda: engine.now).run()
    assert len(engine.calls) > 20, "it measured all the same"
    assert said == []


def test_vectors_are_what_peers_can_read_if_the_launch_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    made: list[int] = []

    def empty(shape: tuple[int], dtype: str) -> Any:
        made.append(shape[0] * np.dtype(dtype).itemsize)
        return np.zeros(shape, dtype=dtype)

    monkeypatch.setattr(ringtree, "empty", empty)
    sizes = [1024, 64 << 10, 4 << 20]
    measure(make_spec(sizes, ["good/simple"]), lambda name, size: 1.0)
    assert made == []
    world = World(num_ranks=1, shared_buffers=True)
    _, said = measure(make_spec(sizes, ["good/simple"], world=world), lambda name, size: 1.0)
    assert made == 2 * [4 << 20, *[64 << 10] * 10], "one for large cells, ten that small cells share; as many results"
    assert not of_kind(said, Dropped)


def test_what_cannot_be_in_place_has_results_of_its_own_and_the_others_none() -> None:
    candidates = [configuration("good/simple")]
    cells = [
        CellPlan(collective=collective, size_bytes=size, candidates=candidates)
        for collective in ("all_reduce", "all_to_all")
        for size in (1024, 4 << 20)
    ]
    engine, said = measure(make_spec([], [], cells=cells), lambda name, size: 1.0)
    assert engine.in_place == {("all_reduce", True), ("all_to_all", False)}
    assert not of_kind(said, Dropped)
    assert {one.collective for one in of_kind(said, Round)} == {"all_reduce", "all_to_all"}


def run_collective(collective: str, vectors: list[Any], results: list[Any], num_ranks: int) -> None:
    """What each collective makes of the ranks' vectors, the obvious way; results may be the vectors."""
    blocks = [
        slice(len(vectors[0]) // num_ranks * rank, len(vectors[0]) // num_ranks * (rank + 1))
        for rank in range(num_ranks)
    ]
    before = [vector.copy() for vector in vectors]
    total = np.sum(before, axis=0, dtype=vectors[0].dtype)
    for rank, result in enumerate(results):
        if collective == "all_reduce" or (collective == "reduce" and rank == 0):
            result[:] = total
        elif collective == "reduce_scatter":
            result[blocks[rank]] = total[blocks[rank]]
        elif collective == "all_gather" or (collective == "gather" and rank == 0):
            for other in range(num_ranks):
                result[blocks[other]] = before[other][blocks[other]]
        elif collective == "all_to_all":
            for other in range(num_ranks):
                result[blocks[other]] = before[other][blocks[rank]]
        elif collective == "scatter":
            result[blocks[rank]] = before[0][blocks[rank]]
        elif collective == "broadcast":
            result[:] = before[0]


@pytest.mark.parametrize("collective", COLLECTIVES)
def test_a_right_result_is_right_and_any_other_is_wrong(collective: str) -> None:
    num_ranks, elements, wrong = 3, 3 * 1000, 0
    data = [RankData("float32", num_ranks, rank, seed=5) for rank in range(num_ranks)]
    vectors = [np.zeros(elements, dtype=np.float32) for _ in range(num_ranks)]
    results = [vector.copy() for vector in vectors] if collective in OUT_OF_PLACE else vectors
    for call in range(3):
        for rank in range(num_ranks):
            data[rank].write(collective, vectors[rank], call)
        if call:  # without the collective the earlier result is stale somewhere
            assert not all(data[rank].is_right(collective, results[rank], call) for rank in range(num_ranks))
        run_collective(collective, vectors, results, num_ranks)
        assert all(data[rank].is_right(collective, results[rank], call) for rank in range(num_ranks))
    for rank in range(num_ranks):
        for index in (0, 1000, 2999):
            results[rank][index] += 1
            wrong += not data[rank].is_right(collective, results[rank], 2)
            results[rank][index] -= 1
    assert wrong == {"reduce": 3, "reduce_scatter": 3, "gather": 3, "scatter": 3}.get(collective, 9)


@pytest.mark.parametrize("collective", ["all_gather", "all_to_all", "scatter"])
def test_blocks_in_each_others_place_are_wrong(collective: str) -> None:
    num_ranks, block = 3, 1000
    data = [RankData("float32", num_ranks, rank, seed=5) for rank in range(num_ranks)]
    vectors = [np.zeros(num_ranks * block, dtype=np.float32) for _ in range(num_ranks)]
    for rank in range(num_ranks):
        data[rank].write(collective, vectors[rank], 0)
    results = [vector.copy() for vector in vectors]
    run_collective(collective, vectors, results, num_ranks)
    for rank, result in enumerate(results):
        assert data[rank].is_right(collective, result, 0)
        assert not data[rank].is_right(collective, np.roll(result, block), 0)


def test_a_call_forces_its_configuration() -> None:
    class Recorder:
        def __getattr__(self, name: str) -> Callable[..., Any]:
            return lambda *operands, **how: (name, operands, how)

    data, vector = RankData("float32", 2, 1, seed=5), np.arange(8, dtype=np.float32)
    one = configuration("ring/ll").model_copy(update={"slice_bytes": 16384, "streaming": True})
    name, operands, how = make_call(Recorder(), "reduce_scatter", vector, vector, data, one)()
    assert name == "reduce_scatter"
    assert operands[1].tolist() == [4, 5, 6, 7]
    assert np.shares_memory(operands[1], vector)
    assert how == {"algorithm": "ring", "protocol": "ll", "slice_bytes": 16384, "streaming": True}
    _, operands, how = make_call(Recorder(), "all_reduce", vector, vector[:4], data, LEAVE_TO_ENGINE)()
    assert operands[0] is vector
    assert operands[2].tolist() == [0, 1, 2, 3]
    assert how == {
        "algorithm": "auto",
        "protocol": "auto",
        "slice_bytes": 0,
        "streaming": None,
    }
    _, operands, _ = make_call(Recorder(), "all_to_all", vector, vector[::-1], data, one)()
    assert [operand.tolist() for operand in operands] == [[0, 1, 2, 3, 4, 5, 6, 7], [7, 6, 5, 4, 3, 2, 1, 0]]
    _, operands, _ = make_call(Recorder(), "scatter", vector, vector, data, one)()
    assert operands[1].tolist() == [4, 5, 6, 7]
    with pytest.raises(UsageError, match="'scan' can't be tuned; there are: all_reduce"):
        make_call(Recorder(), "scan", vector, vector, data, one)
