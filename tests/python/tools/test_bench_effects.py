"""Ratios, verdicts and bands of the bench on made-up launches whose ratios are known."""

from __future__ import annotations

import math

import pytest
from bench.effects import BANDS, FAR, NEAR, Band, World, combined, without_failures
from bench_support import made_up_part, made_up_world, times_of
from comparison_support import NUM_NEAR, noise

from ringtree.measure.worker_set import WRONG
from ringtree.results import StoredRun

SIZES = (8, 1024, 64 << 10, 4 << 20)


def with_errors(stored: StoredRun, label: str, size: int, launches: set[int], error: str) -> StoredRun:
    """The run with a cell that failed in some launches."""
    changed = [
        launch.model_copy(
            update={
                "cells": [
                    cell.model_copy(update={"error": error, "verified": False, "times": [], "visits": []})
                    if launch.launch in launches and (cell.arm, cell.size_bytes) == (label, size)
                    else cell
                    for cell in launch.cells
                ]
            }
        )
        for launch in stored.launches
    ]
    return StoredRun(stored.path, stored.run, changed, [])


def test_a_peer_twice_as_slow_is_judged_so_near_and_far() -> None:
    world = made_up_world(times_of({"engine": 1.0, "mpich5": 2.0}), sizes=SIZES)
    assert [place.column for place in world.places] == [NEAR, FAR]
    for place in world.places:
        for size in SIZES:
            judged = world.judged(size, "mpich5", place)
            assert judged is not None
            assert judged.verdict == "slower"
            assert judged.ratio == pytest.approx(2.0, rel=0.01)


def test_a_peer_that_is_faster_is_found_among_many_that_are_slower() -> None:
    factors = {"engine": 1.0, "mpich5": 2.0, "impi": 0.8, "oneccl": 3.0}
    world = made_up_world(times_of(factors), tuple(factors), SIZES)
    found = {label for _, label, _, judged in world.verdicts() if judged.verdict == "faster"}
    assert found == {"impi"}


def test_an_equal_peer_is_claimed_to_be_neither() -> None:
    def seconds(launch: int, size: int, label: str, round_: int) -> float:
        # Ten per cent of scatter from launch to launch: nothing may be claimed from it.
        return 1e-6 * (1 + 20 * (noise(launch, label, size) - 1))

    world = made_up_world(seconds, sizes=SIZES)
    assert {judged.verdict for *_, judged in world.verdicts()} == {"inconclusive"}


def test_near_and_far_are_never_in_one_figure() -> None:
    def seconds(launch: int, size: int, label: str, round_: int) -> float:
        factor = 1.0 if label == "engine" else 3.0 if round_ >= NUM_NEAR else 1.5
        return factor * 1e-6 * noise(launch, size, label, round_)

    world = made_up_world(seconds)
    near, far = world.places
    for place, ratio in ((near, 1.5), (far, 3.0)):
        judged = world.judged(8, "mpich5", place)
        assert judged is not None
        assert judged.ratio == pytest.approx(ratio, rel=0.01)
    assert near.handoff is not None
    assert far.handoff is not None
    assert near.handoff < far.handoff
    assert {place for *_, place, _ in world.verdicts()} == {"near", "far"}


def test_like_with_like_is_judged_only_where_no_placement_alone_can_be() -> None:
    def handoff(launch: int, arm: str, round_: int) -> tuple[float, float]:
        return (3e-8, 3e-8) if launch % 2 else (1.5e-7, 1.5e-7)

    def seconds(launch: int, size: int, label: str, round_: int) -> float:
        return (1.0 if label == "engine" else 2.0) * (1e-6 if launch % 2 else 5e-6) * noise(launch, size, label, round_)

    world = made_up_world(seconds, handoff=handoff)
    verdicts = {place: judged for size, _, place, judged in world.verdicts() if size == 8}
    assert verdicts.keys() == {"near", "far", "mixed"}
    assert (verdicts["near"].num_launches, verdicts["mixed"].num_launches) == (4, 8)
    assert verdicts["near"].verdict == "inconclusive"
    assert verdicts["mixed"].verdict == "slower"
    assert verdicts["mixed"].ratio == pytest.approx(2.0, rel=0.01)


