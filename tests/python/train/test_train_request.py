"""What may be asked of a training, and the one line for what may not.

For: ringtree.train's request, arms and models, which start nothing. Not for: running (test_train_sweep.py).
"""

from __future__ import annotations

import importlib.util
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from cli_support import assert_refused, invoke
from needed import needs
from train_support import MINI, mini_model, plan_of

from ringtree.errors import UsageError
from ringtree.gpu import lacks_gpu
from ringtree.measure.plan import planned_launches
from ringtree.measure.training_estimate import step_operations, training_cost
from ringtree.results.listing import num_planned
from ringtree.train.arms import ALONE
from ringtree.train.forced import forced_profile
from ringtree.train.models import FAMILIES, find_model

pytest.importorskip("torch")
needs("transformers")


def num_expert_parameters(configuration: Mapping[str, Any]) -> int:
    """How many parameters lie in experts, of three matrices each."""
    of_one = 3 * configuration["hidden_size"] * configuration["intermediate_size"]
    return int(configuration["num_hidden_layers"] * configuration["num_local_experts"] * of_one)


@pytest.mark.torch
@pytest.mark.parametrize("family", FAMILIES)
def test_parameters_are_those_that_transformers_builds(family: str) -> None:
    import torch

    from ringtree.train.trainer import build

    model = find_model(family, "tiny")
    net = build(model, 1, torch.device("cpu"))
    assert sum(parameter.numel() for parameter in net.parameters()) == model.parameters
    experts = [parameter.numel() for name, parameter in net.named_parameters() if ".experts." in name]
    assert sum(experts) == (num_expert_parameters(model.configuration) if family == "mixtral" else 0)


def test_a_step_computes_with_the_experts_that_a_token_meets() -> None:
    dense = find_model("qwen2.5", "tiny")
    assert step_operations(dense, 10) == 60 * dense.parameters
    mixture = find_model("mixtral", "tiny")
    idle = num_expert_parameters(mixture.configuration) * 6 // 8  # a token meets two of eight
    assert step_operations(mixture, 10) == 60 * (mixture.parameters - idle)


def test_launches_of_a_block_are_all_workloads_in_shuffled_order() -> None:
    plan = plan_of(models="qwen2.5,mixtral", ranks="1,2,4", launches=3)
    launches = planned_launches(plan)
    assert len(launches) == num_planned(plan) == 18
    orders = [[one.workload for one in launches if one.block == block] for block in range(3)]
    assert all(sorted(order) == list(range(6)) for order in orders)
    assert len(set(map(tuple, orders))) > 1
    assert all([arm.label for arm in one.arms] == ["gloo", "ringtree:auto", ALONE] for one in launches)
    assert training_cost(plan).rank_seconds > training_cost(plan).seconds


def test_arms_apart_have_launches_of_their_own() -> None:
    plan = plan_of(ranks="2", launches=2, apart=True)
    assert sorted(len(one.arms) for one in planned_launches(plan)) == [1] * 6


def test_a_forced_algorithm_is_forced_where_it_exists() -> None:
    rules = forced_profile("two_shot", [(2, 1)]).rules_text().splitlines()
    assert {line.split()[0] for line in rules} == {"all_reduce"}
    assert {line.split()[5] for line in rules} == {"two_shot"}


def test_between_hosts_a_forced_algorithm_has_the_one_protocol_that_there_is() -> None:
    rules = [line.split() for line in forced_profile("ring", [(2, 1), (4, 2)]).rules_text().splitlines()]
    assert {rule[6] for rule in rules if rule[1] == "2"} == {"ll", "simple"}
    assert {rule[6] for rule in rules if rule[1] == "2x2"} == {"simple"}


def test_an_algorithm_that_changes_nothing_is_left_out() -> None:
    plan = plan_of(arms="gloo,ringtree:two_shot", strategy="fsdp2")
    assert "which two_shot does not do" in plan.left_out["ringtree:two_shot"]


