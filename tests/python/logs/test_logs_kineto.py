"""Traces of PyTorch's profiler."""

from __future__ import annotations

import gzip
import json
import statistics
import tracemalloc
from random import Random
from typing import Any

import pytest
from nccl_info_support import documents, read

from ringtree.logs import kineto
from ringtree.logs.kinds import KINDS
from ringtree.logs.words import torch_collective


def described(name: str = "allreduce", elements: int = 1024, **others: Any) -> dict[str, Any]:
    return {
        "Collective name": name,
        "dtype": "Float",
        "In msg nelems": elements,
        "Out msg nelems": elements,
        "Group size": 8,
        "Process Group Name": "0",
        "Process Group Description": "default_pg",
        **others,
    }


def call(**others: Any) -> dict[str, Any]:
    event = {"ph": "X", "cat": "cpu_op", "name": "record_param_comms", "ts": 1.0, "dur": 5.0, "args": described()}
    return {**event, **others}


def kernel(duration: object, **others: Any) -> dict[str, Any]:
    name = "ncclDevKernel_AllReduce_Sum_f32_RING_LL(ncclDevKernelArgsStorage<4096ul>)"
    event = {"ph": "X", "cat": "kernel", "name": name, "ts": 2.0, "dur": duration, "args": described()}
    return {**event, **others}


def trace(*events: dict[str, Any], **others: Any) -> str:
    info = {"backend": "nccl", "rank": 3, "world_size": 8, "nccl_version": "2.27.3"}
    return json.dumps({"schemaVersion": 1, "distributedInfo": info, "traceEvents": list(events), **others})


def collectives(text: str | bytes) -> dict[str, Any]:
    (document,) = documents(text, "trace_collectives")
    assert KINDS[document.kind].model_validate(document.data).plain() == document.data
    return document.data


def test_calls_and_kernels_of_one_kind() -> None:
    data = collectives(trace(call(), call(), kernel(10.0), kernel(30.0), kernel(20.0), {"ph": "i", "name": "x"}))
    assert (data["rank"], data["world_size"], data["backend"], data["nccl_version"]) == (3, 8, "nccl", "2.27.3")
    (calls,) = data["calls"]
    assert (calls["collective"], calls["name"], calls["group_size"]) == ("all_reduce", "allreduce", 8)
    assert (calls["dtype"], calls["in_elements"], calls["num_calls"], calls["num_kernels"]) == ("Float", 1024, 2, 3)
    assert calls["kernel_seconds"] == pytest.approx(60e-6)
    assert calls["kernel_median_seconds"] == pytest.approx(20e-6)
    assert calls["kernel_max_seconds"] == pytest.approx(30e-6)
    assert (data["num_events"], data["complete"]) == (6, True)


def test_a_kernels_name_is_kept_and_is_no_algorithm() -> None:
    (calls,) = collectives(trace(kernel(1.0)))["calls"]
    assert "RING_LL" in next(iter(calls["kernels"]))
    assert not {"algorithm", "protocol"} & calls.keys()


def test_kinds_differ_by_size_type_group_and_name() -> None:
    events = [
        call(args=described(elements=1)),
        call(args=described(elements=2)),
        call(args=described(dtype="BFloat16")),
        call(args=described("_allgather_base")),
        call(args={**described(), "Process Group Name": "1"}),
    ]
    assert len(collectives(trace(*events))["calls"]) == 5


def test_kernels_that_say_nothing_of_their_collective_are_counted_apart() -> None:
    data = collectives(trace(kernel(7.0, args={}), kernel(1.0, name="gemm", args={})))
    assert (data["calls"], data["num_bare_kernels"]) == ([], 1)
    assert data["bare_kernel_seconds"] == pytest.approx(7e-6)


