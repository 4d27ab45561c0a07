"""Which steps are recorded on the GPU and what is written of them, with a GPU that is made up.

That PyTorch's profiler starts, stops and is read: on the CPU's events, which it has everywhere."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from types import SimpleNamespace
from typing import Any

import pytest

torch = pytest.importorskip("torch")

from ringtree.joblog.on_gpu.events import DeviceEvent  # noqa: E402
from ringtree.joblog.on_gpu.record import BusyError, DeviceRecord, NoRecordError, read_events  # noqa: E402
from ringtree.joblog.on_gpu.steps import DeviceSteps, EndedStep  # noqa: E402
from ringtree.joblog.timed_steps import TimedSteps  # noqa: E402

pytestmark = pytest.mark.torch

KERNEL = DeviceEvent("ncclDevKernel_AllReduce_Sum_f32_RING_LL()", 0, 20, 2.0, 5.0, 1.2)
COMPUTE = DeviceEvent("gemm", 0, 7, 0.0, 4.0)
OWN = "the job runs a profiler of its own, and there can be one only"


class MadeUp:
    """Record and GPU at once; `log` has what was done."""

    def __init__(self, events: list[DeviceEvent] | None = None) -> None:
        self.events = [KERNEL, COMPUTE] if events is None else events
        self.log: list[str] = []
        self.is_running = False
        self.captures = False
        self.error: Exception | None = None

    def start(self) -> None:
        if self.error is not None:
            raise self.error
        self.log.append("start")
        self.is_running = True

    def stop(self) -> list[DeviceEvent]:
        self.log.append("stop")
        self.is_running = False
        return self.events

    def synchronise(self) -> None:
        self.log.append("wait")

    def is_capturing(self) -> bool:
        return self.captures

    def run_something(self) -> None:
        self.log.append("run")


def call_text(step: int, number: int = 0, **more: Any) -> str:
    said = {"call": number, "step": step, "collective": "all_reduce", "group": 0, "in_bytes": 8, "out_bytes": 8}
    return json.dumps({**said, "device": "cuda", "begin": 1.0, "issued": 1.5, **more})


class Job:
    """Steps of ten seconds, one after the other; `lines`: what is written."""

    def __init__(self, made_up: MadeUp, time_every: int | None = None, steps_take: float = 10.0) -> None:
        self.steps = DeviceSteps(TimedSteps(time_every), made_up, made_up)  # type: ignore[arg-type]
        self.timed = self.steps._timed
        self.seconds = steps_take
        self.number = 0
        self.lines: list[dict[str, Any]] = []

    def end_step(self, *calls: str) -> None:
        turns = self.steps.settle(self.number + 1)
        self.steps.note_length(self.number, self.seconds, self.timed.is_timed(self.number))
        ended = EndedStep(self.number, 0.0, self.seconds, list(calls or [call_text(self.number)]), [2, 1])
        self.number += 1
        if turns:
            self.lines += map(json.loads, self.steps.turn(ended, self.number))


@pytest.fixture
def made_up() -> MadeUp:
    return MadeUp()


def test_a_timed_step_is_recorded_from_an_idle_gpu_to_an_idle_gpu(made_up: MadeUp) -> None:
    job = Job(made_up, time_every=10)
    job.steps.meet("cuda", 2)
    job.end_step()
    assert made_up.log == ["wait", "start", "run", "wait", "stop"], "the first start, which is slow, in no step"
    made_up.log.clear()
    job.end_step()
    assert made_up.log == ["wait", "start"]
    job.end_step()
    assert made_up.log == ["wait", "start", "wait", "stop"]
    for _ in range(8):
        job.end_step()
    assert made_up.log == ["wait", "start", "wait", "stop"], "untimed steps are left alone"
    assert job.lines == [
        {"kind": "device_call", "call": 0, "begin": 2.0, "end": 5.0, "in_flight": 3.0, "exposed": 1.0},
        {"kind": "device_step", "step": 2, "exposed": 1.0, "lost": [], "unmatched": 0, "kernels": []},
    ]


@pytest.mark.parametrize(("device", "size"), [("cpu", 2), ("cuda", 1)])
def test_a_job_without_collectives_on_a_gpu_is_left_alone(made_up: MadeUp, device: str, size: int) -> None:
    job = Job(made_up, time_every=1)
    job.steps.meet(device, size)
    for _ in range(4):
        job.end_step()
    assert (made_up.log, job.lines) == ([], [])


def test_calls_that_send_nothing_need_no_kernel(made_up: MadeUp) -> None:
    made_up.events = [KERNEL]
    job = Job(made_up, time_every=1)
    job.steps.meet("cuda", 2)
    job.end_step()
    nothing = [
        call_text(1, 1, in_bytes=0, out_bytes=0),
        call_text(1, 2, group=1),
        call_text(1, 3, device="cpu"),
        call_text(1, 4, issued=None),
        call_text(0, 5),
    ]
    job.end_step(call_text(1), *nothing)
    assert job.lines[-1]["lost"] == []
    job.end_step(call_text(2), call_text(2, 1, begin=7.0, issued=7.5))
    assert job.lines[-1]["lost"] == ["all_reduce"]
    assert job.lines[-1]["kernels"] == [{"kernel": "AllReduce", "num": 1, "in_flight": 3.0, "exposed": 3.0}]


def test_where_the_record_cannot_be_had_each_timed_step_says_why(made_up: MadeUp) -> None:
    made_up.error = NoRecordError("no CUPTI")
    job = Job(made_up, time_every=2)
    job.steps.meet("cuda", 2)
    for _ in range(6):
        job.end_step()
    assert job.lines == [{"kind": "not_timed", "step": step, "why": "no CUPTI"} for step in (1, 3, 5)]
    assert made_up.log == ["wait"]


def test_a_gpu_that_gives_no_record_is_asked_once() -> None:
    silent = MadeUp(events=[])
    job = Job(silent, time_every=1)
    job.steps.meet("cuda", 2)
    for _ in range(3):
        job.end_step()
    assert [line["step"] for line in job.lines] == [1, 2]
    assert all(line["why"].startswith("the GPU gave no record") for line in job.lines)
    assert silent.log.count("start") == 1


def test_a_profiler_that_was_there_before_is_waited_for(made_up: MadeUp) -> None:
    job = Job(made_up, time_every=1)
    job.steps.meet("cuda", 2)
    made_up.error = BusyError(OWN)
    job.end_step()
    job.end_step()
    made_up.error = None
    job.end_step()
    job.end_step()
    assert [
        (line["kind"], line.get("step", line.get("why"))) for line in job.lines if line["kind"] != "device_call"
    ] == [
        ("not_timed", 1),
        ("not_timed", 2),
        ("device_step", 3),
    ]


def test_an_end_that_is_captured_into_a_graph_is_not_waited_for(made_up: MadeUp) -> None:
    job = Job(made_up, time_every=1)
    job.steps.meet("cuda", 2)
    job.end_step()
    made_up.captures = True
    made_up.log.clear()
    job.end_step()
    made_up.captures = False
    job.end_step()
    job.end_step()
    assert made_up.log[0] == "stop"
    whys = [(line["step"], line["why"]) for line in job.lines if line["kind"] == "not_timed"]
    assert whys == [(step, "its end was captured into a CUDA graph") for step in (1, 2)]
    assert job.lines[-1]["step"] == 3


def test_an_error_of_the_jobs_own_kernels_ends_the_recording_and_not_the_job(made_up: MadeUp) -> None:
    job = Job(made_up, time_every=1)
    job.steps.meet("cuda", 2)
    job.end_step()

    def fail() -> None:
        raise RuntimeError("CUDA error: an illegal memory access was encountered")

    made_up.synchronise = fail  # type: ignore[method-assign]
    job.end_step()
    job.end_step()
    assert not made_up.is_running
    assert [line["kind"] for line in job.lines] == ["not_timed"] * 2
    assert "illegal memory access" in job.lines[0]["why"]


@pytest.fixture
def watched(made_up: MadeUp) -> Iterator[Job]:
    job = Job(made_up, time_every=1)
    job.steps.start()
    yield job
    job.steps.stop()


def test_the_jobs_own_profiler_has_the_right_of_way(made_up: MadeUp, watched: Job) -> None:
    from torch.autograd import profiler as module
    from torch.profiler import ProfilerActivity, profile

    watched.steps.meet("cuda", 2)
    watched.end_step()
    assert made_up.is_running
    with profile(activities=[ProfilerActivity.CPU]) as own:
        assert not made_up.is_running, "before PyTorch would find two"
        torch.ones(3).add_(1)
        watched.end_step()
        assert not made_up.is_running
        watched.end_step()
    assert any(event.key == "aten::add_" for event in own.key_averages())
    watched.end_step()
    assert made_up.is_running
    watched.end_step()
    whys = [(line["step"], line["why"]) for line in watched.lines if line["kind"] == "not_timed"]
    assert whys == [(1, OWN), (2, OWN), (3, OWN)]
    assert watched.lines[-1]["step"] == 4
    wrapped = module._prepare_profiler
    watched.steps.stop()
    assert not made_up.is_running
    assert module._prepare_profiler is not wrapped


def test_a_profiler_of_the_jobs_that_does_not_start_is_none(made_up: MadeUp, monkeypatch: pytest.MonkeyPatch) -> None:
    from torch.autograd import profiler as module
    from torch.profiler import ProfilerActivity, profile

    def fail(*_: object) -> None:
        raise RuntimeError("no profiler today")

    monkeypatch.setattr(module, "_enable_profiler", fail)
    job = Job(made_up, time_every=1)
    job.steps.start()
    job.steps.meet("cuda", 2)
    job.end_step()
    with pytest.raises(RuntimeError, match="no profiler today"), profile(activities=[ProfilerActivity.CPU]):
        pass
    job.end_step()
    assert made_up.is_running, "there is none that it has to make room for"
    job.end_step()
    job.steps.stop()
    assert [line["step"] for line in job.lines if line["kind"] == "not_timed"] == [1]
    assert job.lines[-1]["step"] == 2


def test_timing_takes_a_hundredth_of_the_job_at_most() -> None:
    steps = TimedSteps(None)
    assert [step for step in range(33) if steps.is_timed(step)] == [0, 2, 12, 22, 32]
    steps.pay(0.0999, 1.0)
    assert steps.is_timed(12)
    steps.pay(0.39, 1.0)  # a hundredth of 39 s: of each 40 steps one
    assert [step for step in range(1, 100) if steps.is_timed(step)] == [2, 42, 82]
    asked = TimedSteps(10)
    asked.pay(100.0, 1.0)
    assert asked.is_timed(12), "who asks for it gets it"


def test_a_step_that_was_not_recorded_costs_nothing(made_up: MadeUp) -> None:
    """The job's own profiler makes step 12 twice as long; in step 22 the record does."""
    job = Job(made_up)
    job.steps.meet("cuda", 2)
    while job.number < 11:
        job.end_step()
    job.steps._own.is_there = True
    job.end_step()
    job.seconds = 20.0
    job.end_step()
    assert job.lines[-1] == {"kind": "not_timed", "step": 12, "why": OWN}
    assert job.timed.is_timed(22)
    job.steps._own.is_there, job.seconds = False, 10.0
    while job.number < 22:
        job.end_step()
    assert job.timed.is_timed(32)
    job.seconds = 20.0
    job.end_step()
    assert job.lines[-1]["kind"] == "device_step"
    assert not job.timed.is_timed(32)


