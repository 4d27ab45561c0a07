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


class Wrapped(torch.Tensor):
    """A subclass that keeps its elements as a Tensor does."""


class Asked(torch.Tensor):
    """A subclass that is asked for its elements by DLPack, as they could be anywhere."""

    asked = 0

    def __dlpack__(self, *arguments: Any, **options: Any) -> Any:
        Asked.asked += 1
        return super().__dlpack__(*arguments, **options)


class Elsewhere(torch.Tensor):
    """A subclass that has no memory: its elements are another tensor's."""

    @staticmethod
    def __new__(cls, inner: Any) -> Any:
        return torch.Tensor._make_wrapper_subclass(cls, inner.shape, dtype=inner.dtype)

    def __init__(self, inner: Any) -> None:
        self.inner = inner

    @classmethod
    def __torch_dispatch__(cls, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        raise NotImplementedError(f"{func} of a tensor that is elsewhere")


@pytest.mark.parametrize("kind", [torch.Tensor, torch.nn.Parameter, Wrapped, Asked])
def test_every_kind_of_tensor_is_summed_where_it_lies(kind: Any) -> None:
    def work(comm: Communicator) -> Any:
        own = torch.arange(6, dtype=torch.float32).view(2, 3) + comm.rank
        tensor = torch.nn.Parameter(own, requires_grad=False) if kind is torch.nn.Parameter else own.as_subclass(kind)
        assert type(tensor) is kind
        before = tensor.data_ptr()
        assert comm.all_reduce(tensor[1:]) is not tensor
        assert tensor.data_ptr() == before
        return tensor.tolist()

    assert ringtree.run(work, 2) == [[[rank, 1 + rank, 2 + rank], [7, 9, 11]] for rank in range(2)]


@pytest.mark.parametrize(
    ("make", "said"),
    [
        (lambda: torch.ones(4, device="meta"), "the output is not in CPU memory"),
        (lambda: torch.ones(2, 3).t(), "the output is not contiguous"),
        (lambda: torch.ones(2, 2).to_sparse(), "the output is not contiguous"),
        (lambda: torch.ones(3, dtype=torch.complex64).conj(), "the output is conjugated lazily"),
        (lambda: torch._neg_view(torch.ones(3)), "the output is negated lazily"),
        (
            lambda: torch.empty(3, dtype=torch.bits8),
            r"the output has an unsupported dtype \(torch.bits8",
        ),
    ],
)
def test_what_is_no_plain_tensor_is_refused_in_one_line(make: Any, said: str) -> None:
    with pytest.raises(ringtree.UsageError, match=said) as raised:
        ringtree.run(lambda comm: comm.all_reduce(make()), 1)
    assert "\n" not in str(raised.value)


def test_a_subclass_with_a_way_of_its_own_is_asked() -> None:
    before = Asked.asked
    tensor = torch.ones(3).as_subclass(Asked)
    ringtree.run(
        lambda comm: [comm.all_reduce(kind) for kind in (tensor, torch.ones(3).as_subclass(Wrapped), tensor)], 1
    )
    assert Asked.asked == before + 2


def test_a_subclass_whose_elements_are_elsewhere_is_refused() -> None:
    inner = torch.ones(3)
    with pytest.raises(ringtree.UsageError, match="needs an input on this rank"):
        ringtree.run(lambda comm: comm.all_reduce(Elsewhere(inner)), 1)


def test_a_lazy_copy_leaves_its_original_alone() -> None:
    def work(comm: Communicator) -> Any:
        original = torch.full((3,), 1.0)
        copy = torch._lazy_clone(original)
        comm.all_reduce(copy)
        return original.tolist(), copy.tolist()

    assert ringtree.run(work, 2) == [([1.0] * 3, [2.0] * 3)] * 2


def test_a_tensor_without_memory_of_its_own_says_so() -> None:
    def work(comm: Communicator) -> Any:
        return torch.func.vmap(comm.all_reduce)(torch.ones(2, 3))

    with pytest.raises(ringtree.UsageError, match="the output is not a plain tensor: "):
        ringtree.run(work, 1)


def test_input_and_output_are_looked_at_apart() -> None:
    with pytest.raises(ringtree.UsageError, match="the input is float64 but the output is float32"):
        ringtree.run(lambda comm: comm.all_reduce(torch.ones(3, dtype=torch.float64), out=torch.ones(3)), 1)
    assert ringtree.run(lambda comm: comm.all_reduce(torch.ones(3), out=torch.zeros(3)).tolist(), 2) == [[2.0] * 3] * 2
    assert ringtree.run(lambda comm: comm.all_reduce(torch.ones(0)).tolist(), 2) == [[], []]
