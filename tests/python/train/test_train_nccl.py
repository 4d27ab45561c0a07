"""Arms of NCCL in a training: a forced algorithm by release, GPUs that are too few.

For: what is left out of a plan, and why; nothing runs on a GPU. Not for: arms of `compare` (arms/test_nccl_arms.py).
"""

from __future__ import annotations

import subprocess
import sys

import pytest
from cli_support import invoke
from nccl_standin import Play, standin  # noqa: F401 # a fixture
from train_support import plan_of

from ringtree.measure import recording
from ringtree.results import ArmPlan
from ringtree.train.arms import ALONE
from ringtree.train.nccl_arms import why_not

pytest.importorskip("torch")
pytest.importorskip("transformers")

TREE = {"NCCL_ALGO": "Tree"}
SHARDED, HYBRID = ("all_gather", "reduce_scatter"), ("all_gather", "reduce_scatter", "all_reduce")
BESIDE_DDP = ("all_gather", "broadcast")


def play_torch(monkeypatch: pytest.MonkeyPatch, version: str) -> None:
    """As if this PyTorch had CUDA and so new an NCCL."""
    for room in ("arms", "request"):
        monkeypatch.setattr(f"ringtree.train.{room}.lacks_torch_nccl", lambda: None)
        monkeypatch.setattr(f"ringtree.train.{room}.torch_nccl_version", lambda: version)


def test_an_algorithm_without_a_kernel_for_the_strategy_is_left_out() -> None:
    arms = "nccl,nccl:Ring,nccl:Tree,nccl:PAT,nccl:Tree+10%"
    sharded = plan_of(arms=arms, strategy="fsdp2", ranks="2", dry_run=True)
    assert [arm.label for arm in sharded.arms] == ["nccl", "nccl:Ring", "nccl:PAT", ALONE]
    assert set(sharded.left_out) == {"nccl:Tree", "nccl:Tree+10%"}
    assert sharded.left_out["nccl:Tree"] == (
        "it would change nothing: this training sends all_gather and reduce_scatter, which NCCL's Tree does not do; "
        "on 2.24 and later it ends in an error"
    )
    script = plan_of(arms=arms, command=("python", "x.py"), dry_run=True)
    assert script.left_out == {}


def test_an_algorithm_without_a_kernel_for_a_part_of_what_is_sent_is_left_out() -> None:
    arms = "nccl,nccl:Ring,nccl:Tree,nccl:PAT,nccl:NVLS"
    hybrid = plan_of(arms=arms, strategy="fsdp2", sharding="hybrid", ranks="4", dry_run=True)
    assert set(hybrid.left_out) == {"nccl:Tree", "nccl:PAT"}
    assert hybrid.left_out["nccl:Tree"] == (
        "this training also sends all_gather and reduce_scatter, which NCCL's Tree does not do: before 2.24 NCCL runs "
        "another algorithm there, on 2.24 and later it ends in an error; from 2.24 on nccl@NCCL_ALGO=allreduce:tree "
        "forces it for all_reduce alone"
    )
    advised = "nccl@NCCL_ALGO=allreduce:tree,nccl@NCCL_ALGO=allgather:pat;reducescatter:pat"
    assert plan_of(arms=advised, strategy="fsdp2", sharding="hybrid", ranks="4", dry_run=True).left_out == {}
    replicated = plan_of(arms=f"{arms},{advised.split(',')[0]}", ranks="2", dry_run=True)
    assert "also sends all_gather and broadcast, which NCCL's Tree does not do" in replicated.left_out["nccl:Tree"]
    assert "it would change nothing" in replicated.left_out["nccl:PAT"]
    assert set(replicated.left_out) == {"nccl:Tree", "nccl:PAT", "nccl:NVLS"}  # NVLS does not broadcast


@pytest.mark.parametrize(
    ("environment", "steps", "besides", "version", "said"),
    [
        (TREE, HYBRID, (), "2.21.5", None),  # Ring runs in its place
        (TREE, HYBRID, (), "2.23.4", None),
        (
            TREE,
            HYBRID,
            (),
            "2.24.3",
            "NCCL 2.24.3 would end in an error: this training also sends all_gather and reduce",
        ),
        (TREE, HYBRID, (), "2.99.1", None),  # nobody has read it
        (TREE, SHARDED, (), "2.21.5", "it would change nothing: "),
        (TREE, SHARDED, (), "2.27.3", "NCCL 2.27.3 would end in an error: this training sends all_gather and"),
        (TREE, ("all_reduce",), BESIDE_DDP, "2.23.4", None),
        (TREE, ("all_reduce",), BESIDE_DDP, "2.27.3", "also sends all_gather and broadcast, which NCCL's Tree"),
        (TREE, ("all_reduce", "all_to_all"), (), "2.27.3", None),  # which goes point to point, whatever is forced
        (TREE, (), (), "2.27.3", None),  # a script
        ({}, HYBRID, (), "2.27.3", None),
        ({"NCCL_ALGO": "Tree,Ring"}, HYBRID, (), "2.27.3", None),
        ({"NCCL_ALGO": "allreduce:tree"}, HYBRID, (), "2.27.3", None),
        ({"NCCL_ALGO": "tree;ring"}, HYBRID, (), "2.27.3", "NCCL 2.27.3 refuses NCCL_ALGO=tree;ring: "),
        ({"NCCL_ALGO": "NVLS", "NCCL_PROTO": "LL"}, HYBRID, (), "2.27.3", "which NVLS/LL does not do"),
        ({"NCCL_ALGO": "NVLS", "NCCL_PROTO": "Simple"}, HYBRID, (), "2.27.3", None),
    ],
)
def test_a_forced_algorithm_by_release(
    environment: dict[str, str], steps: tuple[str, ...], besides: tuple[str, ...], version: str, said: str | None
) -> None:
    found = why_not(environment, steps, besides, version)
    assert (found is None) == (said is None), found
    assert (said or "") in (found or "").replace("which NCCL's NVLS", "which NVLS")


