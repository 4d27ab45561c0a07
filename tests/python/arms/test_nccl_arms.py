"""NCCL's arms over the stand-in: names, what is refused before anything starts, data, and what ran."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack
from typing import Any

import pytest
from forked_ranks import forked_ranks
from lent_ranks import cells_in, ranks_to_lend
from nccl_standin import Play, put_in_place, standin

from ringtree.arms import check_arm
from ringtree.arms.nccl_name import parse, why_not
from ringtree.errors import UsageError
from ringtree.measure.collective_data import SHAPES
from ringtree.measure.launch import run_launch
from ringtree.measure.plan import label_arms, planned_launches
from ringtree.measure.rank_set import RankSet
from ringtree.measure.request import Request, make_plan
from ringtree.results import Cell, Launch, Plan

__all__ = ["forked_ranks", "standin"]
BY_LOG = "the log of NCCL processes with the same variables"
BY_DESIGN = "NCCL sends it point to point, whatever is asked for"


def plan_of(
    arms: str, collective: str = "all_reduce", sizes: str = "4K", dtype: str = "float32", ranks: int = 2
) -> Plan:
    """A plan of one launch."""
    asked = Request(ranks=ranks, sizes=sizes, arms=arms, launches=1, seed=5, collective=collective, dtype=dtype)
    return make_plan(asked).model_copy(update={"cell_budget": 0.02})


def run(arms: str, collective: str = "all_reduce", sizes: str = "4K", dtype: str = "float32", ranks: int = 2,
        before: tuple[Launch, ...] = (), stall_limit: float = 60.0) -> dict[str, Cell]:  # fmt: skip
    """One launch's cells by arm, of the largest size."""
    plan = plan_of(arms, collective, sizes, dtype, ranks)
    [launch] = planned_launches(plan)
    _, cells = run_launch(plan, launch, lambda _: None, stall_limit, before=before)
    return {cell.arm: cell for cell in cells}


@pytest.mark.parametrize(
    ("name", "environment", "options"),
    [
        ("nccl", {}, set()),
        ("nccl:tree", {"NCCL_ALGO": "Tree"}, set()),
        ("nccl:NVLS_TREE/ll128", {"NCCL_ALGO": "NVLSTree", "NCCL_PROTO": "LL128"}, set()),
        ("nccl/Simple+graph", {"NCCL_PROTO": "Simple"}, {"graph"}),
        ("nccl+registered+graph", {}, {"graph", "registered"}),
        ("nccl:Ring+tuner=/a/b.conf", {"NCCL_ALGO": "Ring", "NCCL_TUNER_CONFIG_FILE": "/a/b.conf"}, set()),
        ("nccl+tuner=/a/libx.so", {"NCCL_TUNER_PLUGIN": "/a/libx.so"}, set()),
    ],
)
def test_names_mean_variables(name: str, environment: dict[str, str], options: set[str]) -> None:
    asked = parse(name)
    assert asked.environment == environment
    assert asked.options == options
    assert check_arm(name, "all_reduce").name == "nccl"


@pytest.mark.parametrize("name", ["nccl:Torus", "nccl:Ring/LL256", "nccl+fast", "nccl:", "nccl:P2P", "nccl+10%"])
def test_other_names_are_refused(name: str) -> None:
    with pytest.raises(UsageError):
        check_arm(name, "all_reduce")


