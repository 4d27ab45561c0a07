"""The torch.distributed backend: every collective on two and three ranks, through PyTorch's own functions."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

pytest.importorskip("torch")

import torch
import torch.distributed as dist
from torch_ranks import Crews, Ranks

VERSION = tuple(int(part) for part in torch.__version__.split(".")[:2])
COLLECTIVES = [
    "all_reduce",
    "averages",
    "odd_layouts",
    "odd_results",
    "all_gather",
    "objects",
    "reduce_scatter",
    "coalesced",
    "all_to_all",
    "sparse",
]
OF_GROUPS = [
    "moving",
    "futures",
    "threads",
    "send_recv",
    "groups",
    "monitored_barrier",
    "refused",
    "sequence_numbers",
    "shared_memory",
    "again",
    "callbacks_of_messages",
    "inference",
    "from_any_source",
    "asked",
    "dropped_in_a_callback",
    pytest.param(
        "destroyed_in_a_callback",
        marks=pytest.mark.skipif(VERSION < (2, 7), reason="PyTorch 2.6 does not tell a plugin that a group goes"),
    ),
]

GROUPS_OF_OTHERS = """
import ringtree_autoload
import torch.distributed as dist

def of_a_group():
    group = dist.new_group([0], backend="cpu:gloo")
    try:
        return f"its sequence number is {group._get_sequence_number_for_group()}"
    except RuntimeError as error:
        return str(error).splitlines()[0]

dist.init_process_group("gloo", store=dist.HashStore(), rank=0, world_size=1)
assert not dist.Backend._plugins
alone = of_a_group()
import torch.testing._internal.distributed.fake_pg  # a plugin, which torch.distributed.fsdp loads
beside_another = of_a_group()
ringtree_autoload.register()
assert "RINGTREE" in dist.Backend._plugins
assert of_a_group() == beside_another, (of_a_group(), beside_another)
del dist.Backend._plugins["FAKE"]
assert of_a_group() == alone, (of_a_group(), alone)
print(alone, beside_another, sep="\\n")
"""

pytestmark = pytest.mark.torch


@pytest.mark.parametrize("size", [2, 3])
@pytest.mark.parametrize("case", COLLECTIVES)
def test_case(crews: Crews, size: int, case: str) -> None:
    crews.get(size).run(case)


@pytest.mark.parametrize("size", [2, 3])
@pytest.mark.parametrize("case", OF_GROUPS)
def test_case_of_groups(crews: Crews, size: int, case: str) -> None:
    crews.get(size).run(case, module="torch_cases_of_groups")


def test_in_the_wrapper_that_debugs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TORCH_DISTRIBUTED_DEBUG", "DETAIL")
    ranks = Ranks(2, tmp_path)
    try:
        ranks.run("objects")
    finally:
        ranks.close()


@pytest.mark.skipif(not dist.is_gloo_available(), reason="this PyTorch has no Gloo")
def test_groups_of_others_are_what_they_are_without_ringtree() -> None:
    """Also beside another plugin, where PyTorch 2.13 gives cpu:gloo no default backend; FSDP loads one."""
    done = subprocess.run(
        [sys.executable, "-c", GROUPS_OF_OTHERS],
        env={**os.environ, "TORCH_DEVICE_BACKEND_AUTOLOAD": "0"},
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert done.returncode == 0, done.stderr
    alone, beside_another = done.stdout.splitlines()
    if VERSION == (2, 13):  # what is compared can differ
        assert alone == "its sequence number is 0" != beside_another


@pytest.mark.skipif(VERSION < (2, 8), reason="PyTorch before 2.8 has no such context")
def test_tensors_that_know_their_work(tmp_path: Path) -> None:
    """In processes of its own: what it imports changes what PyTorch 2.13 says of groups that are made later."""
    ranks = Ranks(2, tmp_path)
    try:
        ranks.run("waited_by_tensor", module="torch_cases_of_groups")
    finally:
        ranks.close()


@pytest.mark.skipif(not hasattr(dist, "gather_single"), reason="PyTorch has no gather_single before 2.14")
@pytest.mark.parametrize("size", [2, 3])
def test_gather_single(crews: Crews, size: int) -> None:
    crews.get(size).run("gather_single")
