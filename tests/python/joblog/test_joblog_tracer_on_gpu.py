"""The tracer with a GPU that is made up: the record's own time is in no step, and the file has what it found.

PyTorch's fake group of two ranks sends nothing, so that one process is a rank; its calls are taken for a GPU's. On a
real one: test_joblog_on_gpu.py.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from pathlib import Path

import pytest

torch = pytest.importorskip("torch")
fake = pytest.importorskip("torch.testing._internal.distributed.fake_pg")

import torch.distributed as dist  # noqa: E402

from ringtree.joblog import tracer  # noqa: E402
from ringtree.joblog.on_gpu.events import DeviceEvent  # noqa: E402
from ringtree.joblog.on_gpu.steps import DeviceSteps  # noqa: E402
from ringtree.joblog.reading import read_trace  # noqa: E402
from ringtree.joblog.records import JobTrace  # noqa: E402
from ringtree.joblog.summary import summarise  # noqa: E402
from ringtree.joblog.timed_steps import TimedSteps  # noqa: E402

pytestmark = pytest.mark.torch


@pytest.fixture(autouse=True)
def two_ranks() -> Iterator[None]:
    dist.init_process_group("fake", store=fake.FakeStore(), rank=0, world_size=2)
    yield
    tracer.stop()
    dist.destroy_process_group()


class Gpu:
    """Record and GPU at once: a kernel for each call of all_reduce()."""

    def __init__(self) -> None:
        self.is_running = False
        self.events: list[DeviceEvent] = []
        self.turns: list[tuple[float, float]] = []  # when the record was started and read

    def start(self) -> None:
        self.turns.append((time.monotonic(), time.monotonic()))
        self.is_running = True
        self.events = []

    def stop(self) -> list[DeviceEvent]:
        began = time.monotonic()
        self.is_running = False
        while time.monotonic() < began + 0.02:  # what reading takes
            pass
        self.turns.append((began, time.monotonic()))
        return self.events

    def synchronise(self) -> None:
        pass

    def is_capturing(self) -> bool:
        return False

    def run_something(self) -> None:
        self.events.append(DeviceEvent("fill", 0, 7, 0.0, 0.0))

    def all_reduce(self) -> None:
        begin = time.monotonic()
        dist.all_reduce(torch.ones(4))
        end = time.monotonic()
        self.events.append(DeviceEvent("ncclDevKernel_AllReduce_Sum_f32_RING_LL()", 0, 20, begin, end))


def traced(monkeypatch: pytest.MonkeyPatch, folder: Path, gpu: Gpu, num_steps: int, time_every: int | None) -> JobTrace:
    """Steps with two all-reduces each."""

    def steps(timed: TimedSteps) -> DeviceSteps:
        return DeviceSteps(timed, gpu, gpu, device="cpu")  # type: ignore[arg-type]

    monkeypatch.setattr(tracer, "DeviceSteps", steps)
    tracer.install(folder, time_every=time_every)
    for _ in range(num_steps):
        gpu.all_reduce()
        gpu.all_reduce()
        tracer.mark_step()
    tracer.stop()
    return read_trace(folder)


def test_the_file_has_the_times_and_no_step_has_the_recording(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    gpu = Gpu()
    trace = traced(monkeypatch, tmp_path, gpu, 5, 2)
    (rank,) = trace.ranks
    assert [line.step for line in rank.steps if line.timed] == [0, 1, 3]
    assert sorted(rank.device_steps) == [1, 3]
    assert sorted(rank.device_calls) == [2, 3, 6, 7]
    assert len(gpu.turns) == 8, "once for nothing, then for 1, 3 and 5, which does not end"
    for line in rank.steps:
        assert all(end <= line.begin or line.end <= begin for begin, end in gpu.turns)
    for number, times in rank.device_calls.items():
        step = rank.steps[rank.calls[number].step]
        assert step.begin <= times.begin <= times.end <= step.end
        assert 0 <= times.exposed <= times.in_flight <= times.end - times.begin + 1e-6
    lengths = sum(line.end - line.begin for line in rank.steps)
    assert lengths < rank.steps[-1].end - rank.steps[0].begin - 3 * 0.02
    assert summarise(trace).notes == trace.notes, "that the other rank left no file"


def test_by_default_a_dear_record_is_taken_seldom(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Steps of well below a millisecond, and 20 ms to read them: not one of ten."""
    trace = traced(monkeypatch, tmp_path, Gpu(), 30, None)
    (rank,) = trace.ranks
    assert sorted(rank.device_steps) == [2]
    assert [line.step for line in rank.steps if line.timed] == [0, 2]


def test_the_step_under_way_at_the_end_is_dropped_and_the_record_stopped(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    gpu = Gpu()
    trace = traced(monkeypatch, tmp_path, gpu, 3, 1)
    assert not gpu.is_running
    (rank,) = trace.ranks
    assert rank.end is not None
    assert (rank.end.num_steps, sorted(rank.device_steps)) == (3, [1, 2])