@pytest.mark.parametrize(
    ("collective", "environment", "version", "reason"),
    [
        ("all_reduce", {"NCCL_ALGO": "Tree"}, "2.27.3", None),
        ("all_gather", {"NCCL_ALGO": "Tree"}, "2.27.3", "all_gather has no Tree kernel"),
        ("all_gather", {"NCCL_ALGO": "Tree"}, "2.21.5", "all_gather has no Tree kernel"),
        ("all_gather", {"NCCL_ALGO": "Ring,Tree"}, "2.27.3", None),
        ("all_reduce", {"NCCL_ALGO": "allreduce:tree"}, "2.27.3", None),
        ("all_reduce", {"NCCL_ALGO": "allreduce:tree"}, "2.21.5", "passes over allreduce:tree"),
        ("all_reduce", {"NCCL_ALGO": "tree;ring"}, "2.27.3", "refuses NCCL_ALGO=tree;ring"),
        ("all_reduce", {"NCCL_ALGO": "NVLSTree"}, "2.27.3", "NVLSTree runs between hosts"),
        ("all_reduce", {"NCCL_ALGO": "NVLS", "NCCL_PROTO": "LL"}, "2.27.3", "NVLS has no LL kernel"),
        ("all_to_all", {"NCCL_ALGO": "Ring"}, "2.27.3", "point to point"),
        ("all_to_all", {}, "2.27.3", None),
        ("all_reduce", {"NCCL_TUNER_CONFIG_FILE": "x.conf"}, "2.27.3", "set NCCL_TUNER_PLUGIN to the library"),
    ],
)
def test_what_nccl_would_do_is_said_before_it_starts(
    standin: Play, collective: str, environment: dict[str, str], version: str, reason: str | None
) -> None:
    said = why_not(collective, environment, version, one_host=True, num_ranks=2, num_gpus=2)
    assert (said is None) if reason is None else (said is not None and reason in said)


def test_two_ranks_share_a_gpu_only_where_nccl_lets_them(standin: Play, monkeypatch: pytest.MonkeyPatch) -> None:
    asked: dict[str, Any] = {"one_host": True, "num_ranks": 2, "num_gpus": 1}
    assert "2 ranks need as many GPUs" in str(why_not("all_reduce", {}, "2.30.7", **asked))
    sharing = {"NCCL_MULTI_RANK_GPU_ENABLE": "1"}
    assert why_not("all_reduce", sharing, "2.30.7", **asked) is None
    assert why_not("all_reduce", sharing, "2.29.7", **asked) is not None


@pytest.fixture(scope="module")
def three_ranks() -> Iterator[RankSet]:
    with ExitStack() as stack:
        with pytest.MonkeyPatch.context() as environment:  # of the ranks; `standin` is of each test
            put_in_place(environment)
            ranks = stack.enter_context(ranks_to_lend(3, "cuda"))
        yield ranks


@pytest.mark.parametrize("collective", SHAPES)
def test_every_collective_is_exact_on_every_rank(standin: Play, three_ranks: RankSet, collective: str) -> None:
    [cell] = cells_in(three_ranks, plan_of("nccl", collective, sizes="999K", ranks=3))
    assert cell.error is None
    assert cell.verified
    assert len(cell.device_times) == len(cell.times) == 3
    assert [len(row) for row in cell.device_times] == [len(row) for row in cell.times]


@pytest.mark.parametrize("dtype", ["bfloat16", "float16", "uint8", "int64"])
def test_element_types(standin: Play, three_ranks: RankSet, dtype: str) -> None:
    [cell] = cells_in(three_ranks, plan_of("nccl", sizes="4K", dtype=dtype, ranks=3))
    assert cell.verified


@pytest.mark.parametrize("collective", ["all_gather", "all_to_all"])
def test_a_launch_says_what_ran_of_a_kernel_and_point_to_point(standin: Play, collective: str) -> None:
    cell = run("nccl", collective)["nccl"]
    assert cell.verified
    assert (cell.executed or {})["proof"] == (BY_LOG if collective == "all_gather" else BY_DESIGN)


def test_environments_share_a_launch_and_each_cell_says_what_ran(standin: Play) -> None:
    cells = run("nccl,nccl:Tree/LL,nccl+graph,nccl+registered,nccl+symmetric,nccl@NCCL_MIN_NCHANNELS=8")
    assert all(cell.verified for cell in cells.values())
    ran = {arm: (cell.executed or {})["algorithm"] for arm, cell in cells.items()}
    assert ran == {arm: "Tree" if "Tree" in arm else "Ring" for arm in cells}
    told = cells["nccl:Tree/LL"].executed or {}
    assert (told["protocol"], told["num_channels"], told["version"]) == ("LL", 1, "2.27.3")
    assert told["proof"] == BY_LOG
    assert told["estimated_seconds"] == pytest.approx(14e-6)  # of the stand-in: 10 us and one a KB
    assert (cells["nccl+graph"].executed or {})["graph"] is True
    assert (cells["nccl+symmetric"].executed or {})["buffers"] == "symmetric"


