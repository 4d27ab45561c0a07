"""Which part of a collective's kernels is exposed, against a reference that looks at each tick by itself."""

from __future__ import annotations

from random import Random

import pytest

from ringtree.joblog.on_gpu.events import DeviceEvent, is_collective, is_computing, kind_of_kernel
from ringtree.joblog.on_gpu.matching import HostCall
from ringtree.joblog.on_gpu.times import device_step

SUM = "ncclDevKernel_AllReduce_Sum_f32_RING_LL(ncclDevKernelArgsStorage<4096ul>)"
COMPUTE = "void at::native::vectorized_elementwise_kernel<4>(int)"
TICKS = 60


def kernel(begin: float, end: float, launched: float | None, name: str = SUM, stream: int = 20) -> DeviceEvent:
    return DeviceEvent(name, 0, stream, begin, end, launched)


def compute(begin: float, end: float, name: str = COMPUTE, stream: int = 7, device: int = 0) -> DeviceEvent:
    return DeviceEvent(name, device, stream, begin, end, None)


def call(number: int, begin: float, collective: str = "all_reduce", group: int = 0) -> HostCall:
    return HostCall(number, collective, group, begin, begin + 0.5)


def by_ticks(events: list[DeviceEvent]) -> list[float]:
    """Exposed ticks of each collective's event, in their order; nothing clever."""
    found = [0.0] * len(events)
    for tick in range(TICKS):
        under_way = [at for at, one in enumerate(events) if is_collective(one.name) and one.begin <= tick < one.end]
        computes = any(is_computing(one.name) and one.begin <= tick < one.end for one in events)
        if under_way and not computes:
            found[min(under_way, key=lambda at: (events[at].begin, at))] += 1.0
    return [found[at] for at, one in enumerate(events) if is_collective(one.name)]


@pytest.mark.parametrize("seed", range(60))
def test_exposed_times_are_those_of_the_slow_reference(seed: int) -> None:
    random = Random(seed)
    calls, events = [], []
    for number in range(random.randint(1, 6)):
        begin = random.randint(0, TICKS - 2)
        calls.append(call(number, -10.0 + number))
        events.append(kernel(begin, begin + random.randint(0, 20), -9.9 + number, stream=random.randint(20, 22)))
    for _ in range(random.randint(0, 12)):
        begin = random.randint(0, TICKS - 1)
        name = random.choice(
            [COMPUTE, "Memset (Device)", "Memcpy DtoD (Device -> Device)", "Memcpy HtoD (Pinned -> Device)"]
        )
        events.append(compute(begin, begin + random.randint(0, 6), name, stream=random.randint(1, 3)))
    events = [one._replace(end=min(one.end, TICKS)) for one in events]
    found = device_step(calls, events, 0.0, TICKS)
    assert [found.calls[one.number].exposed for one in calls] == by_ticks(events)
    assert found.exposed == sum(by_ticks(events)) <= TICKS
    for one in found.calls.values():
        assert 0.0 <= one.exposed <= one.in_flight == one.end - one.begin
    assert (found.lost, found.unmatched, found.kernels) == ([], 0, [])


def test_a_collective_in_a_gap_is_exposed_and_one_beside_computing_is_not() -> None:
    events = [compute(0, 4), kernel(2, 7, 0.2), compute(5, 6), kernel(8, 9, 1.2), compute(8, 9)]
    found = device_step([call(0, 0.0), call(1, 1.0)], events, 0.0, 10.0)
    assert found.calls[0] == (2, 7, 5, 2)
    assert found.calls[1] == (8, 9, 1, 0)


def test_another_gpu_of_the_process_hides_nothing() -> None:
    found = device_step([call(0, 0.0)], [kernel(2, 7, 0.2), compute(0, 9, device=1)], 0.0, 10.0)
    assert found.calls[0].exposed == 5


def test_copies_from_and_to_the_host_hide_nothing_and_copies_on_the_gpu_do() -> None:
    events = [kernel(0, 9, 0.2)]
    for begin, name in (
        (1, "HtoD (Pinned -> Device)"),
        (3, "DtoH (Device -> Pageable)"),
        (5, "DtoD (Device -> Device)"),
    ):
        events.append(compute(begin, begin + 1, f"Memcpy {name}"))
    assert device_step([call(0, 0.0)], events, 0.0, 10.0).calls[0].exposed == 8


