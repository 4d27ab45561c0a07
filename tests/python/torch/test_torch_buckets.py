"""DDP's buckets in memory that all ranks of a host map: the gradients are Gloo's, and the memory comes and goes."""

from __future__ import annotations

import pytest

pytest.importorskip("torch")

import torch_buckets
from torch._C import _distributed_c10d as c10d
from torch_ranks import Crews

pytestmark = [
    pytest.mark.torch,
    pytest.mark.skipif(
        not hasattr(c10d.Backend, "allocate_tensor"), reason="this PyTorch asks no backend for the memory of buckets"
    ),
]

MODULE = "torch_buckets"
OPTIONS = [
    {},
    {"gradient_as_bucket_view": True},
    {"find_unused_parameters": True},
    {"find_unused_parameters": True, "gradient_as_bucket_view": True},
    {"static_graph": True},
]


@pytest.mark.parametrize("options", OPTIONS, ids=lambda options: "-".join(options) or "default")
@pytest.mark.parametrize("size", [2, 3])
def test_gradients_are_gloos(crews: Crews, size: int, options: dict[str, bool]) -> None:
    expected = torch_buckets.STEPS * len(torch_buckets.LENGTHS)
    assert crews.get(size).run("same_gradients", options, module=MODULE) == [expected] * size


def test_buckets_are_in_shared_memory(crews: Crews) -> None:
    for buckets in crews.get(2).run("where_buckets_are", False, module=MODULE):
        large = [shared for size, shared in buckets if size >= 1 << 20]
        assert len(large) >= 2, buckets
        assert all(large), buckets


def test_buckets_are_not_where_pytorch_is_told_so(crews: Crews) -> None:
    for buckets in crews.get(2).run("where_buckets_are", True, module=MODULE):
        assert buckets
        assert not any(shared for _, shared in buckets), buckets


def test_buckets_outlive_their_group(crews: Crews) -> None:
    assert crews.get(2).run("outlive_their_group", module=MODULE) == [(True, True)] * 2


def test_without_shared_memory_it_is_ordinary_memory(crews: Crews) -> None:
    """One line says so, once."""
    assert crews.get(2).run("without_descriptors", module=MODULE) == [(1, True)] * 2