def test_calls_of_gloo_are_known_by_their_shape() -> None:
    event = {"ph": "X", "cat": "user_annotation", "name": "gloo:all_reduce", "ts": 1, "dur": 2}
    args = {"Input Dims": [[4, 8], [3]], "Input type": ["float", "float"]}
    data = collectives(
        trace({**event, "args": args}, {**event, "name": "gloo:wait"}, {**event, "name": "nccl:all_reduce"})
    )
    (calls,) = data["calls"]
    assert (calls["collective"], calls["in_elements"], calls["dtype"]) == ("all_reduce", 35, "float")


def test_compressed() -> None:
    text = trace(call())
    assert collectives(gzip.compress(text.encode())) == collectives(text)


def test_an_array_of_events() -> None:
    (calls,) = collectives(json.dumps([call(), call()]))["calls"]
    assert calls["num_calls"] == 2


def test_a_trace_that_is_cut_gives_what_is_there() -> None:
    text = trace(*[call()] * 100)
    for cut in (text[: len(text) // 2], gzip.compress(text.encode())[:-30]):
        found = read(cut)
        (document,) = found.documents
        assert not document.data["complete"]
        assert "a trace that ends before its end" in {skipped.reason for skipped in found.skipped}
    (calls,) = collectives(text[: len(text) // 2])["calls"]
    assert 40 < calls["num_calls"] < 60


@pytest.mark.parametrize("duration", ["12.5", None, "soon", -1.0, float("nan"), [1], True, 1e300])
def test_durations_that_are_none(duration: object) -> None:
    (calls,) = collectives(trace(kernel(duration)))["calls"]
    assert calls["num_kernels"] == 1
    assert calls["kernel_seconds"] == pytest.approx(12.5e-6 if duration == "12.5" else 1e-6 if duration is True else 0)


def test_the_median_of_many_is_that_of_a_sample(monkeypatch: pytest.MonkeyPatch) -> None:
    random = Random(1)
    durations = [random.uniform(10, 20) for _ in range(3000)]
    text = trace(*(kernel(duration) for duration in durations))
    (exact,) = collectives(text)["calls"]
    assert exact["median_is_exact"]
    assert exact["kernel_median_seconds"] == pytest.approx(statistics.median(durations) * 1e-6)
    monkeypatch.setattr(kineto, "_MAX_DURATIONS", 500)
    (sampled,) = collectives(text)["calls"]
    assert not sampled["median_is_exact"]
    assert sampled["kernel_median_seconds"] == pytest.approx(15e-6, rel=0.05)
    assert sampled["kernel_seconds"] == pytest.approx(exact["kernel_seconds"])


def test_kinds_beyond_the_limit_are_counted(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(kineto, "_MAX_KEYS", 2)
    data = collectives(trace(*(call(args=described(elements=number)) for number in range(5))))
    assert len(data["calls"]) == 2
    assert data["left_out"] == {"calls beyond the first kinds": 3}


@pytest.mark.slow
def test_memory_does_not_grow_with_the_trace() -> None:
    events = ",".join([json.dumps(call()), json.dumps(kernel(3.0))] * 20_000)
    data = f'{{"schemaVersion": 1, "deviceProperties": [], "traceEvents": [{events}]}}'.encode()
    tracemalloc.start()
    found = documents(data, "trace_collectives")
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert found[0].data["num_events"] == 40_000
    assert len(data) > 10 << 20
    assert peak < 6 << 20


@pytest.mark.parametrize(
    ("word", "name"),
    [
        ("_allgather_base", "all_gather"),
        ("allgather_into_tensor_coalesced", "all_gather"),
        ("_reduce_scatter_base", "reduce_scatter"),
        ("reduce_scatter_tensor_coalesced", "reduce_scatter"),
        ("allreduce_coalesced", "all_reduce"),
        ("nccl:all_reduce", "all_reduce"),
        ("nccl:send 0->1", "send"),
        ("all_to_allv", "all_to_all"),
        ("_broadcast_oop", "broadcast"),
        ("nccl:all_reduce_barrier", "barrier"),
        ("wait", None),
        ("init", None),
        ("", None),
    ],
)
def test_words_of_pytorch(word: str, name: str | None) -> None:
    assert torch_collective(word) == name
