"""What the bench measures: labels, sizes, launches and shares of the time."""

from __future__ import annotations

import pytest
from bench.cases import (
    ALL_REDUCE,
    BANDS,
    CHECKED_SIZES,
    COLLECTIVES,
    ODD_SIZES,
    SHARED,
    UNALIGNED,
    VARIANTS,
    group_of,
    label_of,
    labels_of,
    powers_of_two,
    reference_of,
    smallest_size,
    split_label,
)
from bench.plans import DEFAULT_LAUNCHES, FAMILY_LAUNCHES, WORLDS, Choices, make_parts
from bench_support import small_world
from lab_support import make_launch

from ringtree.errors import UsageError
from ringtree.stats import judge

ARMS = ["engine", "mpich5", "impi"]
OTHERS = [name for name in COLLECTIVES if name != ALL_REDUCE]
NATIVE_PARTS = ["native-2", "native-4", "native-16", *(f"native-2-{name}" for name in OTHERS)]


def test_labels_go_there_and_back() -> None:
    for variant in VARIANTS.values():
        assert split_label(label_of("mpich5", variant)) == ("mpich5", variant)
    with pytest.raises(KeyError):
        split_label("mpich5/twice")


def test_only_the_engine_has_shared_buffers_and_they_are_visited_with_ordinary_calls() -> None:
    labels = labels_of(ARMS, list(VARIANTS.values()))
    assert [label for label in labels if label.endswith("/shared")] == ["engine/shared"]
    assert group_of("engine/shared") == group_of("mpich5") == ""
    assert reference_of("engine/shared") == reference_of("mpich5") == "engine"
    assert reference_of("mpich5/unaligned") == "engine/unaligned"
    assert group_of("mpich5/unaligned") == group_of("engine/unaligned") == "unaligned"


def test_variants_take_part_at_their_sizes() -> None:
    assert [size for size in (8, 256, 8192, 1 << 20) if SHARED.takes_part(size)] == [8192, 1 << 20]
    assert [size for size in (8, 256, 8192, 1 << 20) if UNALIGNED.takes_part(size)] == [256, 1 << 20]


def test_bands_part_all_sizes_and_odd_ones_are_in_none() -> None:
    sizes = powers_of_two(8, 256 << 20)
    assert sizes[0] == 8
    assert sizes[-1] == 256 << 20
    assert [size for band in BANDS for size in band.sizes([*sizes, *ODD_SIZES])] == sizes
    assert set(CHECKED_SIZES) < set(sizes)


def test_parts_share_the_budget_and_have_their_worlds_sizes() -> None:
    native = [world for world in WORLDS if world.kind == "native"]
    parts = {part.name: part for part in make_parts(Choices(budget=1200.0, worlds=native), ARMS, {})}
    assert list(parts) == NATIVE_PARTS
    assert sum(part.plan.time_budget or 0.0 for part in parts.values()) == pytest.approx(1200.0)
    two = parts["native-2"].plan
    assert two.num_launches == DEFAULT_LAUNCHES
    assert set(ODD_SIZES) < {size.size_bytes for size in two.sizes}
    assert "engine/shared" in [arm.label for arm in two.arms]
    assert [arm.label for arm in parts["native-4"].plan.arms] == ARMS


def test_all_shares_are_the_whole() -> None:
    assert sum(world.share for world in WORLDS) == pytest.approx(1.0)


@pytest.mark.parametrize("collective", OTHERS)
def test_the_other_collectives_have_some_sizes_of_every_band(collective: str) -> None:
    world = next(world for world in WORLDS if world.collective == collective)
    plan = make_parts(Choices(worlds=[world]), ARMS, {})[0].plan
    assert (plan.collective, plan.op) == (collective, "sum" if collective == "reduce_scatter" else "none")
    sizes = [size.size_bytes for size in plan.sizes]
    assert all(len(band.sizes(sizes)) >= 2 for band in BANDS)
    assert [arm.label for arm in plan.arms] == ARMS


def test_no_size_is_less_than_an_element_of_every_block() -> None:
    for collective in COLLECTIVES:
        plan = make_parts(Choices(worlds=[small_world(16, step=1, collective=collective)]), ARMS, {})[0].plan
        least = 8 if collective in (ALL_REDUCE, "broadcast") else 64
        assert plan.sizes[0].size_bytes == least >= smallest_size(collective, 16)


def test_launches_that_took_too_long_leave_less_to_the_others() -> None:
    part = make_parts(Choices(budget=80.0, num_launches=8, worlds=[small_world()]), ARMS, {})[0]
    assert part.seconds_left([]) == pytest.approx(10.0)
    assert part.seconds_left([make_launch(0, [], wall_seconds=17.0)]) == pytest.approx(9.0)
    assert part.seconds_left([make_launch(0, [], wall_seconds=70.0)]) == pytest.approx(5.0)


def test_a_short_budget_has_fewer_launches_but_enough_for_verdicts() -> None:
    part = make_parts(Choices(budget=600.0, worlds=[small_world()]), ARMS, {})[0]
    assert part.plan.num_launches == FAMILY_LAUNCHES < DEFAULT_LAUNCHES


def test_so_many_launches_tell_a_faster_peer_among_slower_ones_and_fewer_do_not() -> None:
    for launches, told in ((FAMILY_LAUNCHES, "faster"), (FAMILY_LAUNCHES - 1, "inconclusive")):
        assert judge([[-0.2, 0.7, 0.7]] * launches)[0].verdict == told


def test_sizes_that_do_not_fit_into_memory_are_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("bench.plans.available_memory", lambda: 100 << 20)
    left_out: dict[str, str] = {}
    part = make_parts(Choices(worlds=[small_world(largest=64 << 20, step=1)]), ARMS, left_out)[0]
    assert max(size.size_bytes for size in part.plan.sizes) == 4 << 20
    assert left_out["native-2 8 MB"] == "needs 136 MB of memory"


def test_the_budget_must_be_above_zero() -> None:
    with pytest.raises(UsageError, match="--budget must be above 0"):
        make_parts(Choices(budget=0.0, worlds=[small_world()]), ARMS, {})


def test_without_pytorch_its_parts_are_named_and_the_rest_runs(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("bench.plans.why_unavailable", lambda _: "PyTorch is not installed")
    left_out: dict[str, str] = {}
    parts = make_parts(Choices(), ARMS, left_out)
    assert [part.name for part in parts] == NATIVE_PARTS
    assert left_out["torch-2"] == left_out["torch-4"] == "PyTorch is not installed"
    with pytest.raises(UsageError, match="nothing is left to run"):
        make_parts(Choices(worlds=[world for world in WORLDS if world.kind == "torch"]), ARMS, {})


@pytest.mark.parametrize(("budget", "largest"), [(2400.0, 256 << 20), (30.0, 16 << 20)])
def test_through_pytorch_large_sizes_give_way_to_the_budget(
    budget: float, largest: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("bench.plans.why_unavailable", lambda _: None)
    monkeypatch.setattr("bench.plans.available_memory", lambda: 64 << 30)
    left_out: dict[str, str] = {}
    world = next(world for world in WORLDS if world.name == "torch-2")
    plan = make_parts(Choices(budget=budget, worlds=[world]), ARMS, left_out)[0].plan
    sizes = [size.size_bytes for size in plan.sizes]
    assert max(sizes) == largest
    assert plan.arms[0].label == plan.reference == "auto"
    assert all(left_out[name] == "did not fit into the time" for name in left_out)
    assert len(sizes) + len(left_out) == 26
