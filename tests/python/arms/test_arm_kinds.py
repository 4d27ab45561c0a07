"""Kinds of arms: the table of them, what each says of itself, and that one more needs a file and a line.

For: ringtree.arms.kind and registry, and docs/how-to/own-arm.md. Not for: running the arms of each kind.
"""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path
from typing import Any

import pytest
from cli_support import invoke_quickly
from docs_support import DOCS, blocks
from lab_support import make_plan, make_stored

from ringtree import _core
from ringtree.arms import ArmKind, arms_written, boundary_of, check_arm, common_boundary, find_kind, kind_of, registry
from ringtree.bench.options import Asked, make_options
from ringtree.errors import UsageError
from ringtree.judge.findings import rivals_of
from ringtree.measure import estimate
from ringtree.measure.plan import choose_reference, label_arms
from ringtree.measure.request import Request
from ringtree.measure.request import make_plan as plan_of
from ringtree.results import ArmPlan, Plan, read_run
from ringtree.results.reading import read_header

ROOT = DOCS.parent
(MADE_UP, *_) = (block.text for block in blocks((DOCS / "how-to" / "own-arm.md").read_text()) if block.info == "python")


@pytest.fixture
def made_up(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> ArmKind:
    """The kind of the how-to page, in the table of this process and of all that it starts."""
    # Its help lists the kinds of the moment at which it is loaded, for all tests after this one.
    importlib.import_module("ringtree.cli.compare")
    (tmp_path / "numpy_sum.py").write_text(MADE_UP)
    (tmp_path / "sitecustomize.py").write_text(
        "import numpy_sum\nfrom ringtree.arms import registry\nregistry.KINDS += (numpy_sum.KIND,)\n"
    )
    monkeypatch.syspath_prepend(str(tmp_path))
    spec = importlib.util.spec_from_file_location("numpy_sum", tmp_path / "numpy_sum.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    monkeypatch.setitem(sys.modules, "numpy_sum", module)
    spec.loader.exec_module(module)
    kind: ArmKind = module.KIND
    monkeypatch.setattr(registry, "KINDS", (*registry.KINDS, kind))
    return kind


def test_a_head_belongs_to_one_kind() -> None:
    heads = [head for kind in registry.KINDS for head in kind.heads]
    assert len(heads) == len(set(heads))
    assert len({kind.name for kind in registry.KINDS}) == len(registry.KINDS)


@pytest.mark.parametrize(
    ("name", "kind"),
    [
        ("ring", "engine"),
        ("auto/shared/for-shared", "engine"),  # of its kind, although there is no such arm
        ("ring/ll128+5%", "engine"),
        ("gloo", "gloo"),
        ("gloo+10%", "gloo"),
        ("send-recv:ring", "send_recv"),
        ("textbook-spin:double_tree", "textbook"),
        ("textbook-udp:ring", None),
        ("openmpi4", "openmpi4"),
        ("openmpi:ring", "openmpi"),
        ("native:ring/ll", "native_engine"),
        ("openmpi6", None),
        ("", None),
    ],
)
def test_the_kind_of_a_name(name: str, kind: str | None) -> None:
    found = find_kind(name)
    assert (found and found.name) == kind


def test_each_kind_takes_what_it_says_is_written_and_makes_it() -> None:
    for kind in registry.KINDS:
        for collective in kind.collectives:
            for form in kind.written:
                name = form.replace("<algorithm>", "ring")
                if "<algorithm>" not in form or "ring" in _algorithms(collective):
                    assert check_arm(name, collective).name == kind.name
                    if kind.lacks() is None and kind.process == "rank":
                        assert kind.make(name).name == name
                        assert registry.make_arm(f"{name}+3%").name == f"{name}+3%"


def _algorithms(collective: str) -> list[str]:
    return [row.name for row in _core.algorithms() if collective in row.collectives]


def test_what_kinds_can_do() -> None:
    def kind(name: str) -> ArmKind:
        return check_arm(name, "all_reduce")

    assert [kind(name).emulated for name in ("ring+5%", "textbook-shm:ring", "gloo")] == [True, False, False]
    on_hosts = {"ring": True, "ring/ll": False, "ring/ll128+2%": False, "auto/shared": False, "auto/simple": True}
    on_hosts |= {"gloo": True, "send-recv:ring": True, "textbook-tcp:ring": False}
    assert {name: kind(name).several_hosts(name) for name in on_hosts} == on_hosts
    assert "premul_sum" in kind("ring").ops
    assert "premul_sum" not in kind("textbook-shm:ring").ops  # core/textbook/group.cpp refuses what scales
    assert "avg" not in kind("gloo").ops
    assert "bfloat16" in kind("gloo").dtypes
    assert "uint32" not in kind("gloo").dtypes
    check_arm("gloo", "all_to_all")
    check_arm("send-recv:chain", "broadcast")
    for name, collective in (
        ("send-recv:chain", "all_gather"),
        ("textbook-shm:ring", "broadcast"),
        ("ring", "send_recv"),
    ):
        with pytest.raises(UsageError, match=f"unknown arm '{name}' for {collective}; choose from: .*auto.*, gloo"):
            check_arm(name, collective)


@pytest.mark.parametrize("name", ["nvls", "nvls_tree/simple"])
def test_what_a_switch_adds_up_is_not_run_and_says_who_takes_it(name: str) -> None:
    algorithm = name.partition("/")[0]
    words = f"^{algorithm} needs a switch that reduces .*: `ringtree simulate`, `play --cluster` and `verify` accept it"
    with pytest.raises(UsageError, match=words):
        check_arm(name, "all_reduce")
    with pytest.raises(UsageError, match=words):
        registry.kind_named(name)


def test_what_is_compared_crosses_the_thinnest_boundary_that_all_have() -> None:
    assert common_boundary(["ring", "textbook-shm:ring"]) == "numpy"
    assert common_boundary(["ring", "gloo"]) == common_boundary(["send-recv:ring+1%"]) == "torch"


def test_arms_without_a_call_in_common_are_refused(made_up: ArmKind) -> None:
    assert common_boundary(["ring", "numpy-sum"]) == "numpy"
    with pytest.raises(UsageError, match=r"share no way to be called \(numpy-sum by numpy, gloo by torch\)"):
        plan_of(Request(arms="numpy-sum,gloo", sizes="1K", ranks=2))


def test_only_the_engines_arms_are_rivals() -> None:
    plan = make_plan(arms=("textbook-shm:ring", "textbook-tcp:ring", "ring", "gloo", "tree+5%"))
    assert rivals_of(plan) == [["ring", "tree+5%"]]


def test_the_reference_is_a_library_without_switches() -> None:
    assert choose_reference(label_arms(["ring", "gloo+5%", "gloo@X=1", "gloo"]), None) == "gloo"
    assert choose_reference(label_arms(["ring", "gloo+5%", "gloo@X=1"]), None) == "ring"


def test_a_kind_adds_its_own_start_to_that_of_the_boundary(made_up: ArmKind, monkeypatch: pytest.MonkeyPatch) -> None:
    bare = estimate.start_seconds(2, "numpy", ["ring", "numpy-sum"])
    assert bare == estimate.start_seconds(2, "numpy")
    assert estimate.start_seconds(2, "torch") > bare
    object.__setattr__(made_up, "start_seconds", 3.0)
    assert estimate.start_seconds(2, "numpy", ["ring", "numpy-sum", "numpy-sum"]) == pytest.approx(bare + 2 * 3.0)


def test_kind_and_boundary_are_stored_and_what_is_stored_counts() -> None:
    plan = plan_of(Request(arms="ring,tree,textbook-shm:ring", sizes="1K", ranks=2))
    assert [arm.kind for arm in plan.arms] == ["engine", "engine", "textbook"]
    again = Plan.model_validate_json(plan.model_dump_json())
    assert (again, again.boundary) == (plan, "numpy")
    assert boundary_of(again.model_copy(update={"boundary": "torch"})) == "torch"
    renamed = ArmPlan(label="gloo", name="gloo", kind="engine")
    found = kind_of(renamed)
    assert found is not None
    assert found.name == "engine"
    assert kind_of(ArmPlan(label="x", name="ring", kind="of a later version")) is None


@pytest.mark.parametrize(
    ("run", "kinds", "boundary"),
    [("torch-2", ["engine", "gloo"], "torch"), ("native-2", [None, "openmpi4", None, "openmpi5", None], "native")],
)
def test_runs_that_are_older_than_kinds_get_them_by_their_names(
    run: str, kinds: list[str | None], boundary: str | None
) -> None:
    (folder,) = (DOCS / "benchmarks").glob(f"amd-epyc-2-cores-2026-11-21/raw/{run}")
    plan = read_header(folder).plan
    assert [arm.kind for arm in plan.arms] == [None] * len(plan.arms)
    found = [kind_of(arm) for arm in plan.arms]
    assert [kind and kind.name for kind in found][: len(kinds)] == kinds[: len(plan.arms)]
    if boundary is not None:
        assert boundary_of(plan) == boundary


def test_what_the_lab_does_not_start_is_left_out_by_name(made_up: ArmKind, monkeypatch: pytest.MonkeyPatch) -> None:
    plan = plan_of(Request(arms="numpy-sum,ring", sizes="1K", ranks=2, dtype="int32"))
    assert plan.left_out == {"numpy-sum": "it has no int32; it has: float32, float64"}
    object.__setattr__(made_up, "process", "own")
    plan = plan_of(Request(arms="numpy-sum,ring", sizes="1K", ranks=2))
    assert plan.left_out == {"numpy-sum": "it runs in processes that compare doesn't start"}


def test_one_more_kind_is_one_file_and_one_line(made_up: ArmKind, tmp_path: Path) -> None:
    runs = tmp_path / "runs"
    result = invoke_quickly(
        "compare",
        *("--arms", "numpy-sum,ring,numpy-sum+5%", "--sizes", "1K", "--ranks", "2", "--launches", "1"),
        *("--runs", runs, "--no-preflight"),
    )
    assert result.exit_code == 0, result.stderr
    assert "numpy-sum" in result.stdout
    (folder,) = (path for path in runs.iterdir() if path.is_dir())
    stored = read_run(folder)
    assert stored.run.plan.boundary == "numpy"
    assert [arm.kind for arm in stored.run.plan.arms] == ["numpy_sum", "engine", "numpy_sum"]
    cells = {cell.arm: cell for launch in stored.launches for cell in launch.cells}
    assert all(cell.verified for cell in cells.values())
    executed: Any = cells["numpy-sum"].executed
    assert executed == {"backend": "numpy", "through": "numpy"}
    assert "numpy-sum" in arms_written()
    with pytest.raises(UsageError, match=r"choose from: .*numpy-sum"):
        check_arm("nonsense", "all_reduce")


def test_bench_asks_the_same_kind(made_up: ArmKind) -> None:
    assert make_options(Asked(arm="numpy-sum", nthreads=2, op="all")).ops == ["sum"]
    with pytest.raises(UsageError, match="-d int8 is not available; choose from: float, double"):
        make_options(Asked(arm="numpy-sum", datatype="int8"))
    with pytest.raises(UsageError, match="has no shared buffers"):
        make_options(Asked(arm="numpy-sum", local_register=2))


def test_a_stored_run_of_a_kind_that_is_gone_can_still_be_judged() -> None:
    plan = make_plan(arms=("x", "ring"))
    gone = [ArmPlan(label="x", name="x", kind="gone"), ArmPlan(label="ring", name="ring", kind="engine")]
    stored = make_stored(plan.model_copy(update={"arms": gone}), lambda *_: 1.0)
    assert rivals_of(stored.run.plan) == [["ring"]]