@pytest.mark.parametrize(
    ("asked", "said"),
    [
        ({"models": "llama"}, "unknown model 'llama'"),
        ({"models": "qwen2.5,qwen2.5"}, "each model once"),
        ({"scale": "huge"}, "unknown scale 'huge'"),
        ({"arms": "glo"}, "unknown arm 'glo'"),
        ({"arms": "gloo,,"}, "empty name"),
        ({"arms": "ringtree:rong"}, "no 'rong'"),
        ({"arms": "gloo", "reference": "nccl"}, "not one of the arms"),
        ({"strategy": "zero"}, "invalid --strategy 'zero'"),
        ({"sharding": "full"}, "--sharding belongs to FSDP"),
        ({"strategy": "fsdp2", "sharding": "hybrid", "ranks": "2"}, "--ranks 2 does not fit"),
        (
            {"strategy": "fsdp2", "sharding": "hybrid", "ranks": "4,5"},
            "two halves of at least two ranks each: --ranks 5",
        ),
        ({"strategy": "fsdp2", "sharding": "hybrid", "ranks": "2", "agents": [0, 1]}, "two at least: --ranks 2 does"),
        ({"strategy": "fsdp2", "sharding": "hybrid", "ranks": "6", "agents": [0, 0, 1]}, "as many ranks on each"),
        (
            {"arms": "ringtree:ring", "ranks": "3", "agents": [0, 0, 1]},
            "ranks 0 to 2 are on hosts 0 0 1: start as many",
        ),
        ({"ranks": "3", "agents": [0, 1]}, "--ranks must be a multiple of 2, not 3"),
        ({"command": ("python", "t.py"), "agents": [0, 1]}, "on one host: run this without a launcher"),
        ({"experts": "parallel"}, "has no experts"),
        ({"models": "mixtral", "experts": "parallel", "ranks": "3"}, "can't be spread over 3 ranks"),
        ({"precision": "fp8"}, "invalid --precision 'fp8'"),
        ({"sequence": 1}, "--sequence must be at least 2"),
        ({"tokens": "/nowhere"}, "can't read --tokens /nowhere: No such file or directory"),
        ({"tokens": "/"}, "can't read --tokens /: Is a directory"),
        ({"tokens": "/dev/null"}, "has 0 bytes"),
        ({"arms": "torch:no_such.backend"}, "no module 'no_such' for this Python"),
        ({"arms": "torch:json.no_such.backend"}, "no module 'json.no_such' for this Python"),
        ({"price": "cheap"}, "invalid price 'cheap'"),
        ({"launches": 0}, "--launches must lie in 1..1000"),
        ({"launches": 8, "budget": "10m"}, "leave --launches out"),
        ({"metric": "x"}, "name the script after --"),
        ({"command": ("python", "t.py"), "metric": "x"}, "0 groups"),
        ({"command": ("python", "t.py"), "metric": "("}, "invalid --metric"),
        ({"command": ("python", "t.py"), "models": "qwen2.5"}, "leave out --models, meant for the built-in models"),
        ({"command": ("python", "t.py"), "strategy": "ddp", "batch": 1}, "leave out --strategy --batch, meant"),
        ({"command": ("python", "t.py"), "checkpointing": True}, "leave out --checkpointing, meant"),
        ({"models": "mixtral-8x7b", "ranks": "256"}, "does not fit"),
    ],
)
def test_refused(asked: dict[str, object], said: str) -> None:
    with pytest.raises(UsageError) as refused:
        plan_of(**asked)
    assert said in str(refused.value)
    assert "\n" not in str(refused.value)


@pytest.mark.parametrize(
    ("content", "said"),
    [("{", "can't read the model"), ('{"model_type": "bert"}', "of type 'bert'"), ('{"model_type": "qwen2"}', "lacks")],
)
def test_a_configuration_that_is_none(tmp_path: Path, content: str, said: str) -> None:
    (tmp_path / "config.json").write_text(content)
    with pytest.raises(UsageError, match=said):
        plan_of(models=str(tmp_path))


def test_a_configuration_of_ones_own(tmp_path: Path) -> None:
    plan = plan_of(models=str(mini_model(tmp_path)))
    assert plan.training is not None
    assert plan.training.models[0].name == "mini"
    assert plan.training.models[0].configuration == json.loads(json.dumps(MINI))


def test_transformers_is_missing(monkeypatch: pytest.MonkeyPatch) -> None:
    there = importlib.util.find_spec
    monkeypatch.setattr(
        importlib.util, "find_spec", lambda name, *more: None if name == "transformers" else there(name)
    )
    assert_refused(invoke("train", "--dry-run"), "pip install 'ringtree[train]'")


@pytest.mark.skipif(lacks_gpu() is None, reason="there is a GPU")
def test_an_arm_on_gpus_without_one() -> None:
    assert_refused(invoke("train", "--arms", "nccl,nccl:Ring"), "no arm is left to run: nccl")


