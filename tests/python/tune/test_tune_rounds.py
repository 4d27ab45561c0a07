"""The rounds of a launch over fake ranks, whose calls move a clock: order, dropping, times, what is said.

For: ringtree.tune.rounds, visits and the names of arms. Not for: processes (test_tune_launch.py).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from tune_support import NEAR, configuration, make_request

from ringtree.arms import Setting, make_arm
from ringtree.comm.communicator import Choice
from ringtree.comm.profile_format import Configuration
from ringtree.measure.messages import ProgressReport
from ringtree.measure.process_set import CellKey, Visited
from ringtree.results import WrongElement
from ringtree.tune.candidates import LEAVE_TO_ENGINE
from ringtree.tune.launch import engine_name
from ringtree.tune.measured import CellPlan, Chosen, Dropped, Measured, Round, TuneLaunch
from ringtree.tune.rounds import TuneRounds
from ringtree.tune.visits import visit_of, visit_order
from ringtree.tune.world import World

Said = Measured | ProgressReport
WRONG = WrongElement(rank=1, iteration=-1, call=0, index=2, expected=1.0, found=2.0)


class FakeRanks:
    """Two ranks, one of them slower: a call of `seconds(algorithm, size)` moves the clock. `visits`: what was asked,
    as (algorithms, size, untimed, timed) iterations of a batch."""

    def __init__(self, seconds: Callable[[str, int], float]) -> None:
        self._seconds, self.now = seconds, 0.0
        self.calls: list[tuple[str, int]] = []
        self.visits: list[tuple[list[str], int, int, int]] = []
        self.execute_instead: dict[str, str] = {}
        self.probes = 0

    def ready(self) -> dict[str, str]:
        return {"all_reduce refused/simple": "UsageError: there is no such arm"}

    def warm_up(self, cell: CellKey, budget: float) -> Visited:
        assert budget == 0, "once"
        name = self._call(cell)
        executed = {"algorithm": self.execute_instead.get(name, name), "protocol": "simple"}
        error = "UsageError: broken can't" if name == "broken" else None
        return Visited([[], []], executed, WRONG if name == "wrong" else None, error=error)

    def visit_in_turn(self, cells: Sequence[CellKey], untimed: int, timed: int) -> list[list[float]]:
        self.visits.append(([_name(cell) for cell in cells], cells[0].size_bytes, untimed, timed))
        return [[self._timed(cell) for _ in range(untimed + timed)][untimed:] for cell in cells]

    def choice(self, cell: CellKey, shared_buffers: bool) -> Choice:
        return Choice("good", "simple", 0, False, 1, f"{cell.arm} of {cell.size_bytes}")

    def measure(self) -> float:
        """The probe."""
        self.probes += 1
        return NEAR

    def _timed(self, cell: CellKey) -> float:
        start = self.now
        for _ in range(cell.batch):
            self._call(cell)
        return self.now - start

    def _call(self, cell: CellKey) -> str:
        name = _name(cell)
        assert name != "refused"
        self.calls.append((name, cell.size_bytes))
        self.now += self._seconds(name, cell.size_bytes)
        return name


def _name(cell: CellKey) -> str:
    return cell.arm.removeprefix("all_reduce ").split("/")[0]


def make_launch(sizes: list[int], labels: list[str], **changes: Any) -> TuneLaunch:
    candidates = [LEAVE_TO_ENGINE if label == "auto" else configuration(label) for label in labels]
    fields: dict[str, Any] = {
        "number": 3,
        "stage": "screen",
        "world": World(num_ranks=2),
        "cells": [CellPlan(collective="all_reduce", size_bytes=size, candidates=candidates) for size in sizes],
        "seconds": 0.0,
        "min_sweeps": 2,
        "max_sweeps": 5,
        "drop_above": None,
        **changes,
    }
    return TuneLaunch.model_validate(fields)


def measure(
    launch: TuneLaunch, seconds: Callable[[str, int], float], first_sweep: int = 0, **instead: str
) -> tuple[FakeRanks, list[Said]]:
    ranks, said = FakeRanks(seconds), list[Said]()
    ranks.execute_instead = instead
    TuneRounds(make_request(), launch, first_sweep, ranks, said.append, ranks, lambda: ranks.now).run()
    return ranks, said


def of_kind(said: list[Said], kind: type) -> list[Any]:
    return [one for one in said if isinstance(one, kind)]


def test_a_time_is_that_of_one_call() -> None:
    sizes = [8, 64 << 10, 128 << 10, 4 << 20]
    _, said = measure(make_launch(sizes, ["good/simple", "slow/simple"]), lambda name, size: len(name) * size)
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
    ranks, _ = measure(make_launch([4 << 20], labels, min_sweeps=12, max_sweeps=12), lambda name, size: 1.0)
    visits = ranks.visits[len(labels) :]  # the first of each ends its warm-up
    assert {tuple(how) for _, *how in visits} == {(4 << 20, 1, 1)}, "an untimed and a timed one"
    names = [name for (name,), *_ in visits]
    rounds = [tuple(names[i : i + 3]) for i in range(0, len(names), 3)]
    assert all(sorted(order) == ["a", "b", "c"] for order in rounds)
    assert len(set(rounds)) > 2


def test_a_round_of_a_small_size_is_one_command() -> None:
    labels = ["a/simple", "b/simple", "c/simple"]
    ranks, said = measure(make_launch([8], labels), lambda name, size: 1.0)
    visits = ranks.visits[len(labels) :]
    assert len(visits) == len(of_kind(said, Round)) == 2 * visit_of(8).num_rounds
    assert all((sorted(names), untimed, timed) == (["a", "b", "c"], 1, 3) for names, _, untimed, timed in visits)
    assert len({tuple(names) for names, *_ in visits}) > 2
    assert ranks.probes == 2 * len(visits)


def test_what_goes_on_counts_its_rounds_on() -> None:
    _, said = measure(make_launch([8], ["a/simple"]), lambda name, size: 1.0, first_sweep=3)
    assert [one.round for one in of_kind(said, Round)] == list(range(12, 20))


def test_orders_are_the_same_everywhere_and_differ_from_turn_to_turn() -> None:
    assert visit_order(1, 2, 3, ["a", "b", "c", "d"]) == visit_order(1, 2, 3, ["d", "c", "b", "a"])
    assert len({tuple(visit_order(1, 2, turn, ["a", "b", "c", "d"])) for turn in range(20)}) > 10


def test_sweeps_go_on_as_long_as_there_is_time() -> None:
    def num_sweeps(**changes: Any) -> int:
        _, said = measure(make_launch([1 << 20], ["good/simple"], **changes), lambda name, size: 1.0)
        return len(of_kind(said, Round)) // visit_of(1 << 20).num_rounds

    # A sweep is two rounds of four calls; warming up is two calls.
    assert num_sweeps(seconds=0.0) == 2
    assert num_sweeps(seconds=2.0 + 3 * 8.0) == 3
    assert num_sweeps(seconds=1e9) == 5
    assert num_sweeps(seconds=1e9, min_sweeps=0, max_sweeps=0) == 0


def test_hopeless_candidates_are_dropped_when_they_are_warm() -> None:
    times = {"good": 1.0, "slow": 2.9, "hopeless": 3.1}
    labels = [f"{name}/simple" for name in times]
    launch = make_launch([1 << 20, 2 << 20, 4 << 20], labels, drop_above=3.0)
    ranks, said = measure(launch, lambda name, size: times[name])
    dropped = of_kind(said, Dropped)
    assert [(one.size_bytes >> 20, one.label) for one in dropped] == [(size, "hopeless/simple") for size in (1, 2, 4)]
    assert dropped[0].reason == "its warm call took 3.1 times as long as the best"
    assert dropped[2].reason == "at the size before it took 3.1 times as long as the best"
    assert [size >> 20 for name, size in ranks.calls if name == "hopeless"] == [1, 1, 1], "above 1 MB not even tried"
    assert all(set(one.seconds) == {"good/simple", "slow/simple"} for one in of_kind(said, Round))
    _, said = measure(make_launch([1 << 20], labels), lambda name, size: times[name])
    assert not of_kind(said, Dropped)


def test_a_warm_call_that_was_disturbed_drops_nobody() -> None:
    """The second call of "good" takes ten times as long as all others."""
    calls: list[str] = []

    def seconds(name: str, size: int) -> float:
        calls.append(name)
        return 10.0 if calls.count("good") == 2 and name == "good" else 1.0

    _, said = measure(make_launch([1 << 20], ["good/simple", "other/simple"], drop_above=3.0), seconds)
    assert not of_kind(said, Dropped)
    assert of_kind(said, Round)[0].seconds["good/simple"] == 1.0


def test_auto_is_neither_the_best_nor_dropped() -> None:
    times = {"good": 1.0, "auto": 0.01, "slow": 2.0}
    launch = make_launch([8], ["auto", "good/simple", "slow/simple"], drop_above=1.5)
    _, said = measure(launch, lambda name, size: times[name])
    assert [one.label for one in of_kind(said, Dropped)] == ["slow/simple"]
    (chosen,) = of_kind(said, Chosen)
    assert (chosen.label, chosen.reason) == ("good/simple", "all_reduce auto of 8")


def test_what_fails_lies_or_is_something_else_is_left_out() -> None:
    labels = ["good/simple", "broken/simple", "wrong/simple", "liar/simple", "refused/simple"]
    _, said = measure(make_launch([1024], labels), lambda name, size: 1.0, liar="good")
    assert {one.label: one.reason for one in of_kind(said, Dropped)} == {
        "broken/simple": "UsageError: broken can't",
        "wrong/simple": "its result was wrong",
        "liar/simple": "good was executed instead",
        "refused/simple": "UsageError: there is no such arm",
    }
    assert all(set(one.seconds) == {"good/simple"} for one in of_kind(said, Round))


def test_a_launch_without_any_candidate_left_ends() -> None:
    _, said = measure(make_launch([1024], ["broken/simple"]), lambda name, size: 1.0)
    assert [type(one) for one in said if not isinstance(one, ProgressReport)] == [Dropped]


def test_a_call_forces_its_configuration() -> None:
    class Recorder:
        def __getattr__(self, name: str) -> Callable[..., Any]:
            return lambda *operands, **how: (name, operands, how)

    def call(one: Configuration, collective: str, *sides: Any, shared_buffers: bool = False) -> Any:
        made: list[dict[str, Any]] = []

        def communicator(**how: Any) -> Recorder:
            made.append(how)
            return Recorder()

        arm = make_arm(engine_name(one, shared_buffers))
        setting = {"rank": 0, "num_ranks": 2, "op": "sum", "dtype": "float32", "torch_store": None, "timeout": 1.0}
        arm.setup(
            Setting(
                **setting,
                collective=collective,
                communicator=communicator,
                rendezvous="",
                boundary="numpy",
                all_arguments=True,
            )
        )
        assert made == [{"channels": 1, "shared_buffers": shared_buffers}]
        return arm.bind(*sides)()

    vector = np.arange(8, dtype=np.float32)
    one = configuration("ring/ll").model_copy(update={"slice_bytes": 16384, "streaming": True})
    forced = {"algorithm": "ring", "protocol": "ll", "slice_bytes": 16384, "streaming": True}
    name, operands, how = call(one, "reduce_scatter", vector, vector[4:])
    assert (name, [operand.tolist() for operand in operands]) == ("reduce_scatter", [[0, 1, 2, 3, 4, 5, 6, 7]])
    assert how.pop("out").tolist() == [4, 5, 6, 7]
    assert how == {**forced, "op": "sum"}
    _, operands, how = call(configuration("ring/ll"), "all_reduce", vector, vector, shared_buffers=True)
    assert operands[0] is vector
    assert how == {**forced, "slice_bytes": 0, "streaming": False, "op": "sum"}, "ordinary copies are asked for"
    _, _, how = call(LEAVE_TO_ENGINE, "all_reduce", vector, vector)
    assert how == {"algorithm": "auto", "protocol": "auto", "slice_bytes": 0, "streaming": None, "op": "sum"}
