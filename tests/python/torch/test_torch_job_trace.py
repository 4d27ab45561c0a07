"""The tracer lists exactly the collectives that PyTorch's profiler shows, for DDP, FSDP2 and an expert-parallel step.

The profiler's file is read by the house's reader of such files, which shares nothing with the tracer.
"""

from __future__ import annotations

import json
from collections import Counter
from dataclasses import replace
from pathlib import Path

import pytest

pytest.importorskip("torch")

import joblog_ranks
import torch
import torch_training
from torch_ranks import Crews

from ringtree.joblog.operators import unknown_operators
from ringtree.joblog.reading import read_trace
from ringtree.joblog.records import RankRecord
from ringtree.logs.importing import read_file

pytestmark = pytest.mark.torch

STEPS = torch_training.STEPS
BYTES = {"float": 4, "int": 4, "long int": 8, "c10::BFloat16": 2}  # the profiler's words
Counted = Counter[tuple[str | None, int]]
# Gloo has no reduce-scatter of its own: it calls its all-reduce with the whole input.
AS_GLOO_RUNS_IT = {"reduce_scatter": "all_reduce"}


@pytest.fixture(scope="module")
def folder(crews: Crews, tmp_path_factory: pytest.TempPathFactory) -> Path:
    made = tmp_path_factory.mktemp("job-traces")
    crews.get(2, "gloo").run("traced_and_profiled", str(made), module="joblog_ranks")
    return made


def bytes_profiled(file: Path) -> Counted:
    """Collective and bytes that the rank gives, as the backend's events gloo:… say them."""
    found: Counted = Counter()
    (document,) = read_file(file).documents
    for call in document.data["calls"]:
        if call["name"].startswith("gloo:"):
            found[call["collective"], (call["in_elements"] or 0) * BYTES[call["dtype"]]] += call["num_calls"]
    return found


def bytes_traced(rank: RankRecord) -> Counted:
    return Counter((AS_GLOO_RUNS_IT.get(call.collective, call.collective), call.in_bytes) for call in rank.calls)


def operators_profiled(file: Path) -> Counter[str]:
    events = json.loads(file.read_text())["traceEvents"]
    return Counter(event["name"] for event in events if event["name"].startswith("c10d::"))


@pytest.mark.parametrize("training", joblog_ranks.TRAININGS)
def test_counts_and_bytes_are_those_of_the_profiler(folder: Path, training: str) -> None:
    if training == "fsdp2" and torch.__version__.startswith("2.6."):
        pytest.skip("FSDP2 of PyTorch 2.6 does not run on CPUs, nor with Gloo")
    trace = read_trace(folder / training)
    assert trace.notes == []
    assert len(trace.ranks) == 2
    for number, rank in enumerate(trace.ranks):
        file = folder / training / f"profile-{number}.json"
        assert Counter(f"c10d::{call.operator}" for call in rank.calls) == operators_profiled(file)
        seen = bytes_profiled(file)
        assert bytes_traced(rank) == seen
        assert all(call.end is not None for call in rank.calls)
        # Would be found: a call that is missing, and one of another size.
        some = rank.calls[-1]
        assert bytes_traced(replace(rank, calls=rank.calls[:-1])) != seen
        other = some.model_copy(update={"in_bytes": some.in_bytes + 4})
        assert bytes_traced(replace(rank, calls=[*rank.calls[:-1], other])) != seen


def test_what_the_trainings_call(folder: Path) -> None:
    """Counted by hand from the trainings' code."""
    fsdp2, expert = (
        Counter(call.collective for call in read_trace(folder / name).ranks[0].calls) for name in ("fsdp2", "expert")
    )
    # Two models of 3 layers: a gather a layer forward, and one backward; a scatter of its gradient; the loss's sum.
    assert fsdp2 == {"all_gather": 2 * 3 * 2 * STEPS, "reduce_scatter": 2 * 3 * STEPS, "all_reduce": 2 * STEPS}
    assert expert == {"all_to_all": 4 * STEPS}  # there and back, and their gradients


def test_every_kind_of_call_says_bytes_dtype_and_group(crews: Crews, tmp_path: Path) -> None:
    pair = crews.get(2, "gloo").run("all_operators", str(tmp_path), module="joblog_ranks")[0]["pair"]
    trace = read_trace(tmp_path / "operators")
    first, second = trace.ranks
    said = [(c.collective, c.in_bytes, c.out_bytes, c.dtype) for c in first.calls]
    assert said == [
        ("all_reduce", 80, 80, "float64"),
        ("all_reduce", 12, 12, "float32"),
        ("broadcast", 80, 80, "float64"),
        ("reduce", 80, 80, "float64"),
        ("all_gather", 80, 160, "float64"),
        ("reduce_scatter", 32, 16, "float32"),
        ("gather", 20, 40, "float32"),
        ("scatter", 56, 28, "float32"),
        ("barrier", 0, 0, ""),
        ("send", 18, 0, "int16"),
        ("barrier", 0, 0, ""),
    ]
    assert (second.calls[9].collective, second.calls[9].in_bytes, second.calls[9].out_bytes) == ("recv", 0, 18)
    assert (second.calls[6].in_bytes, second.calls[6].out_bytes) == (20, 0)  # what gather gives to others
    groups = first.groups
    assert groups[first.calls[1].group].name == pair
    assert all((group.ranks, group.size, group.backend) == ([0, 1], 2, "gloo") for group in groups.values())
    assert [call.step for call in first.calls] == [0] * 10 + [1]
    assert [line.step for line in first.steps] == [0]


def test_a_trace_that_cannot_be_written_does_not_stop_the_job(crews: Crews, tmp_path: Path) -> None:
    found = crews.get(2, "gloo").run("nowhere_to_write", str(tmp_path), module="joblog_ranks")
    assert found == [4.0, 4.0]  # 1, summed over two ranks twice
    assert list(tmp_path.iterdir()) == []


def test_no_operator_of_this_pytorch_is_unknown() -> None:
    assert unknown_operators() == []