def test_the_dry_run_prints_hours_and_money() -> None:
    result = invoke("train", "--ranks", "2", "--dry-run", "--price", "3/gpu-hour", COLUMNS="200")
    assert result.exit_code == 0
    assert "in 8 launches" in result.stdout
    assert "in money" in result.stdout
    assert "nothing was run" in result.stdout


def test_the_dry_run_guesses_no_money_for_a_model_of_published_size(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("ringtree.train.request.available_memory", lambda: 0)  # not known: everything fits
    monkeypatch.setattr("ringtree.train.request.memory_for", lambda *_: 0)
    given = ("train", "--models", "qwen2.5-7b", "--ranks", "2", "--dry-run", "--price", "3/gpu-hour")
    guessed = invoke(*given, COLUMNS="200").stdout
    assert "8 launches; their hours are not known" in guessed
    assert "in money" not in guessed
    # 5 + 25 steps of 3 arms with 10 s each, of 2 ranks: 0.5 h a launch, without its start.
    counted = invoke(*given, "--seconds-per-step", "10", COLUMNS="200").stdout
    plan = plan_of(models="qwen2.5-7b", ranks="2")
    at_no_time = training_cost(plan, 1e-9)
    assert training_cost(plan, 10.0).rank_seconds == pytest.approx(at_no_time.rank_seconds + 8 * 30 * 3 * 10 * 2)
    assert f"{training_cost(plan, 10.0).rank_seconds / 3600 * 3:.2f} in money (at 10 s a step)" in counted
    script = invoke("train", "--dry-run", "--price", "3/gpu-hour", "--", "python", "x.py", COLUMNS="200").stdout
    assert "each as long as the script takes; nothing was run" in script
    budget = invoke(*given, "--budget", "120m", COLUMNS="200").stdout
    assert ", 4 rank-hours, 12.00 in money; nothing was run" in budget


@pytest.mark.parametrize(
    ("given", "said"),
    [
        (("--seconds-per-step", "1"), "add --dry-run"),
        (("--dry-run", "--seconds-per-step", "0"), "must be above 0, not 0"),
        (("--dry-run", "--seconds-per-step", "nan"), "must be above 0, not nan"),
        (("--dry-run", "--seconds-per-step", "1", "--", "python", "x.py"), "for the built-in models"),
    ],
)
def test_what_the_dry_run_can_t_count_with(given: tuple[str, ...], said: str) -> None:
    assert_refused(invoke("train", *given), said)


def test_the_dry_run_names_a_backend_whose_module_is_not_here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    arms = "gloo,torch:own_backends.one.fast,torch:json.encoder.any,torch:plain"
    found = invoke("train", "--arms", arms, "--dry-run", COLUMNS="200").stdout
    assert "not on this machine: torch:own_backends.one.fast: no module 'own_backends.one'" in found
    assert found.count("not on this machine") == 1
    (tmp_path / "own_backends").mkdir()
    (tmp_path / "own_backends" / "one.py").write_text("raise SystemExit('a plan does not import it')")
    monkeypatch.chdir(tmp_path)  # the ranks have the folder in their path
    assert "not on this machine" not in invoke("train", "--arms", arms, "--dry-run", COLUMNS="200").stdout
    monkeypatch.undo()
    script = invoke("train", "--arms", arms, "--dry-run", "--", "python", "x.py", COLUMNS="200").stdout
    assert "not on this machine" not in script  # it imports what it needs, perhaps with another Python


@pytest.mark.skipif(lacks_gpu() is None, reason="there is a GPU")
def test_the_dry_run_plans_arms_of_another_machine_and_says_what_is_not_here() -> None:
    result = invoke("train", "--arms", "nccl,nccl:Ring", "--ranks", "8", "--dry-run", COLUMNS="200")
    assert result.exit_code == 0
    assert "arms: nccl (reference), nccl:Ring" in result.stdout
    assert "not on this machine: nccl:Ring: " in result.stdout
    assert "their hours are not known, as no step like these was timed: run a pilot" in result.stdout
    assert "GPU-hours" not in result.stdout
    said = invoke("train", "--arms", "nccl", "--ranks", "8", "--dry-run", "--seconds-per-step", "1.5", COLUMNS="200")
    assert "GPU-hours (at 1.5 s a step)" in said.stdout
    mixed = invoke("train", "--arms", "gloo,nccl", "--dry-run")
    assert_refused(mixed, "CPU and GPU arms can't be compared")
