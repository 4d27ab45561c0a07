"""CPU tensors, without a copy and for every dtype that PyTorch has there."""

from __future__ import annotations

from typing import Any

import pytest

import ringtree
from ringtree import Communicator, _core

torch = pytest.importorskip("torch")

ALL = [name for name, _ in _core.dtypes()]
EXACT = {"bool": 1.0, "float8_e8m0fnu": None}


@pytest.mark.filterwarnings("ignore:ComplexHalf")
@pytest.mark.parametrize("dtype", ALL)
def test_every_dtype_is_summed_or_refused(dtype: str) -> None:
    def work(comm: Communicator) -> Any:
        tensor = torch.ones(257).to(getattr(torch, dtype))
        comm.all_reduce(tensor)
        return tensor

    total = EXACT.get(dtype, 3.0)
    if total is None:
        with pytest.raises(ringtree.UsageError, match=f"sum is not defined for {dtype}"):
            ringtree.run(work, 3)
        return
    wide = torch.complex64 if dtype.startswith("complex") else torch.float32
    for result in ringtree.run(work, 3):
        assert (result.to(wide) == total).all()


@pytest.mark.filterwarnings("ignore:ComplexHalf")
@pytest.mark.parametrize("dtype", ALL)
def test_every_dtype_is_moved(dtype: str) -> None:
    def work(comm: Communicator) -> Any:
        tensor = torch.full((9,), 1.0 if comm.rank == 1 else 0.5).to(getattr(torch, dtype))
        return comm.broadcast(tensor, root=1)

    one = torch.ones(9).to(getattr(torch, dtype)).view(torch.uint8)
    for result in ringtree.run(work, 2):
        assert (result.view(torch.uint8) == one).all()


def test_parameters_that_need_gradients_can_be_broadcast() -> None:
    def work(comm: Communicator) -> Any:
        return comm.broadcast(torch.full((3,), float(comm.rank), requires_grad=True), root=1).tolist()

    assert ringtree.run(work, 2) == [[1.0, 1.0, 1.0]] * 2


def test_a_view_with_gaps_is_refused() -> None:
    with pytest.raises(ringtree.UsageError, match="not contiguous"):
        ringtree.run(lambda comm: comm.all_reduce(torch.ones(4, 4)[:, 0]), 1)