@pytest.mark.parametrize("arm", ["nccl", "nccl+graph"])
def test_each_size_has_the_estimate_of_its_own(standin: Play, arm: str) -> None:
    plan = plan_of(arm, sizes="4K,64K")
    [launch] = planned_launches(plan)
    _, cells = run_launch(plan, launch, lambda _: None, 60.0, before=())
    told = {cell.size_bytes: (cell.executed or {})["estimated_seconds"] for cell in cells}
    assert told == {4 << 10: pytest.approx(14e-6), 64 << 10: pytest.approx(74e-6)}


@pytest.mark.parametrize("version", [22105, 22304, 22403, 22703, 23007])
def test_each_release_writes_what_ran(standin: Play, version: int) -> None:
    standin(version=version)
    told = run("nccl:Tree", sizes="1M")["nccl:Tree"].executed or {}
    assert (told["algorithm"], told["protocol"], told["proof"]) == ("Tree", "Simple", BY_LOG)


def test_a_release_that_writes_nothing_leaves_it_unknown(standin: Play) -> None:
    standin(version=21805)
    cell = run("nccl:Tree")["nccl:Tree"]
    assert cell.verified
    assert (cell.executed or {})["algorithm"] is None
    assert (cell.executed or {})["proof"] is None


def test_what_ran_something_else_is_not_timed_under_its_name(standin: Play) -> None:
    standin(runs="Ring")
    cells = run("nccl,nccl:Tree,nccl:Ring")
    other = cells["nccl:Tree"]
    assert other.error == "NCCL ran Ring/LL although NCCL_ALGO allows only Tree: not timed"
    assert other.times == []
    assert (other.executed or {})["algorithm"] == "Ring"
    assert cells["nccl"].verified
    assert cells["nccl:Ring"].verified


def test_what_a_launch_proved_is_not_proved_again(standin: Play) -> None:
    plan = make_plan(Request(ranks=2, sizes="4K", arms="nccl", launches=2, seed=5)).model_copy(
        update={"cell_budget": 0.02}
    )
    first, second = planned_launches(plan)
    _, cells = run_launch(plan, first, lambda _: None)
    stored = Launch(launch=0, block=0, arms=["nccl"], seed=1, pids=[1, 2], started_utc="", wall_seconds=1.0,
                    load_average=0.0, cells=cells)  # fmt: skip
    standin(runs="PAT")  # which nobody would see, as nothing is written any more
    _, [cell] = run_launch(plan, second, lambda _: None, before=[stored])
    assert (cell.executed or {})["algorithm"] == "Ring"
    assert cell.verified


def that_fails(how: str) -> str:
    """An arm in whose processes the stand-in fails like that."""
    return f"nccl@STANDIN_FAIL={how}"


@pytest.fixture(scope="module")
def beside_those_that_fail() -> dict[str, Cell]:
    """The cells of one launch: an arm that is well, and one for each way to fail."""

    class Ranks(RankSet):
        """Those that hang are given up soon, and only they: on a busy machine others take long to start."""

        def __init__(self, *arguments: Any, **named: Any) -> None:
            super().__init__(*arguments, **named)
            if self._environment.get("STANDIN_FAIL") == "hang":
                self.stall_limit = 3.0

    with pytest.MonkeyPatch.context() as environment:
        put_in_place(environment)
        environment.setattr("ringtree.measure.launch.RankSet", Ranks)
        return run(",".join(["nccl", *map(that_fails, ("init", "async", "hang", "wrong"))]))


@pytest.mark.parametrize(
    ("how", "said"),
    [
        ("init", "ncclCommInitRank failed (2): unhandled system error: Failed to open the stand-in's network"),
        ("async", "an asynchronous operation failed (6)"),
        ("hang", "no rank reported for 3 s"),
    ],
)
def test_an_arm_that_fails_or_hangs_leaves_the_others_judged(
    beside_those_that_fail: dict[str, Cell], how: str, said: str
) -> None:
    assert beside_those_that_fail["nccl"].verified
    assert said in (beside_those_that_fail[that_fails(how)].error or "")


