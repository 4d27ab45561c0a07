"""Plans: orders are functions of the seed, requests are checked before a process starts.

For: ringtree.measure.plan and ringtree.measure.request. Not for: running (test_compare.py).
"""

from __future__ import annotations

from collections import Counter
from itertools import groupby
from typing import Any

import pytest
from lab_support import make_plan

import ringtree
from ringtree.errors import UsageError
from ringtree.measure import request as request_module
from ringtree.measure.collective_data import SHAPES
from ringtree.measure.plan import (
    calls_overlap,
    choose_reference,
    data_seed,
    label_arms,
    native_size,
    planned_launches,
    size_plan,
    visit_order,
)
from ringtree.measure.request import MAX_ALPHA, MAX_RANKS_PER_EMULATED_HOST, MIN_BETA, Request
from ringtree.measure.request import make_plan as plan_for
from ringtree.results import Plan


def order_of(plan: Plan, launch: int, round_: int = 0) -> list[tuple[int, str]]:
    return visit_order(plan, planned_launches(plan)[launch], round_)


def test_every_round_visits_every_arm_once_a_size_one_right_after_the_other() -> None:
    plan = make_plan(arms=("a", "b", "c"), sizes=(8, 16, 32))
    for launch in range(6):
        for round_ in range(3):
            order = order_of(plan, launch, round_)
            assert sorted(order) == sorted((size, arm) for size in (8, 16, 32) for arm in ("a", "b", "c"))
            assert [len(list(group)) for _, group in groupby(order, key=lambda cell: cell[0])] == [3, 3, 3]


def test_order_is_a_function_of_the_seed_alone() -> None:
    plan = make_plan(arms=("a", "b", "c", "d"))
    again = make_plan(arms=("a", "b", "c", "d"))
    other = plan.model_copy(update={"seed": plan.seed + 1})
    orders = [order_of(plan, launch, 0) for launch in range(6)]
    assert orders == [order_of(again, launch, 0) for launch in range(6)]
    assert orders != [order_of(other, launch, 0) for launch in range(6)]
    assert len({tuple(order) for order in orders}) > 1
    assert len({tuple(order_of(plan, 0, round_)) for round_ in range(6)}) > 1
    assert len({data_seed(plan, launch) for launch in range(6)}) == 6


def test_order_of_the_arms_as_asked_does_not_matter() -> None:
    one, two = make_plan(arms=("a", "b", "c")), make_plan(arms=("c", "a", "b"))
    assert order_of(one, 3) == order_of(two, 3)


def test_no_arm_is_favoured_by_its_place() -> None:
    plan = make_plan(arms=("a", "b", "c"), sizes=(8,), num_launches=900)
    firsts = Counter(visit_order(plan, launch, 0)[0][1] for launch in planned_launches(plan))
    assert all(abs(count - 300) < 4 * (900 * 2 / 9) ** 0.5 for count in firsts.values())
    assert len(firsts) == 3


def test_arms_with_the_same_environment_share_a_launch_and_others_do_not() -> None:
    plan = make_plan(num_launches=40).model_copy(
        update={"arms": label_arms(["a", "b@X=1", "c", "d@X=1", "e@X=2"]), "reference": "a"}
    )
    launches = planned_launches(plan)
    assert [launch.launch for launch in launches] == list(range(120))
    first_of_blocks = Counter[str]()
    for block in range(40):
        of_block = [launch for launch in launches if launch.block == block]
        groups = {tuple(arm.label for arm in launch.arms) for launch in of_block}
        assert groups == {("a", "c"), ("b@X=1", "d@X=1"), ("e@X=2",)}
        first_of_blocks[of_block[0].arms[0].label] += 1
    assert min(first_of_blocks.values()) >= 4, first_of_blocks
    assert len(first_of_blocks) == 3