def test_a_protocol_without_a_kernel_ends_in_an_error_as_well_where_no_release_is_known() -> None:
    """NVLS has no LL: up to 2.23 something else runs, which is true of no release after it."""
    forced = {"NCCL_ALGO": "NVLS", "NCCL_PROTO": "LL"}
    assert why_not(forced, ("all_reduce",), BESIDE_DDP, None) == (
        "it would change nothing: this training sends all_reduce, which NCCL's NVLS/LL does not do; on 2.24 and later "
        "it ends in an error"
    )


def test_the_release_that_is_here_counts(monkeypatch: pytest.MonkeyPatch, standin: Play) -> None:  # noqa: F811
    asked: dict[str, object] = {"strategy": "fsdp2", "sharding": "hybrid", "ranks": "4", "arms": "nccl,nccl:Tree"}
    standin(gpus=4)
    monkeypatch.setattr("ringtree.train.request.memory_for", lambda *_: 0)
    play_torch(monkeypatch, "2.23.4")
    assert plan_of(**asked).left_out == {}
    play_torch(monkeypatch, "2.29.7")
    assert plan_of(**asked).left_out["nccl:Tree"].startswith("NCCL 2.29.7 would end in an error: ")


DDP = """
import torch, torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel
dist.init_process_group("gloo", store=dist.HashStore(), rank=0, world_size=1)
with torch.profiler.profile() as seen:
    net = DistributedDataParallel(torch.nn.Linear(2, 2))
    for _ in range(2):
        net(torch.ones(1, 2)).sum().backward()
print(*sorted(event.key for event in seen.key_averages() if event.key.startswith("c10d::")))
dist.destroy_process_group()
"""


@pytest.mark.torch
def test_ddp_sends_more_than_its_gradients() -> None:
    done = subprocess.run([sys.executable, "-c", DDP], capture_output=True, text=True, check=True, timeout=120)
    assert done.stdout.split() == ["c10d::allgather_", "c10d::allreduce_", "c10d::broadcast_"]


@pytest.mark.parametrize(
    ("version", "variables", "ranks", "agents", "fits"),
    [
        ("2.30.7", {}, "1", None, True),
        ("2.30.7", {}, "2", None, False),
        ("2.30.7", {"NCCL_MULTI_RANK_GPU_ENABLE": "1"}, "2", None, True),
        ("2.29.7", {"NCCL_MULTI_RANK_GPU_ENABLE": "1"}, "2", None, False),
        ("2.30.7", {}, "2", [0, 1], True),
        ("2.30.7", {}, "4", [0, 1], False),
    ],
)
def test_ranks_of_a_host_need_a_gpu_each_or_share_one(
    version: str,
    variables: dict[str, str],
    ranks: str,
    agents: list[int] | None,
    fits: bool,
    monkeypatch: pytest.MonkeyPatch,
    standin: Play,  # noqa: F811
) -> None:
    standin(gpus=1)
    play_torch(monkeypatch, version)
    monkeypatch.setattr("ringtree.train.request.memory_for", lambda *_: 0)
    for name, value in variables.items():
        monkeypatch.setenv(name, value)
    if fits:
        assert plan_of(arms="nccl", ranks=ranks, agents=agents).num_ranks == int(ranks)
        return
    settings = ["--arms", "nccl", "--ranks", ranks]
    if agents is None:
        refused = invoke("train", *settings)
        assert refused.exit_code == 2
        assert len(refused.stderr.strip().splitlines()) == 1
        assert "no arm is left to run: nccl: 2 ranks need as many GPUs and 1 can be seen" in refused.stderr
        assert f"this is {version}" in refused.stderr
    planned = plan_of(arms="nccl", ranks=ranks, agents=agents, dry_run=True)
    assert planned.left_out == {}, "a plan may be of another machine"
    if agents is None:
        looked_at = invoke("train", *settings, "--dry-run", COLUMNS="200").stdout
        assert "not on this machine: nccl: 2 ranks need as many GPUs and 1 can be seen" in looked_at


def test_the_provenance_has_pytorchs_nccl(monkeypatch: pytest.MonkeyPatch, standin: Play) -> None:  # noqa: F811
    """LD_PRELOAD makes it another than the library that ringtree finds for itself."""
    standin(gpus=2, version=22703)
    monkeypatch.setattr("ringtree.train.request.memory_for", lambda *_: 0)
    play_torch(monkeypatch, "2.30.7")
    monkeypatch.setattr(recording, "lacks_torch_nccl", lambda: None)
    monkeypatch.setattr(recording, "torch_nccl_version", lambda: "2.30.7")
    plan = plan_of(arms="nccl", ranks="2")
    assert recording.provenance_of(plan, None).versions["nccl"] == "2.30.7"
    own = plan.model_copy(update={"training": None, "arms": [ArmPlan(label="nccl", name="nccl", kind="nccl")]})
    assert recording.provenance_of(own, None).versions["nccl"] == "2.27.3"
