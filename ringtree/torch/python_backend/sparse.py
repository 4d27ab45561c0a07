"""all_reduce of sparse tensors in the Python backend: everybody gathers everybody's indices and values and adds them
up, in the order of ranks, so that all get the same bits. As csrc/sparse.cpp."""

from __future__ import annotations

from collections.abc import Sequence
from functools import reduce
from operator import add
from typing import TYPE_CHECKING

import torch

from ringtree.torch.python_backend.communicator import Communicator
from ringtree.torch.python_backend.group import Group
from ringtree.torch.python_backend.library import datatype_of, kind_of
from ringtree.torch.python_backend.tensors import as_counts
from ringtree.torch.python_backend.work import Work

if TYPE_CHECKING:
    from torch._C._distributed_c10d import AllreduceOptions

_DIMS = 8  # sizes that are told, then the dimensions' kinds, then the number of elements
_NONE = -1


class Sparse(Group):
    """Under PyTorch's name."""

    def allreduce_sparse(self, tensors: Sequence[torch.Tensor], opts: AllreduceOptions) -> Work:
        if len(tensors) != 1 or not tensors[0].is_sparse or tensors[0].device.type != "cpu":
            raise ValueError("ringtree: a sparse all_reduce takes one sparse CPU tensor")
        if kind_of(opts.reduceOp) != ("SUM", None):
            raise ValueError("ringtree: a sparse all_reduce only sums")
        tensor = tensors[0]
        return self._start(
            opts.timeout, tensors, lambda comm: _sum_of_all(tensor, self._group_rank, self._group_size, comm)
        )


def _sum_of_all(tensor: torch.Tensor, rank: int, size: int, comm: Communicator) -> None:
    own = tensor.coalesce()
    numbers = _agree(own, rank, size, comm)
    values = own.values()
    width = values[:1].numel() if len(values) else torch.empty(values.shape[1:]).numel()
    index_counts = [number * own.sparse_dim() for number in numbers]
    value_counts = [number * width for number in numbers]
    indices = torch.split(_gather_vectors(own.indices().reshape(-1), index_counts, comm), index_counts)
    parts = torch.split(_gather_vectors(values.reshape(-1), value_counts, comm), value_counts)
    of_ranks = [
        torch.sparse_coo_tensor(
            index.view(own.sparse_dim(), number), part.view(number, *values.shape[1:]), own.shape, dtype=own.dtype
        )
        for number, index, part in zip(numbers, indices, parts, strict=True)
    ]
    tensor.copy_(reduce(add, of_ranks).coalesce())


def _agree(sparse: torch.Tensor, rank: int, size: int, comm: Communicator) -> list[int]:
    """How many elements each rank has. ValueError: what must be alike on all ranks is not."""
    if sparse.dim() > _DIMS:
        raise ValueError(f"ringtree: a sparse all_reduce takes at most {_DIMS} dimensions")
    shape = [*sparse.shape, *[_NONE] * (_DIMS - sparse.dim())]
    mine = torch.tensor([*shape, sparse.sparse_dim(), sparse.dense_dim(), sparse._nnz()])
    told = torch.empty(size, len(mine), dtype=torch.int64)
    comm.call("rtAllGather", mine.data_ptr(), told.data_ptr(), len(mine), datatype_of(mine))
    for other in range(size):
        if not torch.equal(told[other, :-1], told[rank, :-1]):
            raise ValueError(
                f"ringtree: all_reduce: the sparse tensor of rank {other} of the group has other sizes or other sparse "
                "dimensions"
            )
    return [int(number) for number in told[:, -1]]


def _gather_vectors(own: torch.Tensor, counts: Sequence[int], comm: Communicator) -> torch.Tensor:
    """Everybody's elements of a vector, behind one another. `counts`: of each rank."""
    given = own.contiguous()
    gathered = torch.empty(sum(counts), dtype=own.dtype)
    comm.call("rtAllGatherV", given.data_ptr(), gathered.data_ptr(), as_counts(counts), datatype_of(own))
    return gathered