def test_variables_of_an_arm_are_named_and_checked() -> None:
    (arm,) = label_arms(["gloo@OMP_NUM_THREADS=2@X=a=b"])
    assert (arm.name, arm.label) == ("gloo", "gloo@OMP_NUM_THREADS=2@X=a=b")
    assert arm.environment == {"OMP_NUM_THREADS": "2", "X": "a=b"}
    for text in ("gloo@", "gloo@X", "gloo@1X=2"):
        with pytest.raises(UsageError, match="arm@NAME=value"):
            label_arms([text])


def test_arms_that_come_twice_get_labels_of_their_own() -> None:
    assert [arm.label for arm in label_arms(["gloo", "ring", "gloo"])] == ["gloo", "ring", "gloo#2"]
    assert choose_reference(label_arms(["ring", "gloo"]), None) == "gloo"
    assert choose_reference(label_arms(["ring", "tree"]), None) == "ring"
    with pytest.raises(UsageError, match="ring, tree"):
        choose_reference(label_arms(["ring", "tree"]), "gloo")


def test_native_calls_that_overlap_are_timed_together_equally_many_for_all_arms() -> None:
    assert native_size(1 << 10, 6).batch == 1, "each arm chooses"
    assert native_size(1 << 10, 6, overlap=True).batch == native_size(64 << 10, 6, overlap=True).batch > 1
    assert native_size(128 << 10, 6, overlap=True).batch == 1
    assert [one for one in SHAPES if calls_overlap(one, 3)] == ["broadcast", "reduce", "gather", "scatter"]
    assert not calls_overlap("broadcast", 2), "each rank waits for the other's"


def test_huge_sizes_get_fewer_launches_and_small_ones_batches() -> None:
    assert size_plan(1 << 10, 6, emulated=True).batch == 1, "calls in a row would overlap"
    small, large, huge = size_plan(1 << 10, 6), size_plan(1 << 22, 6), size_plan(1 << 30, 6)
    assert small.batch > 1
    assert large.batch == 1
    assert large.num_launches == 6
    assert huge.num_launches < 6
    assert huge.max_iterations < large.max_iterations
    assert huge.max_rounds < large.max_rounds
    plan = make_plan().model_copy(update={"sizes": [small, huge]})
    assert len(order_of(plan, 0)) == 4
    assert len(order_of(plan, 5)) == 2


def test_defaults() -> None:
    plan = plan_for(Request())
    assert plan.num_ranks == 4
    assert plan.num_launches == 8
    assert (plan.margin, plan.level) == (0.02, 0.95)
    assert plan.dtype == "float32"
    assert (plan.sizes[0].size_bytes, plan.sizes[-1].size_bytes) == (1 << 10, 1 << 26)
    assert [arm.name for arm in plan.arms][:3] == ["ring", "tree", "auto"]


def test_emulation_sets_the_ranks_and_keeps_the_engines_arms() -> None:
    plan = plan_for(Request(emulate="2x8", alpha="1ms", beta="20MB/s"))
    assert plan.num_ranks == 16
    assert plan.emulation is not None
    assert (plan.emulation.alpha, plan.emulation.beta) == (1e-3, 2e7)
    assert [arm.name for arm in plan.arms] == ["ring", "tree", "auto"]
    assert set(plan.left_out) == {"gloo", "send-recv:ring"}
    assert all("emulated links" in reason for reason in plan.left_out.values())


def test_the_limits_of_emulated_clusters_are_the_engines() -> None:
    plan = plan_for(Request(emulate="1x64", alpha="60s", beta="1b/s"))
    assert plan.emulation is not None
    limits = (plan.emulation.alpha, plan.emulation.beta, plan.emulation.ranks_per_host)
    assert limits == (MAX_ALPHA, MIN_BETA, MAX_RANKS_PER_EMULATED_HOST)
    one_rank: dict[str, Any] = {"hosts": 1, "ranks_per_host": 1, "alpha": MAX_ALPHA, "beta": MIN_BETA}
    ringtree.init(rank=0, world_size=1, store=ringtree.ThreadStore(), emulate=ringtree.Emulation(**one_rank))
    for beyond in ({"alpha": MAX_ALPHA + 1}, {"beta": MIN_BETA / 2}):
        cluster = ringtree.Emulation(**{**one_rank, **beyond})
        with pytest.raises(UsageError, match=next(iter(beyond))):
            ringtree.init(rank=0, world_size=1, store=ringtree.ThreadStore(), emulate=cluster)