def test_what_lies_outside_of_the_step_does_not_count() -> None:
    events = [kernel(-5, 3, 0.2), kernel(9, 14, 1.2), kernel(20, 30, 1.3), compute(-9, 1)]
    found = device_step([call(0, 0.0), call(1, 1.0)], events, 0.0, 10.0)
    assert found.calls[0] == (0, 3, 3, 2)
    assert found.calls[1] == (9, 10, 1, 1)
    assert found.exposed == 3


def test_a_call_of_several_kernels_is_in_flight_while_one_of_them_runs() -> None:
    events = [kernel(1, 3, 0.1), kernel(2, 4, 0.2, stream=21), kernel(6, 7, 0.3)]
    assert device_step([call(0, 0.0)], events, 0.0, 10.0).calls[0] == (1, 7, 4, 4)


def test_calls_that_share_a_kernel_are_in_flight_together_and_it_counts_once() -> None:
    calls = [call(0, 0.0, "send"), call(1, 1.0, "recv")]
    shared = kernel(3, 6, 2.0, "ncclDevKernel_SendRecv(ncclDevKernelArgsStorage<4096ul>)")
    found = device_step(calls, [shared], 0.0, 10.0)
    assert [found.calls[number].in_flight for number in (0, 1)] == [3, 3]
    assert [found.calls[number].exposed for number in (0, 1)] == [3, 0]
    assert found.exposed == 3


def test_events_that_cannot_be_are_left_out() -> None:
    backwards = kernel(6, 4, 0.2)
    found = device_step([call(0, 0.0)], [backwards, compute(8, 7), kernel(5, 5, 0.3)], 0.0, 10.0)
    assert found.calls[0] == (5, 5, 0, 0)
    nothing = device_step([call(0, 0.0)], [], 0.0, 10.0)
    assert (nothing.calls, nothing.exposed, nothing.lost) == ({}, 0, ["all_reduce"])


def test_kernels_of_no_call_count_as_exposed_and_are_told_by_kind() -> None:
    """As a CUDA graph runs them: two kernels of which the one call can have none."""
    events = [kernel(1, 3, 5.0), kernel(4, 5, 5.0), kernel(7, 8, 0.2)]
    found = device_step([call(0, 0.0)], events, 0.0, 10.0)
    assert found.calls[0] == (7, 8, 1, 1)
    assert (found.lost, found.unmatched, found.exposed) == ([], 2, 4)
    assert found.kernels == [("AllReduce", 3, 4, 4)]


@pytest.mark.parametrize(
    ("name", "kind"),
    [
        (SUM, "AllReduce"),
        ("ncclKernel_AllReduce_RING_LL_Sum_float(ncclDevComm*, unsigned long, ncclWork*)", "AllReduce"),
        ("ncclAllReduceRingLLKernel_sum_f32(ncclColl)", "AllReduce"),
        ("ncclDevKernel_ReduceScatter_Sum_bf16_RING_LL(ncclDevKernelArgsStorage<4096ul>)", "ReduceScatter"),
        ("ncclDevKernel_AllGather_RING_LL(ncclDevKernelArgsStorage<4096ul>)", "AllGather"),
        ("ncclSymkDevKernel_ReduceScatter_LD_sum_f32(ncclSymkDevWorkArgs)", "ReduceScatter"),
        ("ncclDevKernel_Reduce_Sum_f32_RING_LL(ncclDevKernelArgsStorage<4096ul>)", "Reduce"),
        ("ncclDevKernel_Broadcast_RING_LL(ncclDevKernelArgsStorage<4096ul>)", "Broadcast"),
        ("ncclDevKernel_SendRecv(ncclDevKernelArgsStorage<4096ul>)", "SendRecv"),
        ("ncclDevKernel_Generic_4(ncclDevKernelArgsStorage<4096ul>)", "other"),
    ],
)
def test_names_of_kernels_say_their_kind(name: str, kind: str) -> None:
    assert kind_of_kernel(name) == kind
    assert is_collective(name)
    assert not is_computing(name)


def test_names_that_are_not_of_a_collective() -> None:
    for name in ("nccl:all_reduce", COMPUTE, "Memset (Device)", "my_ncclDevKernel_AllReduce"):
        assert not is_collective(name)
