"""The torch.distributed backend: every collective on two and three ranks, through PyTorch's own functions."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

pytest.importorskip("torch")

from torch_ranks import Crews

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
    "default_backends",
]

pytestmark = pytest.mark.torch


@pytest.fixture(scope="module")
def crews(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Crews]:
    found = Crews(tmp_path_factory.mktemp("torch"))
    yield found
    found.close()


@pytest.mark.parametrize("size", [2, 3])
@pytest.mark.parametrize("case", CASES)
def test_case(crews: Crews, size: int, case: str) -> None:
    crews.get(size).run(case)