@pytest.mark.parametrize(
    ("request_", "said"),
    [
        (Request(arms="ring,nonsense"), "choose from: .*ring"),
        (Request(arms="ring,"), "empty name"),
        (Request(arms="send-recv:nonsense"), "unknown arm"),
        (Request(dtype="float128"), "float32"),
        (Request(collective="scan"), "can't run 'scan'; it can run: all_reduce"),
        (Request(collective="all_to_all", preset="textbook"), "leave --collective all_to_all out"),
        (Request(preset="book"), "textbook"),
        (Request(ranks=0), "--ranks"),
        (Request(launches=0), "--launches"),
        (Request(launches=8, budget="10m"), "leave --launches out"),
        (Request(margin="100%"), "below 100 %"),
        (Request(margin="a bit"), "invalid share"),
        (Request(arms="ring@API_KEY=abc"), "API_KEY of an arm would be stored"),
        (Request(arms="gloo+x%"), "unknown arm"),
        (Request(sizes="6"), "multiple of 4"),
        (Request(sizes="0"), "above 0"),
        (Request(alpha="1ms"), "--emulate"),
        (Request(emulate="2x8", ranks=4), "16 ranks"),
        (Request(emulate="2x2", arms="ring,gloo"), "gloo can't run over emulated links"),
        (Request(emulate="2x2", alpha="61s"), "--alpha must lie in 0..60 s, not 61 s"),
        (Request(emulate="2x2", alpha="2m"), "--alpha"),
        (Request(emulate="2x2", beta="0.5b/s"), "--beta must be at least 1 B/s"),
        (Request(emulate="2x2", beta="1e400GB/s"), "--beta"),
        (Request(emulate="2x65"), "at most 64 ranks, not 65"),
        (Request(emulate="8x64"), "512 ranks, more than 256"),
        (Request(preset="textbook", reference="auto"), "choose it by --library"),
        (Request(library="gloo"), "--preset textbook"),
        (Request(preset="textbook", arms="ring"), "--library"),
        (Request(ranks=200, dtype="int8"), "too many for exact sums"),
        (Request(dtype="bfloat16"), "unknown dtype 'bfloat16'; choose from: float16"),
        (Request(sizes="16T"), "does not fit"),
        (Request(arms="ring,tree", reference="gloo"), "ring, tree"),
    ],
)
def test_what_can_not_be_done_is_one_line(request_: Request, said: str) -> None:
    with pytest.raises(UsageError, match=said) as error:
        plan_for(request_)
    assert "\n" not in str(error.value)


def test_without_torch_the_other_arms_run_and_gloo_says_how_to_get_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    plan = plan_for(Request())
    assert [arm.name for arm in plan.arms] == ["ring", "tree", "auto"]
    assert set(plan.left_out) == {"gloo", "send-recv:ring"}
    assert "`make torch`" in plan.left_out["gloo"]
    with pytest.raises(UsageError, match="`make torch`"):
        plan_for(Request(arms="gloo"))


def test_textbook_leaves_out_what_memory_does_not_hold(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(request_module, "memory_for", lambda boundary, num_ranks: 10 << 30)
    plan = plan_for(Request(preset="textbook", arms=None, library="auto"))
    assert [size.size_bytes for size in plan.sizes] == [4 << 10, 256 << 10, 4 << 20, 64 << 20, 512 << 20]
    assert "80 GB" in plan.left_out["8 GB"]
    assert plan.reference == "auto"
    monkeypatch.setattr(request_module, "memory_for", lambda boundary, num_ranks: 1 << 40)
    assert plan_for(Request(preset="textbook")).sizes[-1].size_bytes == 8 << 30