def test_a_wrong_element_is_found_on_the_device(beside_those_that_fail: dict[str, Cell]) -> None:
    wrong = beside_those_that_fail[that_fails("wrong")]
    assert not wrong.verified
    assert wrong.first_wrong is not None
    assert wrong.first_wrong.index == 0
    assert wrong.first_wrong.found != wrong.first_wrong.expected


def test_what_is_missing_is_one_line(standin: Play, monkeypatch: pytest.MonkeyPatch) -> None:
    standin(gpus=0)
    with pytest.raises(UsageError, match="no arm is left to run: nccl, nccl:Ring: no GPU is visible"):
        make_plan(Request(ranks=2, arms="nccl,nccl:Ring"))
    monkeypatch.setenv("RINGTREE_LIBNCCL", "/nowhere/libnccl.so.2")
    with pytest.raises(UsageError, match="RINGTREE_LIBNCCL=/nowhere/libnccl"):
        make_plan(Request(ranks=2, arms="nccl"))


def test_a_name_and_a_variable_can_not_contradict_each_other() -> None:
    with pytest.raises(UsageError, match="says NCCL_ALGO twice: nccl:Ring means NCCL_ALGO=Ring"):
        label_arms(["nccl:Ring@NCCL_ALGO=Tree"])


def test_arms_of_hosts_and_of_gpus_are_never_in_one_run(standin: Play) -> None:
    with pytest.raises(UsageError, match="share no way to be called"):
        make_plan(Request(ranks=2, arms="nccl,ring"))


def test_a_factor_that_nccl_does_not_read_is_refused(standin: Play) -> None:
    with pytest.raises(UsageError, match=r"NCCL_TREE_THRESHOLD does nothing here: not read since 2\.5"):
        make_plan(Request(ranks=2, arms="nccl", factors=["NCCL_ALGO=Ring,Tree", "NCCL_TREE_THRESHOLD=0,1"]))
    with pytest.raises(UsageError, match=r"NCCL_MIN_NCHANELS does nothing here: .*did you mean NCCL_MIN_NCHANNELS"):
        make_plan(Request(ranks=2, arms="nccl", factors=["NCCL_MIN_NCHANELS=8,32"]))


def test_a_factor_that_another_one_overrules_is_noted(standin: Play) -> None:
    plan = make_plan(
        Request(ranks=2, sizes="4K", arms="nccl", factors=["NCCL_IB_DISABLE=0,1", "NCCL_IB_QPS_PER_CONNECTION=1,4"])
    )
    assert plan.design is not None
    said = "NCCL_IB_DISABLE=1: the built-in InfiniBand transport is off"
    assert plan.design.notes == [f"NCCL_IB_QPS_PER_CONNECTION does nothing in 2 of 4 arms: {said}"]
    assert len(planned_launches(plan)) == plan.num_launches, "arms on GPUs of one host share the launch of a block"


def test_a_design_needs_what_nccl_refuses(standin: Play) -> None:
    with pytest.raises(UsageError, match="needs every combination, but nccl@NCCL_ALGO=Tree can't run"):
        make_plan(Request(ranks=2, arms="nccl", factors=["NCCL_ALGO=Ring,Tree"], collective="all_gather"))


def test_a_design_runs_and_every_arm_says_what_it_executed(standin: Play) -> None:
    plan = make_plan(
        Request(ranks=2, sizes="4K", arms="nccl", factors=["NCCL_ALGO=Ring,Tree", "NCCL_PROTO=LL,Simple"], launches=1)
    ).model_copy(update={"cell_budget": 0.02})
    [launch] = planned_launches(plan)
    _, cells = run_launch(plan, launch, lambda _: None, 60.0)
    ran = {cell.arm: (cell.executed or {})["algorithm"] for cell in cells}
    assert list(ran.values()) == ["Ring", "Ring", "Tree", "Tree"]
    assert all(cell.verified for cell in cells)
