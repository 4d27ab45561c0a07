"""How the bench spends a launch's time: calls of a batch, sizes that can be afforded, stays of each arm."""

from __future__ import annotations

import pytest
from bench.costs import (
    BATCH_SECONDS,
    FLOOR_SHARE,
    MOST_BATCHES,
    MOST_CALLS,
    PASSES,
    VISIT_SECONDS,
    affordable,
    in_pass,
    is_hopeless,
    is_sampled,
    share_out,
    visiting,
)
from bench_support import small_world  # noqa: F401  puts tools/ on the path

from ringtree.results import SizePlan


def size_plan(size_bytes: int) -> SizePlan:
    return SizePlan(size_bytes=size_bytes, num_launches=8, max_rounds=24, max_iterations=MOST_BATCHES, batch=1)


def test_short_calls_are_timed_in_batches_of_about_the_same_time() -> None:
    how = visiting(size_plan(8), call=1e-6, around=1e-4, ranks_a_core=1.0)
    assert how.calls == round(BATCH_SECONDS / 1e-6)
    assert how.batches == MOST_BATCHES
    assert how.warm_up == 1


def test_batches_grow_with_the_ranks_of_a_core() -> None:
    alone, shared = (visiting(size_plan(8), 1e-5, 1e-4, ranks).calls for ranks in (1.0, 8.0))
    assert shared == 8 * alone


def test_calls_have_a_limit_and_large_sizes_are_timed_one_by_one() -> None:
    assert visiting(size_plan(8), 1e-9, 0.0, 1.0).calls == MOST_CALLS
    assert visiting(size_plan(128 << 10), 1e-6, 0.0, 1.0).calls == 1


def test_a_dear_arm_gets_one_batch_a_visit() -> None:
    how = visiting(size_plan(8), call=0.024, around=0.024, ranks_a_core=2.0)
    assert (how.calls, how.batches, how.warm_up) == (1, 1, 0)
    assert how.seconds > VISIT_SECONDS


def test_an_arm_that_is_slow_beyond_doubt_is_measured_at_a_few_sizes_only() -> None:
    sizes = [1 << exponent for exponent in range(3, 29)]
    assert [size for size in sizes if is_sampled(size)] == [8, 2048, 512 << 10, 128 << 20]
    assert is_hopeless(0.024, 5e-6)
    assert not is_hopeless(0.024, 1e-3)
    assert not is_hopeless(1e-3, 5e-6)


def test_the_largest_sizes_are_given_up_first() -> None:
    floors = {8: 1.0, 1024: 2.0, 1 << 20: 30.0, 1 << 28: 400.0}
    assert affordable(floors, 33.0 / FLOOR_SHARE) == [8, 1024, 1 << 20]
    assert affordable(floors, 32.9 / FLOOR_SHARE) == [8, 1024]
    assert affordable(floors, 0.0) == [8]


def test_cheap_arms_get_all_stays_and_dear_ones_what_is_left() -> None:
    stays = [0.01, 0.01, 1.0, 4.0]
    counts = share_out(stays, 10.0)
    assert counts[:2] == [PASSES, PASSES]
    assert counts[2:] == [4, 1]
    assert sum(count * stay for count, stay in zip(counts, stays, strict=True)) <= 10.0


@pytest.mark.parametrize("seconds", [0.0, 1.0, 7.0, 30.0, 1e9])
def test_stays_never_exceed_the_time_unless_one_each_does(seconds: float) -> None:
    stays = [0.3, 0.7, 1.1, 2.9]
    counts = share_out(stays, seconds)
    assert all(1 <= count <= PASSES and PASSES % count == 0 for count in counts)
    assert counts == [1] * 4 or sum(c * s for c, s in zip(counts, stays, strict=True)) <= seconds


@pytest.mark.parametrize("offset", [0, 3, 8, 12345])
def test_passes_of_fewer_stays_are_among_those_of_more(offset: int) -> None:
    sets = {stays: {p for p in range(PASSES) if in_pass(p, stays, offset)} for stays in (1, 2, 4, 8)}
    assert [len(passes) for passes in sets.values()] == [1, 2, 4, 8]
    assert sets[1] < sets[2] < sets[4] < sets[8]