def test_profiler_of_pytorch_starts_stops_and_is_read() -> None:
    record = DeviceRecord("CPU")
    for _ in range(2):
        record.start()
        torch.ones(3).add_(1)
        assert record.is_running
        with pytest.raises(BusyError, match="profiler of its own"):
            DeviceRecord("CPU").start()
        assert record.stop() == []
        assert not record.is_running


def test_another_thread_cannot_stop_it() -> None:
    record = DeviceRecord("CPU")
    record.start()
    said: list[str] = []

    def stop() -> None:
        try:
            record.stop()
        except NoRecordError as error:
            said.append(str(error))

    thread = threading.Thread(target=stop)
    thread.start()
    thread.join()
    torch._C._autograd._disable_profiler()
    assert said == ["the step ended in another thread than it began in"]


def test_a_pytorch_without_cupti_says_so() -> None:
    if torch.version.cuda or torch.version.hip:
        pytest.skip("this PyTorch has it")
    with pytest.raises(NoRecordError, match="this PyTorch was built without CUPTI"):
        DeviceRecord().start()


def kineto(name: str, device: str, start_ns: int, kind: str, correlation: int) -> Any:
    return SimpleNamespace(
        name=lambda: name,
        device_type=lambda: SimpleNamespace(name=device),
        device_index=lambda: 1,
        device_resource_id=lambda: 20,
        start_ns=lambda: start_ns,
        duration_ns=lambda: 1500,
        correlation_id=lambda: correlation,
        activity_type=lambda: kind,
    )


