"""Factors as they are asked for: which arms come of them, and what is refused before a process starts.

For: ringtree.measure.factors, and designs in plans. Not for: the mathematics (test_stats_factorial.py), variables of
NCCL (test_nccl_arms.py), what is said of a run (test_lab_factors.py).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import pytest
from pydantic import ValidationError

from ringtree.arms import registry
from ringtree.errors import UsageError
from ringtree.measure.factors import MOST_ARMS, factorial_design
from ringtree.measure.plan import by_environment, planned_launches
from ringtree.measure.request import Request, make_plan
from ringtree.results import Plan

TWO = ("A=1,2", "B=x,y", "C=1,2", "D=1,2", "E=1,2", "F=1,2", "G=1,2")


def plan_of(*factors: str, arms: str | None = "ring", **asked: Any) -> Plan:
    return make_plan(replace(Request(ranks=2, sizes="1K", arms=arms, factors=list(factors), seed=1), **asked))


def test_every_combination_is_an_arm_and_the_first_values_the_reference() -> None:
    plan = plan_of("A=1,2", "B=x,y,z")
    assert [arm.label for arm in plan.arms] == [f"ring@A={a}@B={b}" for a in (1, 2) for b in "xyz"]
    assert plan.reference == "ring@A=1@B=x"
    assert plan.arms[4].environment == {"A": "2", "B": "y"}
    assert plan.design is not None
    assert [plan.design.levels(arm) for arm in plan.arms] == [(0, 0), (0, 1), (0, 2), (1, 0), (1, 1), (1, 2)]
    assert (plan.design.fraction, plan.design.notes) == ("full", [])
    assert plan_of("A=1,2", reference="ring@A=2").reference == "ring@A=2"


def test_an_arm_keeps_its_own_variables() -> None:
    plan = plan_of("B=x,y", arms="ring/ll@A=7")
    assert [arm.environment for arm in plan.arms] == [{"A": "7", "B": "x"}, {"A": "7", "B": "y"}]
    assert {arm.name for arm in plan.arms} == {"ring/ll"}


def test_a_fraction_runs_a_part_with_both_values_of_every_factor_alike() -> None:
    for fraction, factors, num_arms in (("1/2", TWO[:3], 4), ("1/2", TWO[:5], 16), ("1/4", TWO[:6], 16)):
        plan = plan_of(*factors, fraction=fraction)
        assert len(plan.arms) == num_arms
        assert plan.reference == plan.arms[0].label
        for text in factors:
            variable, _, values = text.partition("=")
            seen = [arm.environment[variable] for arm in plan.arms]
            assert {seen.count(value) for value in values.split(",")} == {num_arms // 2}


def test_the_arms_of_a_design_share_each_launch_on_one_host() -> None:
    plan = plan_of("A=1,2", "B=x,y", launches=3)
    launches = planned_launches(plan)
    assert [launch.block for launch in launches] == [0, 1, 2]
    assert all(list(launch.arms) == plan.arms for launch in launches)
    assert [len(group) for group in by_environment(plan.arms)] == [1, 1, 1, 1], "each has processes of its own"
    apart = planned_launches(plan.model_copy(update={"hosts": [0, 1]}))
    assert [launch.block for launch in apart] == [0] * 4 + [1] * 4 + [2] * 4
    for block in range(3):
        ran = {arm.label for launch in apart if launch.block == block for arm in launch.arms}
        assert ran == {arm.label for arm in plan.arms}


@pytest.mark.parametrize(
    ("factors", "asked", "said"),
    [
        (["A"], {}, "invalid factor 'A': write VARIABLE=value,value"),
        (["=1,2"], {}, "invalid factor"),
        (["A B=1,2"], {}, "invalid factor"),
        (["A=1,,2"], {}, "invalid factor"),
        (["A=1,2@B=3"], {}, "invalid factor"),
        (["A=1"], {}, "has one value"),
        (["A=1,1"], {}, "A=1,1 has a value twice"),
        (["A=1,2", "A=3,4"], {}, "A is a factor twice"),
        (["A=1,2"], {"arms": "ring@A=1"}, "ring@A=1 sets A=1: leave it out"),
        (["NCCL_ALGO=Ring,Tree"], {"arms": "nccl:Ring"}, "nccl:Ring sets NCCL_ALGO=Ring"),
        (["A=1,2"], {"arms": "ring,tree"}, "varies one arm"),
        (["A=1,2"], {"arms": None}, "varies one arm"),
        (["A=1,2"], {"arms": "nonsense"}, "unknown arm 'nonsense'"),
        (["A_TOKEN=1,2"], {}, "pass secrets by the environment"),
        ([], {"fraction": "1/2"}, "needs --factors"),
        (["A=1,2", "B=1,2", "C=1,2"], {"fraction": "1/3"}, "write 1/2 or 1/4"),
        (["A=1,2", "B=1,2", "C=1,2,3"], {"fraction": "1/2"}, "two values a factor, not 3"),
        (["A=1,2", "B=1,2"], {"fraction": "1/2"}, "can't separate 2 factors"),
        (["A=1,2", "B=1,2", "C=1,2", "D=1,2"], {"fraction": "1/4"}, "can't separate 4 factors"),
        (TWO[:5], {}, "32 arms, more than 16: --fraction 1/2 runs 16 of them"),
        (TWO[:6], {}, "64 arms, more than 16: --fraction 1/4 runs 16 of them"),
        (TWO[:6], {"fraction": "1/2"}, "32 arms, more than 16: --fraction 1/4"),
        (TWO, {}, "128 arms, more than 16: use fewer factors"),
        (["A=1,2,3,4,5", "B=1,2,3,4"], {}, "20 arms, more than 16: use fewer values"),
        (["A=1,2"], {"arms": None, "preset": "textbook"}, "leave --factors out"),
    ],
)
def test_mistakes_say_what_to_write(factors: list[str], asked: dict[str, Any], said: str) -> None:
    with pytest.raises(UsageError) as refused:
        plan_of(*factors, **{"arms": "ring", **asked})
    assert said in str(refused.value)
    assert "\n" not in str(refused.value)


def test_a_full_design_of_the_largest_size_runs() -> None:
    assert len(plan_of(*TWO[:4]).arms) == MOST_ARMS


def test_a_design_without_one_of_its_arms_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    picky = replace(
        registry.KINDS[0],
        name="picky",
        heads=frozenset(("picky",)),
        accepts=lambda name, collective: True,
        refuses=lambda wish: "it has no A=2 with B=y" if wish.environment == {"A": "2", "B": "y"} else None,
    )
    monkeypatch.setattr(registry, "KINDS", (*registry.KINDS, picky))
    assert len(plan_of("A=1,3", "B=x,y", arms="picky").arms) == 4
    with pytest.raises(
        UsageError, match="needs every combination, but picky@A=2@B=y can't run: it has no A=2 with B=y"
    ):
        plan_of("A=1,2", "B=x,y", arms="picky")


def test_a_variable_that_does_nothing_is_no_factor(monkeypatch: pytest.MonkeyPatch) -> None:
    def idle(environment: Mapping[str, str]) -> dict[str, str]:
        return {"OLD": "not read since 2.5"} | ({"B": "A=2: it is off"} if environment.get("A") == "2" else {})

    kind = replace(
        registry.KINDS[0], name="idler", heads=frozenset(("idler",)), accepts=lambda *_: True, without_effect=idle
    )
    monkeypatch.setattr(registry, "KINDS", (*registry.KINDS, kind))
    with pytest.raises(UsageError, match=r"OLD does nothing here: not read since 2\.5"):
        factorial_design(["OLD=1,2", "A=1,2"], None, "idler")
    found = factorial_design(["A=1,2", "B=x,y"], None, "idler")
    assert found is not None
    assert found[0].notes == ["B does nothing in 2 of 4 arms: A=2: it is off"]


def test_arms_that_are_not_the_designs_are_refused_when_a_run_is_read() -> None:
    stored = plan_of("A=1,2", "B=x,y").model_dump()
    assert Plan.model_validate(stored).design is not None
    del stored["design"]
    assert Plan.model_validate(stored).design is None, "runs that are older than designs"
    for change in ({"A": "1", "B": "y"}, {"A": "1"}, {"A": "3", "B": "x"}):
        wrong = plan_of("A=1,2", "B=x,y").model_dump()
        wrong["arms"][0]["environment"] = change
        with pytest.raises(ValidationError):
            Plan.model_validate(wrong)
    wrong = plan_of("A=1,2", "B=x,y").model_dump()
    wrong["arms"].pop()
    with pytest.raises(ValidationError, match="every combination of two factors' levels"):
        Plan.model_validate(wrong)