def test_the_better_of_several_peers_counts_at_each_size() -> None:
    def seconds(launch: int, size: int, label: str, round_: int) -> float:
        factor = {"engine": 1.0, "openmpi5": 2.0 if size <= 1024 else 4.0, "openmpi5-nocma": 3.0}[label]
        return factor * 1e-6 * noise(launch, size, label, round_)

    labels = ("engine", "openmpi5", "openmpi5-nocma")
    world = made_up_world(seconds, labels, SIZES)
    found = world.band(Band("all", 1, 1 << 30), world.peers, world.places[0])
    assert found is not None
    assert list(found.chosen.values()) == ["openmpi5", "openmpi5", "openmpi5-nocma", "openmpi5-nocma"]
    assert found.ratio == pytest.approx(math.sqrt(2.0 * 3.0), rel=0.01)
    low, high = found.ends
    assert low <= found.ratio <= high


def test_a_band_holds_powers_of_two_only() -> None:
    world = made_up_world(times_of({"engine": 1.0, "mpich5": 2.0}), sizes=(8, 1000, 4096, 8192))
    found = world.band(BANDS[0], world.peers, world.places[0])
    assert found is not None
    assert list(found.chosen) == [8, 4096]
    assert world.band(BANDS[2], world.peers, world.places[0]) is None


def test_a_peer_with_few_launches_is_not_chosen_for_its_luck() -> None:
    stored = made_up_part(times_of({"engine": 1.0, "mpich5": 2.0, "impi": 0.5}), ("engine", "mpich5", "impi"), (8,))
    few = with_errors(stored, "impi", 8, set(range(5)), "rank 1 left")
    world = World(few)
    assert world.best(8, world.peers, "engine", world.places[0]) == "mpich5"
    assert World(stored).best(8, world.peers, "engine", world.places[0]) == "impi"


def test_shared_buffers_are_compared_with_ordinary_ones_and_variants_of_old_runs_with_nothing() -> None:
    factors = {"engine": 1.0, "mpich5": 2.0, "engine/shared": 0.5, "engine/unaligned": 4.0, "mpich5/seed2": 6.0}
    world = made_up_world(times_of(factors), tuple(factors), (64 << 10,))
    judged = world.judged(64 << 10, "engine/shared", world.places[0])
    assert judged is not None
    assert judged.ratio == pytest.approx(0.5, rel=0.01)
    assert world.labels == ["engine", "mpich5", "engine/shared"]
    assert world.peers == ["mpich5"]
    shared = world.band(BANDS[1], world.peers, world.places[0], "engine/shared")
    assert shared is not None
    assert shared.ratio == pytest.approx(4.0, rel=0.01)


def test_a_death_costs_the_launches_in_which_it_happened_and_wrong_results_cost_all() -> None:
    stored = made_up_part(times_of({"engine": 1.0, "mpich5": 2.0}), ("engine", "mpich5"), (8,))
    died = World(with_errors(stored, "mpich5", 8, {0, 3}, "rank 1 left"))
    judged = died.judged(8, "mpich5", died.places[0])
    assert judged is not None
    assert judged.num_launches == 6
    assert [failure.launch for failure in died.failures] == [0, 3]
    wrong = World(with_errors(stored, "mpich5", 8, {3}, f"{WRONG}1 elements on rank 0"))
    assert wrong.judged(8, "mpich5", wrong.places[0]) is None
    assert wrong.time(8, "mpich5", wrong.places[0]) is None


def test_an_arm_that_failed_everywhere_keeps_its_reason() -> None:
    stored = made_up_part(times_of({"engine": 1.0, "mpich5": 2.0}), ("engine", "mpich5"), (8,))
    never = without_failures(with_errors(stored, "mpich5", 8, set(range(8)), "too slow"))
    assert {cell.error for launch in never.launches for cell in launch.cells} == {None, "too slow"}


def test_a_block_that_lacks_the_slow_columns_does_not_look_fast() -> None:
    columns = [{0: 1.0, 1: 1.1, 2: 0.9}, {0: 5.0, 1: 5.1}]
    assert combined(columns) == pytest.approx({0: 3.0, 1: 3.1 - 0.025, 2: 2.925 + 0.0}, abs=0.03)
    assert combined([{0: 1.0, 1: 2.0}]) == pytest.approx({0: 1.0, 1: 2.0})