def test_events_of_kineto_are_read_on_the_hosts_clock() -> None:
    """Its clock is that of the wall, 1.8e18 ns: a float has only each 256th of those."""
    wall = 1_800_000_000_000_000_000
    events = [
        kineto("cuLaunchKernelEx", "CPU", wall + 1_000, "cuda_driver", 7),
        kineto("cudaLaunchKernel", "CPU", wall + 2_000, "cuda_runtime", 8),
        kineto(KERNEL.name, "CUDA", wall + 5_001, "kernel", 7),
        kineto("gemm", "CUDA", wall + 6_000, "kernel", 8),
        kineto("Memcpy DtoD (Device -> Device)", "CUDA", wall + 7_000, "gpu_memcpy", 9),
        kineto("nccl:all_reduce", "CUDA", wall, "gpu_user_annotation", 7),
        kineto("Context Sync", "CUDA", wall, "cuda_sync", 10),
    ]
    nccl, gemm, copy = read_events(events, ahead_ns=wall - 1_000_000)
    assert (nccl.name, nccl.device, nccl.stream) == (KERNEL.name, 1, 20)
    assert (nccl.launched, nccl.begin, nccl.end) == pytest.approx((1.001e-3, 1.005001e-3, 1.006501e-3), rel=1e-9)
    assert nccl.end - nccl.begin == pytest.approx(1.5e-6, rel=1e-6)
    assert (gemm.name, gemm.launched) == ("gemm", None)
    assert (copy.name, copy.launched) == ("Memcpy DtoD (Device -> Device)", None)
    for event in events:
        event.activity_type = lambda: 3
    assert read_events(events[:5], wall - 1_000_000) == [nccl, gemm, copy]
    for event in events:
        del event.activity_type  # PyTorch 2.6
    assert read_events(events[:5], wall - 1_000_000) == [nccl, gemm, copy]
    assert read_events(events[5:], wall) == []
