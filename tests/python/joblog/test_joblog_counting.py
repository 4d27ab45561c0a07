"""What is counted of a program's collectives, against sizes worked out by hand. PyTorch's fake group of four ranks
sends nothing, so one process is enough; that the recorder reads jobs of several ranks alike: test_torch_tracer.py."""

from __future__ import annotations

import threading
from collections.abc import Iterator

import pytest

torch = pytest.importorskip("torch")
fake = pytest.importorskip("torch.testing._internal.distributed.fake_pg")

import torch.distributed as dist  # noqa: E402

from ringtree.joblog.counting import counted_calls, described_calls  # noqa: E402
from ringtree.joblog.operators import Described  # noqa: E402

pytestmark = pytest.mark.torch

SIZE = 4


@pytest.fixture(autouse=True)
def four_ranks() -> Iterator[None]:
    dist.init_process_group("fake", store=fake.FakeStore(), rank=0, world_size=SIZE)
    yield
    dist.destroy_process_group()


def test_calls_and_bytes_by_collective_all_blocks_together() -> None:
    with counted_calls() as counted:
        dist.all_reduce(torch.ones(10))
        dist.all_reduce(torch.ones(3, dtype=torch.float16))
        dist.broadcast(torch.ones(7, dtype=torch.uint8), src=0)
        dist.all_gather_into_tensor(torch.empty(6 * SIZE, dtype=torch.float64), torch.ones(6, dtype=torch.float64))
        dist.reduce_scatter_tensor(torch.empty(2, dtype=torch.int32), torch.ones(2 * SIZE, dtype=torch.int32))
        dist.all_to_all_single(torch.empty(2 * SIZE), torch.ones(2 * SIZE))
        dist.barrier()
        assert counted == {}, "filled when the context is left"
    assert counted == {
        "all_gather": (1, 6 * SIZE * 8),
        "all_reduce": (2, 10 * 4 + 3 * 2),
        "all_to_all": (1, 2 * SIZE * 4),
        "barrier": (1, 0),
        "broadcast": (1, 7),
        "reduce_scatter": (1, 2 * SIZE * 4),
    }
    assert list(counted) == sorted(counted)


def test_a_group_of_one_rank_sends_nothing() -> None:
    alone = dist.new_group([0], backend="fake")
    pair = dist.new_group([0, 1], backend="fake")
    with counted_calls() as counted:
        dist.all_reduce(torch.ones(5), group=alone)
        dist.all_reduce(torch.ones(5), group=pair)
    assert counted == {"all_reduce": (1, 5 * 4)}


def test_only_what_is_called_inside_counts() -> None:
    dist.all_reduce(torch.ones(1))
    with counted_calls() as first:
        dist.all_reduce(torch.ones(2))
    dist.all_reduce(torch.ones(4))
    with counted_calls() as second:
        dist.all_reduce(torch.ones(8))
    assert (first, second) == ({"all_reduce": (1, 8)}, {"all_reduce": (1, 32)})


def test_an_error_inside_ends_the_counting_and_nothing_is_filled() -> None:
    with pytest.raises(RuntimeError, match="of the program"), counted_calls() as counted:  # noqa: PT012
        dist.all_reduce(torch.ones(2))
        raise RuntimeError("of the program")
    assert counted == {}
    with counted_calls() as after:
        dist.all_reduce(torch.ones(2))
    assert after == {"all_reduce": (1, 8)}


def test_calls_of_several_threads_all_count() -> None:
    def issue() -> None:
        for _ in range(50):
            dist.all_reduce(torch.ones(2))

    with counted_calls() as counted:
        threads = [threading.Thread(target=issue) for _ in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    assert counted == {"all_reduce": (200, 200 * 8)}


def test_what_a_call_says_reaches_who_takes_it() -> None:
    found: list[Described] = []
    with described_calls(found.append):
        dist.reduce_scatter_tensor(torch.empty(2), torch.ones(2 * SIZE))
    (one,) = found
    assert (one.collective, one.in_bytes, one.out_bytes, one.dtype) == ("reduce_scatter", 2 * SIZE * 4, 8, "float32")
    assert (one.group.size, one.group.ranks, one.num_tensors) == (SIZE, tuple(range(SIZE)), 1)
