"""Which kernels belong to which recorded call: by the launch inside of it, after it, or by kind and order."""

from __future__ import annotations

from random import Random

import pytest

from ringtree.joblog.on_gpu.events import KERNEL_OF, DeviceEvent
from ringtree.joblog.on_gpu.matching import HostCall, Matching, match


def call(number: int, collective: str = "all_reduce", group: int = 0, begin: float | None = None) -> HostCall:
    """The host is inside from `begin` (its number) for half a second."""
    begin = float(number) if begin is None else begin
    return HostCall(number, collective, group, begin, begin + 0.5)


def kernel(launched: float | None, begin: float, kind: str = "AllReduce", stream: int = 20) -> DeviceEvent:
    return DeviceEvent(f"ncclDevKernel_{kind}_RING_LL()", 0, stream, begin, begin + 0.1, launched)


def begins(found: Matching) -> dict[int, list[float]]:
    return {number: [event.begin for event in events] for number, events in found.events.items()}


def test_a_kernel_is_that_of_the_call_that_launched_it_whatever_order_it_runs_in() -> None:
    calls = [call(0), call(1, group=1), call(2, "all_gather")]
    kernels = [kernel(0.2, 30.0), kernel(1.2, 10.0, stream=21), kernel(2.2, 20.0, "AllGather")]
    found = match(calls, Random(1).sample(kernels, 3))
    assert begins(found) == {0: [30.0], 1: [10.0], 2: [20.0]}
    assert (found.unmatched, found.lacking) == ([], [])


def test_several_kernels_of_one_call_whatever_their_kind() -> None:
    """An all-gather of uneven blocks is broadcasts."""
    found = match([call(0, "all_gather"), call(1)], [kernel(0.1, 10.0, "Broadcast"), kernel(0.2, 11.0, "Broadcast")])
    assert begins(found) == {0: [10.0, 11.0]}
    assert [one.number for one in found.lacking] == [1]


def test_of_calls_of_two_threads_at_once_the_one_that_fits() -> None:
    calls = [HostCall(0, "all_reduce", 0, 0.0, 2.0), HostCall(1, "all_gather", 1, 0.5, 1.0)]
    found = match(calls, [kernel(0.7, 10.0), kernel(0.8, 11.0, "AllGather"), kernel(1.5, 12.0)])
    assert begins(found) == {0: [10.0, 12.0], 1: [11.0]}


def test_what_is_coalesced_shares_the_kernels_that_are_launched_at_its_end() -> None:
    calls = [call(0, "send"), call(1, "recv"), call(3, "send"), call(4, "recv"), call(6)]
    kernels = [
        kernel(2.0, 10.0, "SendRecv"),
        kernel(5.0, 11.0, "SendRecv"),
        kernel(5.1, 12.0, "SendRecv"),
        kernel(6.1, 13.0),
    ]
    found = match(calls, kernels)
    assert begins(found) == {0: [10.0], 1: [10.0], 3: [11.0, 12.0], 4: [11.0, 12.0], 6: [13.0]}
    assert (found.unmatched, found.lacking) == ([], [])


def test_a_coalesced_block_ends_at_another_group_and_at_a_call_with_kernels_of_its_own() -> None:
    calls = [call(0, group=1), call(1), call(2), call(3)]
    found = match(calls, [kernel(1.2, 10.0), kernel(3.8, 11.0)])
    assert begins(found) == {1: [10.0], 2: [11.0], 3: [11.0]}
    assert [one.number for one in found.lacking] == [0]


def test_kernels_that_no_call_launched_stay_unmatched() -> None:
    """A replayed CUDA graph, another library: they are launched after a call that has its own kernel, or before all."""
    found = match([call(1)], [kernel(0.5, 10.0), kernel(1.2, 11.0), kernel(1.9, 12.0), kernel(9.0, 13.0, "AllGather")])
    assert begins(found) == {1: [11.0]}
    assert [event.begin for event in found.unmatched] == [10.0, 12.0, 13.0]


def test_a_clock_that_is_off_leaves_kernels_unmatched_and_matches_none_wrongly_by_kind() -> None:
    calls = [call(0), call(1, "all_gather"), call(2)]
    late = 100.0
    kernels = [kernel(0.2 - late, 10.0), kernel(1.2 - late, 11.0, "AllGather"), kernel(2.2 - late, 12.0)]
    found = match(calls, kernels)
    assert begins(found) == {}
    assert (len(found.unmatched), len(found.lacking)) == (3, 3)


def test_without_launches_by_kind_and_order_in_the_stream() -> None:
    calls = [call(0), call(1, "all_gather"), call(2), call(3, "barrier")]
    kernels = [kernel(None, 10.0), kernel(None, 12.0, "AllGather", 21), kernel(None, 14.0), kernel(None, 11.0)]
    found = match(calls, kernels)
    assert begins(found) == {0: [10.0], 1: [12.0], 2: [11.0], 3: [14.0]}


@pytest.mark.parametrize("num_kernels", [0, 1, 3])
def test_without_launches_other_numbers_match_nothing(num_kernels: int) -> None:
    found = match([call(0), call(1)], [kernel(None, 10.0 + n) for n in range(num_kernels)])
    assert begins(found) == {}
    assert (len(found.unmatched), len(found.lacking)) == (num_kernels, 2)


def test_without_launches_two_groups_are_told_apart_by_how_many_calls_they_have() -> None:
    calls = [call(0), call(1, group=1), call(2)]
    kernels = [kernel(None, 10.0, stream=21), kernel(None, 11.0), kernel(None, 12.0)]
    assert begins(match(calls, kernels)) == {0: [11.0], 1: [10.0], 2: [12.0]}
    as_many = match([call(0), call(1, group=1)], kernels[:2])
    assert (begins(as_many), len(as_many.unmatched)) == ({}, 2)


def test_copy_engines_do_the_work_of_a_call_without_kernels() -> None:
    copies = [
        DeviceEvent(f"Memcpy {kind}", 0, 20, begin, begin + 0.1, launched)
        for kind, begin, launched in (
            ("PtoP (Device -> Device)", 10.0, 0.2),
            ("DtoD (Device -> Device)", 11.0, 1.2),  # of a call with a kernel: it copies what came
            ("HtoD (Pinned -> Device)", 12.0, 0.3),
            ("DtoD (Device -> Device)", 13.0, 0.8),  # of no call
            ("DtoD (Device -> Device)", 14.0, None),
        )
    ]
    found = match([call(0, "all_gather"), call(1, "all_gather")], [*copies, kernel(1.1, 15.0, "AllGather")])
    assert begins(found) == {0: [10.0], 1: [15.0]}


@pytest.mark.parametrize("seed", range(20))
def test_many_calls_of_all_kinds_have_the_kernels_that_they_launched(seed: int) -> None:
    random = Random(seed)
    calls, kernels, wanted = [], [], {}
    for number in range(200):
        made = call(number, random.choice(list(KERNEL_OF)), random.randint(0, 3))
        calls.append(made)
        for _ in range(random.choice((1, 1, 1, 2))):
            begin = random.uniform(0.0, 1000.0)
            kernels.append(kernel(random.uniform(made.begin, made.issued), begin, KERNEL_OF[made.collective]))
            wanted.setdefault(number, []).append(begin)
    found = match(random.sample(calls, len(calls)), random.sample(kernels, len(kernels)))
    assert begins(found) == {number: sorted(events) for number, events in wanted.items()}
    assert (found.unmatched, found.lacking) == ([], [])
