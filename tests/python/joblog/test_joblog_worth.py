"""What a setting can change in a job, by release; and the gain that a benchmark's ratios predict, by hand."""

from __future__ import annotations

import dataclasses
from pathlib import Path
from typing import Any

import pytest
from comparison_support import stored_run
from joblog_support import call_line, group_line, step_line, whole_rank
from lab_support import make_cell, make_launch, make_plan
from train_support import plan_of, training_run

from ringtree.errors import UsageError
from ringtree.joblog.gain import predict
from ringtree.joblog.held_against import against_training
from ringtree.joblog.reading import read_trace
from ringtree.joblog.summary import Summary, summarise
from ringtree.joblog.worth import worth
from ringtree.judge.training import summarise_training
from ringtree.nccl.support import first_release_with_any_error, first_release_with_error
from ringtree.results import CalledCollective
from ringtree.show.job_worth_table import bytes_line, verdict
from ringtree.train.arms import ALONE

STEP = 10.0  # seconds
GATHER = {"collective": "all_gather", "in_bytes": 1 << 20, "out_bytes": 2 << 20}
SCATTER = {"collective": "reduce_scatter", "in_bytes": 2 << 20, "out_bytes": 1 << 20}
REDUCE = {"collective": "all_reduce", "in_bytes": 4 << 20, "out_bytes": 4 << 20}


def job(folder: Path, *calls: dict[str, Any], backend: str = "nccl") -> Summary:
    """One step of 10 s; the n-th call lasts from 2n to 2n + 1 s, and nothing is computed meanwhile."""
    lines = [{**call_line(n, 2.0 * n, 2.0 * n + 1, (0.0, 0.0)), **call} for n, call in enumerate(calls)]
    whole_rank(folder, lines, [step_line(0, 0.0, STEP)], groups=[group_line(backend=backend)])
    return summarise(read_trace(folder))


def said(summary: Summary, arm: str, version: str = "2.27.3") -> str:
    (found,) = worth(summary, [arm], version)
    return verdict(summary, found)


def test_fsdp_full_shard_and_tree(tmp_path: Path) -> None:
    summary = job(tmp_path, GATHER, SCATTER)
    assert bytes_line(summary) == (
        "a step: 0 B of all_reduce, 2 MB of all_gather, 2 MB of reduce_scatter (as FSDP FULL_SHARD)"
    )
    (found,) = worth(summary, ["nccl:Tree"], "2.27.3")
    assert {row.effect for row in found.rows} == {"error"}
    assert (found.bytes, found.bound) == (0, 0.0)
    assert said(summary, "nccl:Tree") == (
        "nccl:Tree: 0 bytes a step of what Tree can run; Tree cannot change this job; "
        "on 2.24 and later it ends in an error (all_gather, reduce_scatter)"
    )
    # Ring runs instead, without a word, in the releases before.
    assert {row.effect for row in worth(summary, ["nccl:Tree"], "2.21.5")[0].rows} == {"falls_back"}
    assert said(summary, "nccl:Tree", "2.21.5") == (
        "nccl:Tree: cannot change this job: no collective uses it; on 2.24 and later it ends in an error"
    )


def test_an_algorithm_that_the_release_lacks_gains_nothing(tmp_path: Path) -> None:
    summary = job(tmp_path, GATHER, REDUCE)
    (found,) = worth(summary, ["nccl:PAT"], "2.20.5")
    effects = {row.row.kind.collective: row.effect for row in found.rows}
    assert effects == {"all_gather": "falls_back", "all_reduce": "ignored"}
    assert (found.bytes, found.bound) == (0, 0.0)
    assert "nccl:PAT: cannot change this job" in said(summary, "nccl:PAT", "2.20.5")
    assert "gains at most" not in said(summary, "nccl:PAT", "2.20.5")
    # A word that no release knows stays unknown.
    (unread,) = worth(summary, ["nccl@NCCL_ALGO=Bush"], "2.20.5")
    assert {row.effect for row in unread.rows} == {"unknown"}


