"""Probes of the machine: which cores they choose, that they find times and rates, and that they end without.

For: ringtree.probe and what it takes from the C++ core. Not for: speeds, which differ between machines, or how threads
bounce a line (tests/core/probe).
"""

from __future__ import annotations

import itertools
import math
import os
import subprocess
import sys

import pytest

import ringtree
from ringtree import _core
from ringtree.measure.probe import Handoff, copy_rates, core_pairs, usable_cores

pytestmark = pytest.mark.alone

IMPOSSIBLE_CORE = 60_000
PATIENT = 20.0  # seconds: a busy machine must not fail a test

needs_two_cores = pytest.mark.skipif(len(usable_cores()) < 2, reason="needs two cores")


@pytest.mark.parametrize(
    ("affinity", "limit", "expected"),
    [
        ([], 4, []),
        ([3], 4, []),
        ([1, 0], 4, [(0, 1)]),
        ([8, 2, 5], 4, [(2, 5), (5, 8)]),
        ([0, 0, 1], 4, [(0, 1)]),
        (range(5), 4, [(0, 1), (1, 2), (2, 3), (3, 4)]),
        (range(9), 4, [(0, 1), (2, 3), (4, 5), (7, 8)]),
        (range(9), 2, [(0, 1), (7, 8)]),
        (range(9), 1, [(0, 1)]),
    ],
)
def test_pairs_are_neighbours_thinned_out_evenly(
    affinity: list[int], limit: int, expected: list[tuple[int, int]]
) -> None:
    assert core_pairs(affinity, limit) == expected


def test_pairs_keep_to_the_limit_and_reach_both_ends() -> None:
    for num_cores, limit in itertools.product(range(2, 70), range(2, 9)):
        pairs = core_pairs(range(num_cores), limit)
        assert len(set(pairs)) == len(pairs) == min(limit, num_cores - 1), (num_cores, limit)
        assert (pairs[0], pairs[-1]) == ((0, 1), (num_cores - 2, num_cores - 1)), (num_cores, limit)
        assert all(b == a + 1 for a, b in pairs), (num_cores, limit)


def test_no_pairs_at_all_are_refused() -> None:
    with pytest.raises(ringtree.UsageError, match="at least one pair"):
        core_pairs([0, 1], 0)


@needs_two_cores
def test_a_handoff_takes_time_and_leaves_the_affinity_alone() -> None:
    before = os.sched_getaffinity(0)
    handoff = Handoff(patience=PATIENT)
    for _ in range(5):
        one_way = handoff.measure(20e-6)
        assert one_way is not None
        assert math.isfinite(one_way)
        assert 0 < one_way < 1
    assert os.sched_getaffinity(0) == before


@needs_two_cores
def test_every_pair_is_probed_and_the_slowest_counts(monkeypatch: pytest.MonkeyPatch) -> None:
    class Known:
        def __init__(self, core_a: int, core_b: int, patience: float) -> None:
            self.time = {(0, 1): 3e-8, (1, 2): 1.5e-7, (2, 3): None, (3, 4): 4e-8}[core_a, core_b]

        def measure(self, seconds: float) -> float | None:
            return self.time

    monkeypatch.setattr("ringtree.measure.probe.HandoffProbe", Known)
    handoff = Handoff(range(5))
    assert handoff.times() == [3e-8, 1.5e-7, None, 4e-8]
    assert handoff.measure() == 1.5e-7
    assert Handoff([2, 3]).measure() is None


def test_one_core_has_no_handoff() -> None:
    assert Handoff(usable_cores()[:1]).pairs == []
    assert Handoff(usable_cores()[:1]).measure() is None


def test_a_core_that_does_not_exist_gives_nothing_in_bounded_time() -> None:
    handoff = Handoff([usable_cores()[0], IMPOSSIBLE_CORE], patience=0.01)
    assert handoff.measure() is None
    assert handoff.times() == [None]


def test_times_that_are_none_are_refused() -> None:
    for seconds in (-1.0, 61.0, math.nan):
        with pytest.raises(ringtree.UsageError, match="within 0 and 60"):
            _core.HandoffProbe(0, 1).measure(seconds)
        with pytest.raises(ringtree.UsageError, match="patience"):
            Handoff([0, 1], patience=seconds)


@needs_two_cores
def test_an_interpreter_ends_while_a_probe_still_exists() -> None:
    code = "from ringtree.measure.probe import Handoff; h = Handoff(patience=20); print(h.measure(20e-6) > 0)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60)
    assert (done.returncode, done.stdout, done.stderr) == (0, "True\n", "")


def test_each_size_has_a_rate() -> None:
    rates = copy_rates([64, 100_000], num_cores=len(usable_cores()), seconds=1e-3)
    assert list(rates) == [64, 100_000]
    assert all(math.isfinite(rate) and rate > 0 for rate in rates.values())


def test_copying_refuses_what_it_cannot_do() -> None:
    with pytest.raises(ringtree.UsageError, match="cores can't copy"):
        copy_rates([64], num_cores=len(usable_cores()) + 1, seconds=0)
    with pytest.raises(ringtree.UsageError, match="cores can't copy"):
        copy_rates([64], num_cores=0, seconds=0)
    with pytest.raises(ringtree.UsageError, match="at least 1 byte, not 0"):
        copy_rates([64, 0], num_cores=1, seconds=0)
    with pytest.raises(ringtree.UsageError, match=r"2000 bytes of memory, more than the cap of 1999"):
        copy_rates([1000], num_cores=1, seconds=0, memory_cap=1999)
    with pytest.raises(ringtree.UsageError, match="between 0 and 60"):
        copy_rates([64], num_cores=1, seconds=-1)


def test_a_size_for_which_memory_is_short_is_left_out() -> None:
    assert list(copy_rates([64, 1 << 60], num_cores=1, seconds=0, memory_cap=1 << 62)) == [64]
