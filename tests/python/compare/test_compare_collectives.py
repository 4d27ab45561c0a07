"""A comparison of every collective, end to end: real ranks, every element checked, and every view of what is stored.

For: `ringtree compare --collective` and what shows such runs. Not for: the data (test_collective_data.py), or verdicts.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest
from cli_support import invoke_quickly
from forked_ranks import forked_ranks
from lent_ranks import cells_in, ranks_to_lend
from typer.testing import CliRunner

from ringtree.cli import app
from ringtree.cli.outcome import FAILED
from ringtree.measure.collective_data import SHAPES
from ringtree.measure.rank_set import RankSet
from ringtree.measure.recording import run_comparison
from ringtree.measure.request import Request, make_plan
from ringtree.results import Cell, Plan, StoredRun, read_run
from ringtree.stats import busbw

__all__ = ["forked_ranks"]

# In every process that finds it: a call leaves one element of rank 0's result wrong.
SPOILT = """
from ringtree.arms.engine import EngineArm

bind = EngineArm.bind


def spoilt(self, source, result, root=0):
    call = bind(self, source, result, root)

    def run():
        call()
        if self._setting.rank == 0:
            result[-1:] += 1

    return run


EngineArm.bind = spoilt
"""


def shown(*arguments: str) -> str:
    """What a command prints that starts no rank: in this process, as a new one costs a second of imports."""
    result = CliRunner().invoke(app, arguments, catch_exceptions=False)
    assert result.exit_code == 0, result.output
    return result.stdout


def compare(runs: Path, collective: str, arms: str, ranks: int, exit_code: int = 0) -> StoredRun:
    result = invoke_quickly(
        *("compare", "--collective", collective, "--ranks", ranks, "--sizes", "96,4000", "--arms", arms),
        *("--launches", "1", "--no-preflight", "--seed", "5", "--runs", runs),
    )
    assert result.exit_code == exit_code, result.stderr
    return read_run(max(runs.iterdir(), key=lambda path: path.name))


def cells_of(stored: StoredRun) -> list[Cell]:
    return [cell for launch in stored.launches for cell in launch.cells]


def plan_of(collective: str, arms: str, ranks: int) -> Plan:
    """One launch of such a comparison."""
    asked = Request(collective=collective, ranks=ranks, sizes="96,4000", arms=arms, launches=1, seed=5)
    return make_plan(asked).model_copy(update={"cell_budget": 0.02})


@pytest.fixture(scope="module")
def three_ranks() -> Iterator[RankSet]:
    with ranks_to_lend(3, "numpy") as ranks:
        yield ranks


@pytest.fixture(scope="module")
def two_ranks_of_torch() -> Iterator[RankSet]:
    pytest.importorskip("torch")
    with ranks_to_lend(2, "torch") as ranks:
        yield ranks


@pytest.mark.parametrize("collective", SHAPES)
def test_every_collective_of_the_engine_is_right(three_ranks: RankSet, collective: str) -> None:
    plan = plan_of(collective, "auto", ranks=3)
    assert (plan.collective, plan.op) == (collective, "sum" if "reduce" in collective else "none")
    blocks = SHAPES[collective].has_blocks
    assert [size.size_bytes for size in plan.sizes] == [96, 4008 if blocks else 4000]
    cells = cells_in(three_ranks, plan)
    assert [(cell.error, cell.first_wrong, cell.verified) for cell in cells] == [(None, None, True)] * 2
    assert all(cell.executed is not None and cell.executed["backend"] == "engine" for cell in cells)


@pytest.mark.parametrize("collective", ["all_to_all", "reduce"])
def test_an_arm_that_is_wrong_is_found_out(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, collective: str) -> None:
    (tmp_path / "site").mkdir()
    (tmp_path / "site" / "sitecustomize.py").write_text(SPOILT)
    monkeypatch.syspath_prepend(str(tmp_path / "site"))
    for cell in cells_of(compare(tmp_path / "runs", collective, "auto", ranks=2, exit_code=FAILED)):
        assert not cell.verified
        assert cell.first_wrong is not None
        assert cell.first_wrong.rank == 0
        assert cell.first_wrong.found == cell.first_wrong.expected + 1


@pytest.mark.torch
@pytest.mark.parametrize("collective", SHAPES)
def test_gloo_and_send_recv_run_what_they_have(two_ranks_of_torch: RankSet, collective: str) -> None:
    one_vector = collective in ("all_reduce", "broadcast", "reduce")
    plan = plan_of(collective, "auto,gloo" + ",send-recv:ring" * one_vector, ranks=2)
    cells = cells_in(two_ranks_of_torch, plan)
    assert [(cell.error, cell.verified) for cell in cells] == [(None, True)] * (6 if one_vector else 4)


def test_default_arms_are_those_that_the_collective_has() -> None:
    labels = {
        collective: {arm.label for arm in plan.arms} | set(plan.left_out)
        for collective in SHAPES
        for plan in [make_plan(Request(collective=collective, ranks=2, sizes="96"))]
    }
    assert labels["all_reduce"] == {"ring", "tree", "auto", "gloo", "send-recv:ring"}
    assert labels["all_gather"] == {"ring", "tree", "auto", "gloo", "send-recv:ring"}
    assert labels["all_to_all"] == labels["send_recv"] == {"auto", "gloo"}


@pytest.mark.parametrize(
    ("collective", "title"),
    [
        ("all_gather", "all_gather float32, 2 ranks, in place, 1 launch"),
        ("all_to_all", "all_to_all float32, 2 ranks, out of place, 1 launch"),
        ("reduce_scatter", "reduce_scatter sum float32, 2 ranks, in place, 1 launch"),
    ],
)
def test_every_view_shows_the_collective(tmp_path: Path, collective: str, title: str) -> None:
    runs = tmp_path / "runs"
    stored = run_comparison(plan_of(collective, "direct,auto", ranks=2), runs, lambda *_: None)
    where = ("--runs", str(runs))
    assert title in shown("show", "last", *where)
    told = json.loads(shown("show", "last", "--json", *where))
    cell = told["cells"][0]
    assert told["collective"] == collective
    seconds = cell["time"]["median"]
    assert cell["busbw"] == pytest.approx(busbw(collective, cell["size_bytes"], seconds, 2))
    assert cell["share_of_limit"] is None
    assert collective in shown("show", "last", "--csv", *where)
    asked = "SELECT DISTINCT collective, op FROM runs"
    (row,) = json.loads(shown("sql", asked, "--json", *where))
    assert list(row.values()) == [collective, stored.run.plan.op]
    for command, name in (("report", "page.html"), ("plot", "curves.svg")):
        shown(command, "last", "-o", str(tmp_path / name), *where)
        assert collective in (tmp_path / name).read_text()