def test_the_release_from_which_on_it_is_an_error() -> None:
    assert first_release_with_error("all_gather", "Tree") == "2.24"
    assert first_release_with_error("all_reduce", "Tree") is None
    both = [("all_reduce", "Tree", None), ("all_gather", "Tree", None)]
    assert first_release_with_any_error(both) == "2.24"
    assert first_release_with_any_error(both[:1]) is None


def test_the_bound_is_all_exposed_time_of_what_can_change(tmp_path: Path) -> None:
    summary = job(tmp_path, REDUCE, GATHER, {**GATHER, "collective": "all_to_all"})
    (ring,) = worth(summary, ["nccl:Ring/LL128"], "2.21.5")
    assert [(row.row.kind.collective, row.effect) for row in sorted(ring.rows, key=lambda one: one.effect)] == [
        ("all_reduce", "changes"),
        ("all_gather", "changes"),
        ("all_to_all", "ignored"),  # goes point to point
    ]
    assert ring.bound == pytest.approx(2.0)
    assert ring.share == pytest.approx(0.2)
    assert "gains at most 2.00 s of 10.0 s, 20% of the step" in said(summary, "nccl:Ring/LL128", "2.21.5")
    assert said(summary, "nccl:Tree", "2.27.3") == (
        "nccl:Tree: could change 4 MB a step, but on 2.24 and later it ends in an error (all_gather)"
    )


def test_what_the_job_runs_with_and_another_library(tmp_path: Path) -> None:
    summary = job(tmp_path, REDUCE, backend="gloo")
    assert said(summary, "gloo") == "gloo: what the job uses now"
    assert "ring: can change 4 MB a step; gains at most 1.00 s" in said(summary, "ring")


def test_calls_on_gpus_have_bytes_and_no_bound(tmp_path: Path) -> None:
    summary = job(tmp_path, {**REDUCE, "device": "cuda", "end": None, "ran_end": None})
    assert said(summary, "nccl:Tree") == (
        "nccl:Tree: can change 4 MB a step; the trace has no times to bound the gain by"
    )
    run = benchmark({"gloo": 1.0, "ring": 1.0})
    with pytest.raises(UsageError, match="the trace has no exposed times"):
        predict(summary, run)


@pytest.mark.parametrize(
    ("arms", "version", "said"),
    [
        (["nccl:Tree"], None, "which NCCL would the job run with"),
        (["nccl:Tree"], "two", "invalid version of NCCL 'two'"),
        (["nccl:Bush"], "2.27.3", "NCCL has no algorithm 'Bush'"),
        (["nothing"], None, "unknown arm 'nothing'"),
    ],
)
def test_what_is_asked_wrongly(tmp_path: Path, arms: list[str], version: str | None, said: str) -> None:
    with pytest.raises(UsageError, match=said):
        worth(job(tmp_path, REDUCE), arms, version)


def benchmark(factors: dict[str, float], sizes: tuple[int, ...] = (1 << 20, 16 << 20), num_ranks: int = 2) -> Any:
    """A run in which an arm takes its factor times 1 ms at every size, in all of 8 launches alike."""
    plan = make_plan(arms=list(factors), sizes=list(sizes), num_ranks=num_ranks, num_launches=8)
    plan = plan.model_copy(update={"reference": "gloo"})
    cells = [make_cell(arm, size, 1e-3 * factor, num_ranks) for size in sizes for arm, factor in factors.items()]
    return stored_run(plan, [make_launch(launch, cells) for launch in range(8)])


def test_the_predicted_gain(tmp_path: Path) -> None:
    """1 s of the step's 10 is exposed all-reduce; at half the time the step takes 9.5 s, at twice 11."""
    summary = job(tmp_path, REDUCE, GATHER, backend="gloo")
    gains, notes = predict(summary, benchmark({"gloo": 1.0, "ring": 0.5, "tree": 2.0}))
    assert {gain.arm: gain.step.ratio for gain in gains} == {
        "ring": pytest.approx(0.95, rel=1e-6),
        "tree": pytest.approx(1.1, rel=1e-6),
    }
    assert all(gain.step.low is not None and gain.step.low <= gain.step.ratio for gain in gains)
    assert [gain.covered for gain in gains] == [pytest.approx(0.5)] * 2  # the gather was not measured
    assert notes == []


