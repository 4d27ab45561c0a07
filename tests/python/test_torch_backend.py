"""The torch.distributed backend: every collective on two and three ranks, through PyTorch's own functions, compiled, in
Python, and with ranks of both kinds in one group."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

pytest.importorskip("torch")

import torch
import torch.distributed as dist
from torch_ranks import KINDS, Crews, Ranks, needs_python_backend

VERSION = tuple(int(part) for part in torch.__version__.split(".")[:2])
CASES = [
    "all_reduce",
    "averages",
    "odd_layouts",
    "moving",
    "all_gather",
    "objects",
    "reduce_scatter",
    "coalesced",
    "all_to_all",
    "sparse",
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
    pytest.param(
        "default_backends",
        marks=pytest.mark.skipif(
            VERSION < (2, 13) or not dist.is_gloo_available(), reason="this PyTorch gives cpu:gloo no default by itself"
        ),
    ),
    "dropped_in_a_callback",
    pytest.param(
        "destroyed_in_a_callback",
        marks=pytest.mark.skipif(VERSION < (2, 7), reason="PyTorch 2.6 does not tell a plugin that a group goes"),
    ),
]
# What PyTorch cannot ask of a backend in Python.
COMPILED_ONLY = ["from_any_source", "asked"]

pytestmark = pytest.mark.torch


@pytest.fixture(scope="module")
def crews(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Crews]:
    found = Crews(tmp_path_factory.mktemp("torch"))
    yield found
    found.close()


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("size", [2, 3])
@pytest.mark.parametrize("case", CASES)
def test_case(crews: Crews, kind: str, size: int, case: str) -> None:
    crews.get(size, kind=kind).run(case)


@pytest.mark.parametrize("size", [2, 3])
@pytest.mark.parametrize("case", COMPILED_ONLY)
def test_compiled_only(crews: Crews, size: int, case: str) -> None:
    crews.get(size).run(case)


@needs_python_backend
@pytest.mark.parametrize("size", [2, 3])
def test_no_source_in_python(crews: Crews, size: int) -> None:
    crews.get(size, kind="python").run("no_source")


@pytest.mark.parametrize("kind", KINDS)
def test_in_the_wrapper_that_debugs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, kind: str) -> None:
    monkeypatch.setenv("TORCH_DISTRIBUTED_DEBUG", "DETAIL")
    ranks = Ranks(2, tmp_path, kind=kind)
    try:
        ranks.run("objects")
    finally:
        ranks.close()


@pytest.mark.skipif(not hasattr(dist, "gather_single"), reason="PyTorch has no gather_single before 2.14")
@pytest.mark.parametrize("size", [2, 3])
def test_gather_single(crews: Crews, size: int) -> None:
    crews.get(size).run("gather_single")
