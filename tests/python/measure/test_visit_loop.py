"""The visit loop over fake process sets: what is visited when, and what a set that fails takes with it.

For: ringtree.measure.visit_loop and process_set, and rank_set's answers. Not for: processes (test_lab_launch.py).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace

import pytest
from lab_support import make_cell, make_launch, make_plan

from ringtree.errors import UsageError
from ringtree.measure.giving_up import GIVE_UP_AFTER, LONG_FAILURE, given_up, patience
from ringtree.measure.messages import RANK_TIMEOUT, Answer, ProgressReport
from ringtree.measure.plan import planned_launches, visit_order
from ringtree.measure.process_set import CellKey, SetFailed, Visited
from ringtree.measure.rank_group import LaunchFailed
from ringtree.measure.rank_set import joined
from ringtree.measure.visit_loop import VisitLoop
from ringtree.results import Boundary, Cell, EmulatedCluster, Launch, Plan, WarmUp, WrongElement

WRONG = WrongElement(rank=1, iteration=0, call=0, index=2, expected=1.0, found=2.0)
Log = list[tuple[str, str]]  # what happened to which set or cell


class FakeSet:
    """Two ranks whose every iteration takes as many seconds as it is told; it writes down what it is asked."""

    pids = (1, 2)
    restarts = 0

    def __init__(self, *arms: str, log: Log | None = None, boundary: Boundary = "numpy") -> None:
        self.arms, self.boundary = arms, boundary
        self.log: Log = [] if log is None else log
        self.seconds: Callable[[CellKey], float] = lambda cell: 1e-3
        self.refused: dict[str, str] = {}
        self.answer: Callable[[Visited], Visited] = lambda visited: visited
        self.fails_at = ""  # a word of the log
        self.num_visits, self.is_alive = 0, False

    def start(self) -> None:
        self.is_alive = True
        self._say("start", self.arms[0])

    def ready(self) -> dict[str, str]:
        self._say("ready", self.arms[0])
        return self.refused

    def warm_up(self, cell: CellKey, budget: float) -> Visited:
        self._say("warm", f"{cell.arm} {cell.size_bytes}")
        warm_up = WarmUp(num_iterations=2, ended="stable")
        return self.answer(Visited([[], []], {"algorithm": cell.arm}, None, warm_up, self.seconds(cell)))

    def visit(self, cell: CellKey, untimed: int, timed: int) -> Visited:
        self.num_visits += 1
        self._say("visit" if self.num_visits < 4 else "fourth visit", f"{cell.arm} {cell.size_bytes}")
        times = [[self.seconds(cell)] * timed, [2 * self.seconds(cell)] * timed]
        return self.answer(Visited(times, {"algorithm": cell.arm}))

    def close(self) -> None:
        self._say("close", self.arms[0])
        self.is_alive = False

    def kill(self) -> None:
        self.is_alive = False

    def _say(self, what: str, to: str) -> None:
        assert self.is_alive, f"{what} {to} after its end"
        self.log.append((what, to))
        if self.fails_at in (what, f"{what} {to}"):
            raise SetFailed(f"rank 1 of {self.arms[0]} did not answer for 9 s")


class FakeProbe:
    def __init__(self) -> None:
        self.count = 0

    def measure(self) -> float | None:
        self.count += 1
        return self.count * 1e-9


def run(
    plan: Plan,
    *sets: FakeSet,
    heard: list[ProgressReport] | None = None,
    given_up: Mapping[tuple[int, str], str] | None = None,
) -> dict[tuple[str, int], Cell]:
    said: list[ProgressReport] = [] if heard is None else heard
    cells = VisitLoop(plan, planned_launches(plan)[0], sets, said.append, given_up, FakeProbe()).run()
    assert [(cell.size_bytes, cell.arm) for cell in cells] == [
        (size.size_bytes, arm.label) for size in plan.sizes for arm in plan.arms
    ]
    assert not any(one.is_alive for one in sets)
    return {(cell.arm, cell.size_bytes): cell for cell in cells}


def test_sets_of_one_launch_are_paired_inside_of_its_rounds() -> None:
    plan, log = make_plan(arms=("a", "b", "c")), Log()
    said: list[ProgressReport] = []
    cells = run(plan, FakeSet("a", "b", log=log), FakeSet("c", log=log), heard=said)
    visits = [what for kind, what in log if "visit" in kind]
    launch = planned_launches(plan)[0]
    assert visits == [f"{arm} {size}" for round_ in range(3) for size, arm in visit_order(plan, launch, round_)]
    assert [kind for kind, _ in log[:4]] == ["start", "start", "ready", "ready"], "they start together"
    assert (said[-1].done, said[-1].total) == (24, 24)
    assert [report.done for report in said] == list(range(1, 25))
    assert all(cell.verified and cell.executed == {"algorithm": cell.arm} for cell in cells.values())
    flat = sorted((visit for cell in cells.values() for visit in cell.visits), key=lambda visit: visit.position)
    assert [visit.position for visit in flat] == list(range(18))
    # The probe after a visit is the one before the next.
    assert [visit.handoff for visit in flat] == [
        (pytest.approx((i + 1) * 1e-9), pytest.approx((i + 2) * 1e-9)) for i in range(18)
    ]


def test_slow_arms_are_visited_less_often_and_the_reference_whenever_they_are() -> None:
    plan, ranks = make_plan(arms=("a", "b", "c"), sizes=(1024,), max_rounds=16), FakeSet("a", "b", "c")
    ranks.seconds = lambda cell: 0.03 if cell.arm == "a" else 1e-3
    cells = run(plan, ranks)
    a, b, c = (cells[arm, 1024] for arm in "abc")
    rounds = [{visit.round for visit in cell.visits} for cell in (a, b, c)]
    assert [len(of_arm) for of_arm in rounds] == [4, 16, 16]
    assert rounds[0] < rounds[2]
    assert b.visits[0].num_iterations > a.visits[0].num_iterations == 1
    assert [len(row) for row in a.times] == [sum(visit.num_iterations for visit in a.visits)] * 2


def test_emulated_launches_are_not_probed() -> None:
    cells = run(make_plan(emulation=EmulatedCluster(hosts=2, ranks_per_host=1, alpha=1, beta=1)), FakeSet("a", "b"))
    assert all(visit.handoff is None for cell in cells.values() for visit in cell.visits)


@pytest.mark.parametrize("fails_at", ["start", "ready", "warm", "visit", "fourth visit", "close"])
def test_a_set_that_fails_ends_its_own_arms_by_name_and_the_others_are_judged(fails_at: str) -> None:
    plan = make_plan(arms=("a", "b"))
    broken, other = FakeSet("a"), FakeSet("b")
    broken.fails_at = fails_at
    cells = run(plan, broken, other)
    assert all(cell.verified and len(cell.visits) == 3 for cell in cells.values() if cell.arm == "b")
    mine = [cell for cell in cells.values() if cell.arm == "a"]
    failed = [cell for cell in mine if cell.error is not None]
    assert len(failed) == {"fourth visit": 1, "close": 0}.get(fails_at, 2)
    assert all("rank 1 of a did not answer for 9 s" in (cell.error or "") and not cell.verified for cell in failed)
    if fails_at == "fourth visit":
        assert any("(at a " in (cell.error or "") for cell in failed), "the cell in which it happened"
        assert sum(len(cell.visits) for cell in mine) == 3, "what was measured before stays"


@pytest.mark.parametrize(("restarts", "fails_at"), [(1, "warm a 4096"), (2, "visit a 4096"), (1, "start a"), (1, "")])
def test_a_set_that_may_be_is_started_anew_without_what_it_failed_in(restarts: int, fails_at: str) -> None:
    plan, native, other = make_plan(sizes=(1024, 4096, 16384)), FakeSet("a"), FakeSet("b")
    native.restarts, native.fails_at = restarts, fails_at
    cells = run(plan, native, other)
    assert all(cell.verified and len(cell.visits) == 3 for (arm, _), cell in cells.items() if arm == "b")
    num_starts = native.log.count(("start", "a"))
    if fails_at == "":
        assert num_starts == 1
    elif fails_at == "start a":
        assert num_starts == 1, "what can't be started at all is not tried again"
        assert all(cell.error for (arm, _), cell in cells.items() if arm == "a")
    else:
        assert num_starts == 2
        assert cells["a", 1024].verified
        assert "did not answer for 9 s (at a 4 KB)" in (cells["a", 4096].error or "")
        assert cells["a", 16384].verified == (fails_at == "visit a 4096" and bool(cells["a", 16384].visits))


def test_a_launch_fails_when_no_set_is_left() -> None:
    a, b = FakeSet("a"), FakeSet("b")
    a.fails_at, b.fails_at = "warm", "fourth visit"
    with pytest.raises(LaunchFailed, match=r"after [ab] [14] KB: rank 1 of a did not .*; rank 1 of b did not answer"):
        run(make_plan(), a, b)
    assert not a.is_alive
    assert not b.is_alive


def test_an_order_may_leave_cells_out_and_a_set_may_choose_its_batches() -> None:
    plan, ranks = make_plan(sizes=(1024, 4096)), FakeSet("a", "b")
    order = [(4096, "b"), (1024, "a"), (4096, "a")]
    ranks.answer = lambda visited: replace(visited, batch=200 if visited.warm_up else None)
    loop = VisitLoop(plan, planned_launches(plan)[0], [ranks], lambda _: None, None, FakeProbe(), lambda _: order)
    cells = loop.run()
    assert [(cell.size_bytes, cell.arm, cell.batch) for cell in cells] == [
        (1024, "a", 200),
        (4096, "a", 200),
        (4096, "b", 200),
    ]
    visits = [what for kind, what in ranks.log if "visit" in kind]
    assert visits == ["b 4096", "a 1024", "a 4096"] * 3


def test_a_visit_that_fails_alone_is_no_sample() -> None:
    ranks = FakeSet("a", "b")
    ranks.answer = lambda seen: seen if ranks.num_visits != 2 else replace(seen, times=[[], []], error="wrong: 3")
    cells = run(make_plan(), ranks)
    failed = [cell for cell in cells.values() if cell.error is not None]
    assert [cell.error for cell in failed] == ["wrong: 3"]
    assert not any(cell.verified or cell.visits for cell in failed)
    assert all(len(cell.visits) == 3 for cell in cells.values() if cell.error is None)


def test_refused_arms_and_cells_are_left_alone() -> None:
    ranks = FakeSet("a", "b")
    ranks.refused = {"a": "no such thing"}
    cells = run(make_plan(), ranks)
    assert {(cell.arm, cell.error, len(cell.visits)) for cell in cells.values()} == {
        ("a", "no such thing", 0),
        ("b", None, 3),
    }
    assert not any(what.startswith("a ") for _, what in ranks.log)


def test_what_hangs_is_not_tried_at_larger_sizes_nor_in_later_launches(monkeypatch: pytest.MonkeyPatch) -> None:
    plan, clock = make_plan(arms=("a", "b"), sizes=(1024, 4096, 16384)), [0.0]
    monkeypatch.setattr("ringtree.measure.visit_loop.time.monotonic", lambda: clock[0])
    launches: list[Launch] = []
    for number in range(GIVE_UP_AFTER + 1):
        ranks = FakeSet("a", "b")

        def hang(visited: Visited, ranks: FakeSet = ranks) -> Visited:
            if ranks.log[-1] != ("warm", "a 4096"):
                return visited
            clock[0] += LONG_FAILURE + 1
            return Visited([[], []], error="timed out")

        ranks.answer = hang
        cells = run(plan, ranks, given_up=given_up(launches))
        launches.append(make_launch(number, list(cells.values())))
        assert [cells["a", size].error for size in (1024, 4096)] == [None, "timed out"]
        assert cells["a", 16384].error == "timed out (at a 4 KB)"
        assert not any(cell.error for (arm, _), cell in cells.items() if arm == "b")
        tried = [what for kind, what in ranks.log if what in ("a 4096", "a 16384")]
        assert tried == (["a 4096"] if number < GIVE_UP_AFTER else [])
    # Refused at once, it is asked again at each size, and in each launch that has it the cell counts.
    quick = FakeSet("a", "b")
    quick.answer = lambda visited: replace(visited, error="can't") if quick.log[-1][1] == "a 1024" else visited
    assert run(plan, quick)["a", 4096].verified
    assert given_up([*launches[:2], make_launch(2, [make_cell("a", 4096, 1.0)])]).keys() == {(16384, "a")}
    assert given_up(launches[:1]) == {}


def test_patience_grows_with_what_is_asked_and_emulated_calls_get_most() -> None:
    small, large = make_plan(), make_plan(sizes=(8 << 30,), num_ranks=8)
    emulated = make_plan(emulation=EmulatedCluster(hosts=2, ranks_per_host=1, alpha=1, beta=1))
    assert 60 <= patience(small) < 90 < patience(large) == patience(emulated) == RANK_TIMEOUT


def test_a_wrong_element_disqualifies_and_does_not_stop_the_visits() -> None:
    ranks = FakeSet("a")
    ranks.answer = lambda visited: replace(visited, first_wrong=WRONG if visited.times[0] else None)
    (cell,) = run(make_plan(arms=("a",), sizes=(1024,)), ranks).values()
    assert (cell.verified, cell.first_wrong, len(cell.visits)) == (False, WRONG, 3)


def test_calls_that_cross_different_boundaries_are_refused() -> None:
    python, native = FakeSet("a"), FakeSet("b", boundary="native")
    with pytest.raises(UsageError, match=r"b by native; a by numpy") as refused:
        run(make_plan(), python, native)
    assert "\n" not in str(refused.value)
    assert python.log == native.log == []
    run(make_plan(), FakeSet("a", boundary="native"), native)


def test_ranks_answer_as_one() -> None:
    good = Answer(times=[1.0], executed={"algorithm": "a"})
    assert joined([good, good]) == Visited([[1.0], [1.0]], {"algorithm": "a"})
    assert joined([good, good.model_copy(update={"first_wrong": WRONG})]).first_wrong == WRONG
    assert joined([good, Answer(error="why")]).error == "why"
    other = good.model_copy(update={"executed": {"algorithm": "b"}})
    assert joined([good, other]).error == "ranks executed different algorithms: a, b"
