"""The machine's limits and the floor under an all_reduce: numbers worked out by hand, and a probe of this machine.

For: ringtree.measure.limits. Not for: how the probes measure (test_probe.py).
"""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from ringtree.measure import limits as lab_limits
from ringtree.measure.limits import LARGEST, copied_size, probe_limits, time_limit
from ringtree.measure.probe import usable_cores
from ringtree.results import ArmPlan, CopyRate, EmulatedCluster, MachineLimits, Plan, SizePlan

pytestmark = pytest.mark.alone

MB = 1 << 20


def make_plan(sizes: list[int], num_ranks: int = 2, emulated: bool = False) -> Plan:
    cluster = EmulatedCluster(hosts=2, ranks_per_host=1, alpha=1e-3, beta=1e6) if emulated else None
    return Plan(
        collective="all_reduce",
        op="sum",
        dtype="float32",
        num_ranks=num_ranks,
        arms=[ArmPlan(label="a", name="a")],
        reference="a",
        sizes=[SizePlan(size_bytes=n, num_launches=1, max_rounds=1, max_iterations=1, batch=1) for n in sizes],
        num_launches=1,
        seed=1,
        cell_budget=0.1,
        emulation=cluster,
    )


# 1 KB is copied as 512 bytes at 10 GB/s, 1 MB as 512 KB at 8 GB/s, what is 64 MB and more as 32 MB at 4 GB/s.
LIMITS = MachineLimits(
    num_copying=2,
    copy_rates=[
        CopyRate(size_bytes=512, bytes_per_second=10e9),
        CopyRate(size_bytes=MB // 2, bytes_per_second=8e9),
        CopyRate(size_bytes=32 * MB, bytes_per_second=4e9),
    ],
    handoff=150e-9,
)


@pytest.mark.parametrize(
    ("num_ranks", "size_bytes", "expected"),
    [
        (2, 0, 150e-9),  # the hand-off alone
        (2, 1024, 150e-9),  # copying takes 102.4 ns, the hand-off longer
        (4, 1024, 204.8e-9),  # two ranks a core
        (3, 1024, 153.6e-9),  # three ranks on two cores: 1.5 times, not 2
        (2, MB, MB / 8e9),
        (4, MB, 2 * MB / 8e9),
        (2, 64 * MB, 64 * MB / 4e9),
        (2, 1024 * MB, 1024 * MB / 4e9),  # at the rate of 64 MB
    ],
)
def test_the_floor_is_the_larger_of_handoff_and_copying(num_ranks: int, size_bytes: int, expected: float) -> None:
    assert time_limit(LIMITS, "all_reduce", num_ranks, size_bytes) == pytest.approx(expected)


def test_fewer_ranks_than_copying_cores_are_not_faster_than_one_core() -> None:
    many = LIMITS.model_copy(update={"num_copying": 8})
    assert time_limit(many, "all_reduce", 2, MB) == pytest.approx(MB / 8e9)


def test_no_floor_is_told_where_none_is_known() -> None:
    assert time_limit(None, "all_reduce", 2, MB) is None
    assert time_limit(LIMITS, "broadcast", 2, MB) is None
    assert time_limit(LIMITS, "all_reduce", 1, MB) is None
    assert time_limit(LIMITS, "all_reduce", 2, 2 * MB) is None  # a size that was not probed
    nothing = MachineLimits(num_copying=1, copy_rates=[], handoff=None)
    assert time_limit(nothing, "all_reduce", 2, 0) is None


def test_without_a_handoff_copying_is_the_floor() -> None:
    one_core = LIMITS.model_copy(update={"handoff": None, "num_copying": 1})
    assert time_limit(one_core, "all_reduce", 2, 1024) == pytest.approx(204.8e-9)


def test_a_call_is_probed_with_half_its_bytes_up_to_the_largest() -> None:
    assert [copied_size(size) for size in (1, 2, 4, 5, MB)] == [1, 1, 2, 2, MB // 2]
    assert copied_size(LARGEST) == copied_size(LARGEST + 1) == copied_size(1 << 40) == LARGEST // 2


def test_this_machine_is_probed_for_each_size_of_the_plan(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(lab_limits, "LARGEST", MB)  # a test need not copy what is huge
    monkeypatch.setattr(lab_limits, "HANDOFF_SPAN", 0.01)
    sizes = [0, 4, 1024, 64 * 1024, MB, 2 * MB, 8 * MB]
    found = probe_limits(make_plan(sizes, num_ranks=3))
    assert found is not None
    assert found.num_copying == min(3, len(usable_cores()))
    assert [rate.size_bytes for rate in found.copy_rates] == [2, 512, 32 * 1024, MB // 2]
    for size in sizes:
        floor = time_limit(found, "all_reduce", 3, size)
        assert floor is None if size == 0 and found.handoff is None else floor is not None and floor > 0, size


def test_a_single_rank_copies_on_one_core() -> None:
    found = probe_limits(make_plan([1024], num_ranks=1))
    assert found is not None
    assert found.num_copying == 1


def test_the_nearest_handoff_seen_is_the_limit(monkeypatch: pytest.MonkeyPatch) -> None:
    seen: Iterator[list[float | None]] = iter([[150e-9, None], [26e-9, 140e-9], [None, None]])

    class Known:
        pairs = ()  # ends the probing by time

        def times(self, seconds: float) -> list[float | None]:
            return next(seen)

    monkeypatch.setattr(lab_limits, "Handoff", Known)
    found = probe_limits(make_plan([64, 1024]))
    assert found is not None
    assert found.handoff == 26e-9


def test_what_memory_does_not_allow_is_not_copied(monkeypatch: pytest.MonkeyPatch) -> None:
    # a quarter of it holds two buffers of 512 bytes on two cores, and of 2,048 bytes not even on one
    for available, expected in [(8192, [512]), (0, [])]:
        monkeypatch.setattr(lab_limits, "available_memory", lambda bytes_=available: bytes_)
        found = probe_limits(make_plan([1024, 4096]))
        assert found is not None
        assert [rate.size_bytes for rate in found.copy_rates] == expected


def test_an_emulated_plan_has_no_limits() -> None:
    assert probe_limits(make_plan([1024], emulated=True)) is None
