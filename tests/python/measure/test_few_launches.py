"""The warning of a plan that can't decide anything. Not for: what a difference needs (judge and stats)."""

from __future__ import annotations

import pytest
from cli_support import invoke
from lab_support import make_plan

from ringtree.measure.few_launches import few_launches

LINE = "can't decide any comparison: a verdict at 95 % needs at least --launches 6"


def test_fewer_than_the_least() -> None:
    assert few_launches(make_plan(arms=["a", "b"], num_launches=5)) == f"5 launches {LINE}"
    assert few_launches(make_plan(arms=["a", "b"], num_launches=1)) == f"1 launch {LINE}"
    assert few_launches(make_plan(arms=["a", "b"], num_launches=6)) is None


def test_where_nothing_is_compared_or_a_pilot_decides() -> None:
    assert few_launches(make_plan(arms=["a"], num_launches=5)) is None
    budgeted = make_plan(arms=["a", "b"], num_launches=5).model_copy(update={"time_budget": 60.0})
    assert few_launches(budgeted) is None


@pytest.mark.parametrize(("launches", "warned"), [("5", True), ("6", False)])
def test_compare_warns_in_a_dry_run(launches: str, warned: bool) -> None:
    result = invoke("compare", "--arms", "ring,auto", "--sizes", "1K", "--launches", launches, "--dry-run")
    assert result.exit_code == 0
    assert (f"warning: {launches} launches {LINE}" in result.stderr) == warned


@pytest.mark.parametrize(("arms", "warned"), [("gloo,ringtree:auto", True), ("gloo", False)])
def test_train_warns_in_a_dry_run(arms: str, warned: bool) -> None:
    pytest.importorskip("torch")
    pytest.importorskip("transformers")
    result = invoke("train", "--arms", arms, "--launches", "5", "--dry-run")
    assert result.exit_code == 0
    assert (LINE in result.stderr) == warned