def test_a_size_beyond_the_benchmark_is_said(tmp_path: Path) -> None:
    summary = job(tmp_path, REDUCE, backend="nccl")
    gains, notes = predict(summary, benchmark({"gloo": 1.0, "ring": 0.5}, sizes=(1 << 10, 1 << 11)))
    assert gains[0].step.ratio == pytest.approx(0.95)
    assert "4 MB lies outside the benchmark's sizes: the nearest size's ratio stands for it" in notes
    assert "the job ran with nccl, and gloo of the benchmark stands for it (--reference selects another)" in notes


def test_a_benchmark_of_something_else(tmp_path: Path) -> None:
    summary = job(tmp_path, REDUCE)
    with pytest.raises(UsageError, match="measured all_reduce on 4 ranks, for which the trace has no exposed time"):
        predict(summary, benchmark({"gloo": 1.0, "ring": 0.5}, num_ranks=4))
    with pytest.raises(UsageError, match="the run has no arm 'mpi'; it has: gloo, ring"):
        predict(summary, benchmark({"gloo": 1.0, "ring": 0.5}), "mpi")


@pytest.mark.parametrize(
    ("measured", "said", "reasons"),
    [(0.95, "inside", []), (0.8, "outside", ["exposed"]), (1.1, "outside", ["exposed", "the prediction counts all"])],
)
def test_a_prediction_is_held_against_a_training(
    tmp_path: Path, measured: float, said: str, reasons: list[str]
) -> None:
    """Half of the call's time is predicted to leave 95 % of the step."""
    pytest.importorskip("torch")
    pytest.importorskip("transformers")
    for rank in (0, 1):
        call, step = {**call_line(0, 0.0, 1.0, (0.0, 0.0)), **REDUCE}, step_line(0, 0.0, STEP)
        whole_rank(tmp_path, [call], [step], groups=[group_line()], rank=rank, world_size=2)
    summary = summarise(read_trace(tmp_path))
    gains, _ = predict(summary, benchmark({"gloo": 1.0, "auto": 0.5}))

    def seconds(block: int, model: str, ranks: int, arm: str, rank: int) -> float:
        noise = 1 + 0.01 * (block % 3 - 1) * (arm != "gloo")
        return (1.0 if arm == "gloo" else 0.9 if arm == ALONE else measured) * noise

    training = summarise_training(training_run(plan_of(arms="gloo,ringtree:auto", ranks="1,2", launches=8), seconds))
    first, *why = against_training(gains, summary, training)
    assert first.startswith("ringtree:auto vs gloo, qwen2.5 tiny: predicted step -5.0%, measured ")
    assert first.endswith(said)
    assert len(why) == len(reasons)
    for line, reason in zip(why, reasons, strict=True):
        assert line.strip().startswith(reason)
    for sent, others in ((4 << 20, 0), (8 << 20, 1)):  # the trace: 4 MB
        called = [CalledCollective(collective="all_reduce", calls=1, size_bytes=sent)]
        cells = [one.model_copy(update={"collectives": called}) for one in training.cells]
        notes = against_training(gains, summary, training.model_copy(update={"cells": cells}))[: -len([first, *why])]
        assert len(notes) == others
        assert not notes or "sends 4 MB of all_reduce, a step of qwen2.5 tiny in" in notes[0]
    with pytest.raises(UsageError, match="no comparison of auto on 2 ranks"):
        against_training(gains, summary, training.model_copy(update={"cells": []}))
    other = training.model_copy(update={"reference": "ringtree:ring"})
    with pytest.raises(
        UsageError, match=r"uses gloo as its reference, .* uses ringtree:ring: add --reference ring, or name .* gloo$"
    ):
        against_training(gains, summary, other)
    relative_to_auto = [dataclasses.replace(gain, reference="auto") for gain in gains]
    with pytest.raises(UsageError, match=r"uses auto as its reference, .* uses gloo: add --reference gloo, .* auto$"):
        against_training(relative_to_auto, summary, training)
