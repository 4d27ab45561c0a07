"""all_gather and gather of the backend in Python. As csrc/movements.cpp."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import torch

from ringtree.torch.python_backend.communicator import Communicator
from ringtree.torch.python_backend.group import Group
from ringtree.torch.python_backend.library import datatype_of
from ringtree.torch.python_backend.tensors import Output, Pack, apart, as_counts, check_alike, only
from ringtree.torch.python_backend.work import Work

if TYPE_CHECKING:
    from torch._C._distributed_c10d import AllgatherOptions, GatherOptions

Tensors = Sequence[torch.Tensor]


class Gathers(Group):
    """Under PyTorch's names."""

    def allgather(self, outputs: Sequence[Tensors], inputs: Tensors, opts: AllgatherOptions) -> Work:
        own = only(inputs, "all_gather")
        self._check_lists(outputs, "all_gather")
        places = outputs[0]
        self._check_own(places, own, "all_gather")
        return self._start(opts.timeout, places, lambda comm: _gather_list(places, own, comm))

    def all_gather_single(self, output: torch.Tensor, input: torch.Tensor, opts: AllgatherOptions) -> Work:
        return self.all_gather_single_coalesced([output], [input], opts)

    def all_gather_single_coalesced(self, outputs: Tensors, inputs: Tensors, opts: AllgatherOptions) -> Work:
        if len(outputs) != len(inputs):
            raise ValueError(
                f"ringtree: all_gather_into_tensor_coalesced: {len(outputs)} outputs for {len(inputs)} inputs"
            )
        for output, own in zip(outputs, inputs, strict=True):
            check_alike([output, own], "all_gather_into_tensor")
            if output.numel() != own.numel() * self._group_size:
                raise ValueError(
                    "ringtree: all_gather_into_tensor: output tensor size must be equal to world_size times input "
                    f"tensor size: {output.numel()} elements for {self._group_size} times {own.numel()}"
                )

        def body(comm: Communicator) -> None:
            for output, own in zip(outputs, inputs, strict=True):
                result = Output(output)
                given = apart(own, result.plain)
                number = datatype_of(own)
                comm.call("rtAllGather", given.data_ptr(), result.plain.data_ptr(), own.numel(), number)
                result.finish()

        return self._start(opts.timeout, outputs, body)

    def allgather_coalesced(self, outputs: Sequence[Tensors], inputs: Tensors, opts: AllgatherOptions) -> Work:
        """`outputs`: for each rank a list like `inputs`."""
        if len(outputs) != self._group_size:
            raise ValueError(
                "ringtree: all_gather_coalesced: output lists should be equal to world size: "
                f"{len(outputs)} for {self._group_size}"
            )
        for of_rank in outputs:
            if len(of_rank) != len(inputs):
                raise ValueError(
                    f"ringtree: all_gather_coalesced: invalid output size: {len(of_rank)} tensors for {len(inputs)} "
                    "inputs"
                )
            for output, own in zip(of_rank, inputs, strict=True):
                check_alike([output, own], "all_gather_coalesced")
        by_input = [[of_rank[i] for of_rank in outputs] for i in range(len(inputs))]
        for places, own in zip(by_input, inputs, strict=True):
            self._check_own(places, own, "all_gather_coalesced")

        def body(comm: Communicator) -> None:
            for places, own in zip(by_input, inputs, strict=True):
                _gather_list(places, own, comm)

        return self._start(opts.timeout, [output for of_rank in outputs for output in of_rank], body)

    def gather(self, outputs: Sequence[Tensors], inputs: Tensors, opts: GatherOptions) -> Work:
        own, root = only(inputs, "gather"), opts.rootRank
        self._check_root(root)
        if root == self._group_rank:
            self._check_lists(outputs, "gather")
            check_even(outputs[0], own, "gather")
        elif outputs:
            raise ValueError("ringtree: gather: requires empty output on non-root")
        places = outputs[0] if outputs else []

        def body(comm: Communicator) -> None:
            given = own.contiguous()
            pack = Pack(places, needed=False) if places else None
            written = pack.flat.data_ptr() if pack else None
            comm.call("rtGather", given.data_ptr(), written, own.numel(), datatype_of(own), root)
            if pack:
                pack.finish()

        return self._start(opts.timeout, places, body)

    def _check_own(self, places: Tensors, own: torch.Tensor, what: str) -> None:
        place = places[self._group_rank]
        if place.numel() != own.numel():
            raise ValueError(
                f"ringtree: {what}: this rank's tensor has {own.numel()} elements, its place in the list "
                f"{place.numel()}"
            )
        if place.dtype != own.dtype:
            raise ValueError(f"ringtree: {what}: invalid tensor type: {own.dtype} for a list of {place.dtype}")


def check_even(tensors: Tensors, own: torch.Tensor, what: str) -> None:
    """ValueError unless every one is like this rank's own."""
    if any(tensor.numel() != own.numel() or tensor.dtype != own.dtype for tensor in tensors):
        raise ValueError(
            f"ringtree: {what}: every tensor of the list must be like this rank's own, of {own.numel()} {own.dtype}"
        )


def _gather_list(places: Tensors, own: torch.Tensor, comm: Communicator) -> None:
    pack = Pack(places, needed=False)
    given, written, number = own.contiguous(), pack.flat.data_ptr(), datatype_of(own)
    if pack.even:
        comm.call("rtAllGather", given.data_ptr(), written, pack.counts[0], number)
    else:
        comm.call("rtAllGatherV", given.data_ptr(), written, as_counts(pack.counts), number)
    pack.finish()
