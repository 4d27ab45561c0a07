"""`ringtree trace` of jobs on a real GPU, where there is one: `pytest -m gpu`.

For: that the GPU's own record comes, that every call finds its kernels in it, and that calls and bytes are those of
PyTorch's profiler. Two GPUs, or one with NCCL 2.30.3 or newer, which lets two ranks share it (under MPS). Not for: what
is made of the record (test_joblog_on_gpu_times.py), nor anything without a GPU.
"""

from __future__ import annotations

import json
import os
import sys
from collections import Counter
from pathlib import Path

import pytest

torch = pytest.importorskip("torch")

import joblog_gpu_job  # noqa: E402
from cli_support import invoke  # noqa: E402

from ringtree.gpu.mapped import mapped_nccl_version  # noqa: E402
from ringtree.joblog.reading import read_trace  # noqa: E402
from ringtree.joblog.records import JobTrace, RankRecord  # noqa: E402
from ringtree.joblog.summary import summarise  # noqa: E402
from ringtree.logs.importing import read_file  # noqa: E402
from ringtree.nccl.releases import version  # noqa: E402

HAS_GPU = torch.cuda.is_available()
SHARES = HAS_GPU and torch.cuda.device_count() < 2
pytestmark = [
    pytest.mark.gpu,
    pytest.mark.torch,
    pytest.mark.skipif(not HAS_GPU, reason="no GPU that PyTorch can use"),
    pytest.mark.skipif(
        SHARES and (version(mapped_nccl_version() or "") or (0, 0, 0)) < (2, 30, 3),
        reason="one GPU, which this NCCL can't share",
    ),
]

BYTES = {"Float": 4, "Int": 4, "Long": 8, "Byte": 1, "Half": 2, "BFloat16": 2}  # the profiler's words
# A step is recorded unless the job's profiler is there as it begins: it ends after the last profiled one has.
UNRECORDED = {0, *joblog_gpu_job.PROFILED, joblog_gpu_job.PROFILED[-1] + 1}
RECORDED = sorted(set(range(joblog_gpu_job.NUM_STEPS)) - UNRECORDED)
KINDS = ("ddp", "fsdp2", "mixed")


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Holds the trace of each kind of job, and its ranks' profiles."""
    made = tmp_path_factory.mktemp("gpu-jobs")
    with pytest.MonkeyPatch.context() as patch:
        if SHARES:
            for name, value in (("MULTI_RANK_GPU_ENABLE", "1"), ("NVLS_ENABLE", "0"), ("MAX_CTAS", "4")):
                patch.setenv(f"NCCL_{name}", os.environ.get(f"NCCL_{name}", value))
        torchrun = [sys.executable, "-m", "torch.distributed.run", "--standalone", "--local-addr", "localhost"]
        torchrun += ["--nproc-per-node", "2"]
        for kind in KINDS:
            (made / f"{kind}-profiles").mkdir()
            job = [*torchrun, joblog_gpu_job.__file__, kind, str(made / f"{kind}-profiles")]
            result = invoke("trace", "--out", made / kind, "--time-every", "1", "--", *job)
            assert result.exit_code == 0, f"{result.stderr}\n{result.stdout}"
    return made


def trace_of(folder: Path, kind: str) -> JobTrace:
    trace = read_trace(folder / kind)
    assert trace.notes == []
    assert len(trace.ranks) == 2
    return trace


@pytest.mark.parametrize("kind", KINDS)
def test_every_call_finds_its_kernels_in_the_record(folder: Path, kind: str) -> None:
    for rank in trace_of(folder, kind).ranks:
        assert sorted(rank.device_steps) == RECORDED, rank.not_timed
        for line in rank.device_steps.values():
            assert (line.lost, line.unmatched, line.kernels) == ([], 0, [])
        calls = [call.call for call in rank.calls if call.step in RECORDED]
        assert calls
        assert [number for number in calls if number not in rank.device_calls] == []


@pytest.mark.parametrize("kind", KINDS)
def test_times_lie_in_their_step_and_are_in_order(folder: Path, kind: str) -> None:
    for rank in trace_of(folder, kind).ranks:
        steps = {line.step: line for line in rank.steps}
        by_number = {call.call: call for call in rank.calls}
        for number, times in rank.device_calls.items():
            call = by_number[number]
            step = steps[call.step]
            assert step.begin <= call.begin <= times.begin + 1e-4, "a kernel runs after its call began on the host"
            assert times.end <= step.end
            assert 0 <= times.exposed <= times.in_flight + 1e-6 <= step.end - step.begin + 1e-6
            assert times.in_flight > 0
        for number, of_step in rank.device_steps.items():
            exposed = sum(times.exposed for call, times in rank.device_calls.items() if by_number[call].step == number)
            assert exposed == pytest.approx(of_step.exposed, abs=1e-5)
            assert of_step.exposed <= steps[number].end - steps[number].begin


@pytest.mark.parametrize("kind", KINDS)
def test_the_table_has_times(folder: Path, kind: str) -> None:
    trace = trace_of(folder, kind)
    summary = summarise(trace)
    assert summary.exposed is not None
    assert summary.timed_time is not None
    assert 0 < summary.exposed <= summary.timed_time
    for row in summary.rows:
        assert row.step_time is not None
        assert row.exposed is not None
        assert 0 <= row.exposed <= row.step_time + 1e-6
    assert len(summary.notes) == 1, summary.notes
    assert "profiler of its own" in summary.notes[0]


def in_profiled_steps(rank: RankRecord) -> RankRecord:
    return RankRecord(
        rank.about,
        rank.groups,
        [call for call in rank.calls if call.step in joblog_gpu_job.PROFILED],
        rank.steps,
        rank.end,
    )


@pytest.mark.parametrize("kind", KINDS)
def test_counts_are_those_of_the_profiler(folder: Path, kind: str) -> None:
    for number, rank in enumerate(trace_of(folder, kind).ranks):
        file = folder / f"{kind}-profiles" / f"profile-{number}.json"
        events = json.loads(file.read_text())["traceEvents"]
        profiled = Counter(event["name"] for event in events if event["name"].startswith("c10d::"))
        assert Counter(f"c10d::{call.operator}" for call in in_profiled_steps(rank).calls) == profiled


@pytest.mark.parametrize("kind", ["ddp", "fsdp2"])
def test_bytes_and_kernels_are_those_of_the_profiler(folder: Path, kind: str) -> None:
    for number, rank in enumerate(trace_of(folder, kind).ranks):
        (document,) = read_file(folder / f"{kind}-profiles" / f"profile-{number}.json").documents
        profiled: Counter[tuple[str, int]] = Counter()
        kernels = 0
        for call in document.data["calls"]:
            if call["collective"] is not None and call["num_calls"]:
                profiled[call["collective"], call["in_elements"] * BYTES[call["dtype"]]] += call["num_calls"]
            kernels += call["num_kernels"]
        calls = in_profiled_steps(rank).calls
        assert Counter((call.collective, call.in_bytes) for call in calls) == profiled
        assert kernels == len(calls), "each has one kernel"
