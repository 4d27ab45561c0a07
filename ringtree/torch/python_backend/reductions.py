"""all_reduce, reduce and reduce_scatter of the backend in Python. As csrc/reductions.cpp."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import torch

from ringtree.torch.python_backend.communicator import Communicator
from ringtree.torch.python_backend.library import datatype_of, op_of
from ringtree.torch.python_backend.sparse import Sparse
from ringtree.torch.python_backend.tensors import Output, Pack, apart, as_counts, check_alike, only
from ringtree.torch.python_backend.work import Work

if TYPE_CHECKING:
    from torch._C._distributed_c10d import (
        AllreduceCoalescedOptions,
        AllreduceOptions,
        ReduceOptions,
        ReduceScatterOptions,
    )

Tensors = Sequence[torch.Tensor]

# Small tensors travel together up to so many bytes; as in csrc/reductions.cpp, whose ranks make the same calls.
_PACK_BYTES = 256 * 1024


class Reductions(Sparse):
    """Under PyTorch's names."""

    def allreduce(self, tensors: Tensors, opts: AllreduceOptions) -> Work:
        if len(tensors) == 1 and tensors[0].is_sparse:
            return self.allreduce_sparse(tensors, opts)
        tensor, op = only(tensors, "all_reduce"), opts.reduceOp
        return self._start(opts.timeout, tensors, lambda comm: _reduce_all(tensor, op, comm))

    def allreduce_coalesced(self, tensors: Tensors, opts: AllreduceCoalescedOptions) -> Work:
        check_alike(tensors, "all_reduce_coalesced")
        op = opts.reduceOp

        def body(comm: Communicator) -> None:
            if sum(tensor.nbytes for tensor in tensors) <= _PACK_BYTES:
                pack = Pack(tensors, needed=True)
                _reduce_all(pack.flat, op, comm)
                pack.finish()
                return
            for tensor in tensors:
                _reduce_all(tensor, op, comm)

        return self._start(opts.timeout, tensors, body)

    def reduce(self, tensors: Tensors, opts: ReduceOptions) -> Work:
        tensor, op, root = only(tensors, "reduce"), opts.reduceOp, opts.rootRank
        self._check_root(root)

        def body(comm: Communicator) -> None:
            output = Output(tensor, needed=True)
            own = output.plain.data_ptr()
            written = own if root == self._group_rank else None
            with op_of(op, comm.handle) as number:
                comm.call("rtReduce", own, written, tensor.numel(), datatype_of(tensor), number, root)
            if root == self._group_rank:
                output.finish()

        return self._start(opts.timeout, tensors, body)

    def reduce_scatter(self, outputs: Tensors, inputs: Sequence[Tensors], opts: ReduceScatterOptions) -> Work:
        output, op = only(outputs, "reduce_scatter"), opts.reduceOp
        self._check_lists(inputs, "reduce_scatter")
        blocks = inputs[0]
        own = blocks[self._group_rank]
        if own.numel() != output.numel() or own.dtype != output.dtype:
            raise ValueError("ringtree: reduce_scatter: the output is not like this rank's tensor of the input list")

        def body(comm: Communicator) -> None:
            pack = Pack(blocks, needed=True)
            if pack.even:
                _scatter(output, pack.flat, op, comm)
                return
            result = Output(output)
            with op_of(op, comm.handle) as number:
                comm.call(
                    "rtReduceScatterV",
                    pack.flat.data_ptr(),
                    result.plain.data_ptr(),
                    as_counts(pack.counts),
                    datatype_of(output),
                    number,
                )
            result.finish()

        return self._start(opts.timeout, outputs, body)

    def reduce_scatter_single(self, output: torch.Tensor, input: torch.Tensor, opts: ReduceScatterOptions) -> Work:
        return self.reduce_scatter_single_coalesced([output], [input], opts)

    def reduce_scatter_single_coalesced(self, outputs: Tensors, inputs: Tensors, opts: ReduceScatterOptions) -> Work:
        if len(outputs) != len(inputs):
            raise ValueError(
                f"ringtree: reduce_scatter_tensor_coalesced: {len(outputs)} outputs for {len(inputs)} inputs"
            )
        for output, blocks in zip(outputs, inputs, strict=True):
            check_alike([output, blocks], "reduce_scatter_tensor")
            if blocks.numel() != output.numel() * self._group_size:
                raise ValueError(
                    "ringtree: reduce_scatter_tensor: input tensor must be the same size as output size times world "
                    f"size: {blocks.numel()} elements for {self._group_size} times {output.numel()}"
                )
        op = opts.reduceOp

        def body(comm: Communicator) -> None:
            for output, blocks in zip(outputs, inputs, strict=True):
                _scatter(output, blocks, op, comm)

        return self._start(opts.timeout, outputs, body)


def _reduce_all(tensor: torch.Tensor, op: object, comm: Communicator) -> None:
    output = Output(tensor, needed=True)
    place = output.plain.data_ptr()
    with op_of(op, comm.handle) as number:
        comm.call("rtAllReduce", place, place, tensor.numel(), datatype_of(tensor), number)
    output.finish()


def _scatter(output: torch.Tensor, input: torch.Tensor, op: object, comm: Communicator) -> None:
    result = Output(output)
    given = apart(input, result.plain)
    with op_of(op, comm.handle) as number:
        comm.call(
            "rtReduceScatter", given.data_ptr(), result.plain.data_ptr(), output.numel(), datatype_of(output), number
        )
    result.finish()
