"""broadcast, scatter, all_to_all and barrier of the backend in Python. As csrc/movements.cpp."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import torch

from ringtree.torch.python_backend.communicator import Communicator
from ringtree.torch.python_backend.gathers import check_even
from ringtree.torch.python_backend.group import Group
from ringtree.torch.python_backend.library import datatype_of
from ringtree.torch.python_backend.tensors import Output, Pack, apart, as_counts, check_alike, only
from ringtree.torch.python_backend.work import Work

if TYPE_CHECKING:
    from torch._C._distributed_c10d import AllToAllOptions, BarrierOptions, BroadcastOptions, ScatterOptions

Tensors = Sequence[torch.Tensor]


class Movements(Group):
    """Under PyTorch's names."""

    def broadcast(self, tensors: Tensors, opts: BroadcastOptions) -> Work:
        tensor, root = only(tensors, "broadcast"), opts.rootRank
        self._check_root(root)

        def body(comm: Communicator) -> None:
            output = Output(tensor, needed=root == self._group_rank)
            place = output.plain.data_ptr()
            comm.call("rtBroadcast", place, place, tensor.numel(), datatype_of(tensor), root)
            if root != self._group_rank:
                output.finish()

        return self._start(opts.timeout, tensors, body)

    def scatter(self, outputs: Tensors, inputs: Sequence[Tensors], opts: ScatterOptions) -> Work:
        output, root = only(outputs, "scatter"), opts.rootRank
        self._check_root(root)
        if root == self._group_rank:
            self._check_lists(inputs, "scatter")
            check_even(inputs[0], output, "scatter")
        elif inputs:
            raise ValueError("ringtree: scatter: requires empty input on non-root")
        blocks = inputs[0] if inputs else []

        def body(comm: Communicator) -> None:
            result = Output(output)
            pack = Pack(blocks, needed=True) if blocks else None
            given = pack.flat.data_ptr() if pack else None
            comm.call("rtScatter", given, result.plain.data_ptr(), output.numel(), datatype_of(output), root)
            result.finish()

        return self._start(opts.timeout, outputs, body)

    def all_to_all_single(
        self,
        output: torch.Tensor,
        input: torch.Tensor,
        output_splits: Sequence[int],
        input_splits: Sequence[int],
        opts: AllToAllOptions,
    ) -> Work:
        """Makes the uneven call also for even blocks: whether those of all ranks are alike no rank can tell."""
        check_alike([output, input], "all_to_all_single")
        sent = as_counts(_split_counts(input, input_splits, self._group_size, "input"))
        got = as_counts(_split_counts(output, output_splits, self._group_size, "output"))

        def body(comm: Communicator) -> None:
            result = Output(output)
            given = apart(input, result.plain)
            comm.call("rtAlltoAllV", given.data_ptr(), sent, result.plain.data_ptr(), got, datatype_of(input))
            result.finish()

        return self._start(opts.timeout, [output], body)

    def alltoall(self, outputs: Tensors, inputs: Tensors, opts: AllToAllOptions) -> Work:
        check_alike(inputs, "all_to_all")
        check_alike(outputs, "all_to_all")
        if len(inputs) != self._group_size or len(outputs) != self._group_size:
            raise ValueError(
                f"ringtree: all_to_all: lists of {len(inputs)} and {len(outputs)} tensors for {self._group_size} ranks"
            )
        if inputs[0].dtype != outputs[0].dtype:
            raise ValueError(f"ringtree: all_to_all: inputs are {inputs[0].dtype}, outputs {outputs[0].dtype}")

        def body(comm: Communicator) -> None:
            pack, result = Pack(inputs, needed=True), Pack(outputs, needed=False)
            sent, got = as_counts(pack.counts), as_counts(result.counts)
            comm.call("rtAlltoAllV", pack.flat.data_ptr(), sent, result.flat.data_ptr(), got, datatype_of(inputs[0]))
            result.finish()

        return self._start(opts.timeout, outputs, body)

    def barrier(self, opts: BarrierOptions) -> Work:
        return self._start(opts.timeout, [], lambda comm: comm.call("rtBarrier"))


def _split_counts(tensor: torch.Tensor, splits: Sequence[int], size: int, what: str) -> list[int]:
    """Elements that go to, or come from, each rank: rows as they were given, or alike."""
    rows = tensor.shape[0] if tensor.dim() else 1
    if not splits:
        if rows % size:
            raise RuntimeError(
                "ringtree: all_to_all_single: Tensor's dim 0 does not divide equally across group size: "
                f"{rows} rows of the {what} over {size} ranks"
            )
        splits = [rows // size] * size
    if len(splits) != size:
        raise RuntimeError(
            f"ringtree: all_to_all_single: Number of tensor splits not equal to group size: {len(splits)} for the "
            f"{what} of {size} ranks"
        )
    if sum(splits) != rows:
        raise RuntimeError(f"ringtree: all_to_all_single: Split sizes doesn't match total dim 0 size of the {what}")
    if min(splits) < 0:
        raise RuntimeError(f"ringtree: all_to_all_single: a split of {min(splits)} rows")
    row = tensor.numel() // rows if rows else 0
    return [split * row for split in splits]
