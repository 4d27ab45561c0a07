"""The ladders that there are: each is of one boundary, tells its algorithm again, ends in one line where it can't run.

For: ladder_kinds, native_ladder, nccl_ladder; whole ladders of the engine and over the stand-in for NCCL. Not for: the
arithmetic (test_explain_ladder.py).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pytest
from forked_ranks import forked_ranks
from nccl_standin import Play, standin
from typer.testing import CliRunner

from ringtree.arms import common_boundary, native_engine, registry
from ringtree.arms import kind_named as arm_kind
from ringtree.cli import app
from ringtree.errors import UsageError
from ringtree.explain import ladder_kinds, native_ladder, nccl_ladder
from ringtree.explain.ladder_kinds import KINDS, LadderKind, kind_named, kind_of
from ringtree.explain.ladder_record import Ladder, RungRecord
from ringtree.explain.plan import Asked, pilot_plan
from ringtree.explain.rungs import Rung, arms_of, without_lacking
from ringtree.schedules import algorithms

__all__ = ["forked_ranks", "standin"]
BOUNDARIES = {"python": "torch", "native": "native", "nccl": "cuda"}


def all_arms(kind: LadderKind) -> list[str]:
    """Every arm that a ladder can have: with each protocol, with all taken away that can be."""
    protocols = kind.protocols or ("simple",)
    ladders = [kind.rungs("ring", protocol, 2, 4) for protocol in protocols]
    return [*kind.pilot_arms("ring"), *arms_of([*ladders, kind.takings("ring", 1 << 20, None)])]


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.name)
def test_a_ladder_crosses_one_boundary_and_ends_in_its_top(kind: LadderKind) -> None:
    assert common_boundary(arm.partition("@")[0] for arm in all_arms(kind)) == BOUNDARIES[kind.name]
    assert kind.boundary("ring") == BOUNDARIES[kind.name]
    rungs = kind.rungs("ring", "simple", 2, 2)
    assert rungs[-1].arm == kind.top
    keys = [rung.key for rung in rungs]
    assert len(set(keys)) == len(keys)
    taken = [rung.arm for rung in kind.takings("ring", 1 << 20, None) if rung.arm is not None]
    assert not set(taken) & {kind.top}


def test_ladders_of_two_boundaries_are_never_one_plan() -> None:
    for one, other in (("native", "nccl"), ("python", "native")):
        with pytest.raises(UsageError, match="share no way to be called"):
            common_boundary(a.partition("@")[0] for k in (one, other) for a in all_arms(kind_named(k)))


@pytest.mark.parametrize("algorithm", algorithms.names("all_reduce"))
def test_a_native_ladder_starts_with_any_algorithm(algorithm: str) -> None:
    rungs = native_ladder.rungs(algorithm, "simple", 2, 2)
    for arm in arms_of([rungs]):
        assert arm_kind(arm).accepts(arm, "all_reduce"), arm
    asked = Asked(ladder="native", algorithm=algorithm, sizes="4K", launches=1)
    assert kind_of(pilot_plan(asked)) == (kind_named("native"), algorithm)


def test_libraries_stand_beside_the_engine_and_nothing_stands_on_them() -> None:
    rungs = native_ladder.rungs("ring", "ll", 2, 2)
    beside = [rung for rung in rungs if rung.aside]
    assert [rung.arm for rung in beside] == [
        *("openmpi:ring", "impi:8", "oneccl:ring"),
        *("openmpi", "mpich", "impi", "oneccl"),
    ]
    assert [rung.arm for rung in rungs if not rung.aside] == [
        *("native:naive/simple", "native:ring/simple", "native:ring/ll", "native:auto", "native:auto/shared")
    ]


def test_each_rung_of_nccl_lifts_one_variable() -> None:
    held = [set(rung.arm.split("@")[1:]) for rung in nccl_ladder.rungs("ring", "", 2, 2) if rung.arm]
    assert held[0] == {"NCCL_MAX_NCHANNELS=1", "NCCL_P2P_DISABLE=1"}
    assert held[3] == {"NCCL_MAX_NCHANNELS=1"}
    assert all(not variables for variables in held[4:])


def test_what_can_not_run_has_its_reason_in_place_of_an_arm() -> None:
    rungs = [Rung("a", "A", "gone"), Rung("b", "B", "here"), Rung("c", "C", None, "never")]
    found = without_lacking(rungs, {"gone": "get it"}.get)
    assert [(one.arm, one.why) for one in found] == [(None, "get it"), ("here", None), (None, "never")]


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("--ladder", "mpi"), "unknown ladder 'mpi'; choose from: python ("),
        (("--ladder", "nccl", "--algorithm", "tree"), "the ladder nccl starts with ring, not tree"),
        (("--ladder", "native", "--algorithm", "rings"), "native:rings/simple"),
    ],
)
def test_mistakes_are_one_line(tmp_path: Path, arguments: tuple[str, ...], said: str) -> None:
    result = CliRunner().invoke(app, ["explain", *arguments, "--runs", str(tmp_path)])
    assert result.exit_code == 2
    (line,) = result.stderr.strip().splitlines()
    assert said in line


def test_without_a_gpu_the_ladder_ends_in_one_line(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for variable in ("RINGTREE_LIBCUDA", "RINGTREE_LIBNCCL"):
        monkeypatch.setenv(variable, str(tmp_path / "none.so"))
    result = CliRunner().invoke(app, ["explain", "--ladder", "nccl", "--runs", str(tmp_path / "runs")])
    assert result.exit_code == 2
    (line,) = result.stderr.strip().splitlines()
    assert line.startswith("ringtree: no arm is left to run: nccl+graph+registered: ")
    assert not (tmp_path / "runs").exists()


def ladder_over(tmp_path: Path, *arguments: str) -> tuple[int, dict[str, RungRecord], Ladder]:
    """A whole ladder of 4 KB, one launch: exit code, rungs by key, and the record."""
    record, runs = tmp_path / "ladder.json", ["--runs", str(tmp_path / "runs")]
    options = ["--sizes", "4K", "--launches", "1", "--budget", "10s", "--seed", "3", "--json", str(record), *runs]
    result = CliRunner().invoke(app, ["explain", *arguments, *options], env={"COLUMNS": "120"})
    ladder = Ladder.model_validate_json(record.read_text())
    again = CliRunner().invoke(app, ["explain", "--show", "last", *runs], env={"COLUMNS": "120"})
    assert again.stdout == result.stdout
    return result.exit_code, {rung.key: rung for panel in ladder.panels for rung in panel.rungs}, ladder


def test_nccls_ladder_runs_over_the_stand_in_and_says_what_ran(
    standin: Play, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Some of its rungs: each environment has processes of its own, twice."""

    def few(found: Sequence[Rung], keys: tuple[str, ...]) -> list[Rung]:
        return [rung for rung in found if rung.key in keys]

    rungs_kept, taken = ("start", "native", "rdma", "channels", "ll", "graph", "buffers"), ("graph", "buffers")
    short = replace(
        kind_named("nccl"),
        rungs=lambda *asked: few(nccl_ladder.rungs(*asked), rungs_kept),
        takings=lambda *asked: few(nccl_ladder.takings(*asked), taken),
    )
    monkeypatch.setattr(ladder_kinds, "KINDS", (*KINDS[:2], short))
    # PyTorch here has no CUDA.
    reason = "no CUDA in this PyTorch"
    kinds = [replace(k, refuses=lambda wish: reason if wish.on_gpu else None) for k in registry.KINDS[:3]]
    monkeypatch.setattr(registry, "KINDS", (*kinds, *registry.KINDS[3:]))
    code, rungs, ladder = ladder_over(tmp_path, "--ladder", "nccl")
    assert (ladder.ladder, ladder.top, ladder.through) == ("nccl", "nccl+graph+registered", "cuda")
    assert (ladder.algorithm, ladder.floor_formula) == ("ring", "not known on GPUs")
    assert (rungs["start"].arm, rungs["start"].why) == (None, reason)
    assert rungs["rdma"].why == "GPUDirect RDMA is between hosts, and the ladder is of one"
    assert {key for key, rung in rungs.items() if rung.time is not None} == {*rungs_kept} - {"start", "rdma"}
    assert rungs["ll"].executed == "Ring/LL"
    assert rungs["graph"].below == rungs["channels"].arm, "LL stands aside"
    (panel,) = ladder.panels
    assert panel.floor is None
    assert {one.key for one in panel.takings if one.worth is not None} == {*taken}
    assert code == 0


@pytest.mark.skipif(native_engine.lacks() is not None, reason="needs the engine's worker")
def test_a_library_that_is_missing_leaves_a_native_ladder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    gone = [
        replace(kind, lacks=lambda: "it is not here: get it") if kind.name in native_ladder.LIBRARIES else kind
        for kind in registry.KINDS
    ]
    monkeypatch.setattr(registry, "KINDS", tuple(gone))
    code, rungs, ladder = ladder_over(tmp_path, "--ladder", "native")
    assert (code, ladder.through) == (0, "native")
    assert {rung.why for key, rung in rungs.items() if key in native_ladder.LIBRARIES} == {"it is not here: get it"}
    assert rungs["from_naive"].time is not None
    assert str(rungs["from_naive"].executed).startswith("ring/simple")
