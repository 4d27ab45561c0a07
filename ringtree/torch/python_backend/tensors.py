"""Tensors as the library wants them, bytes side by side: what lies otherwise is copied, and results are copied back.
As csrc/staging.h, without what saves copies only.

Elements that are to be read conjugated or negated do not come here: PyTorch's dispatcher resolves them before.
"""

from __future__ import annotations

import ctypes
from collections.abc import Sequence

import torch


def check_dense(tensor: torch.Tensor, what: str) -> None:
    """ValueError unless it is a dense CPU tensor. `what` says which one, for the text."""
    if tensor.device.type != "cpu":
        raise ValueError(
            f"ringtree: {what} lies on {tensor.device}; this backend is for the CPU "
            '("cpu:ringtree,cuda:nccl" has one for each)'
        )
    if tensor.layout != torch.strided:
        raise ValueError(f"ringtree: {what} is {tensor.layout}: only all_reduce takes sparse tensors")


def check_alike(tensors: Sequence[torch.Tensor], what: str) -> None:
    """The same for each, and that all have one element type. ValueError for an empty list, too."""
    if not tensors:
        raise ValueError(f"ringtree: {what}: requires non-empty tensor list")
    for tensor in tensors:
        check_dense(tensor, what)
        if tensor.dtype != tensors[0].dtype:
            raise ValueError(f"ringtree: {what} has both {tensors[0].dtype} and {tensor.dtype}")


def only(tensors: Sequence[torch.Tensor], what: str) -> torch.Tensor:
    """The one tensor of a list: PyTorch's interface has lists where there were several devices once."""
    if len(tensors) != 1:
        raise ValueError(f"ringtree: {what} takes a list of one tensor, not of {len(tensors)}")
    check_dense(tensors[0], what)
    return tensors[0]


class Output:
    """A tensor that is written, and read before if `needed`. Its elements are in `plain`; finish() brings them to where
    the user wants them."""

    def __init__(self, user: torch.Tensor, needed: bool = False) -> None:
        self._user = user
        if user.is_contiguous():
            self.plain = user
        elif needed:
            self.plain = user.contiguous()
        else:
            self.plain = torch.empty(user.shape, dtype=user.dtype)

    def finish(self) -> None:
        """Afterwards the user's tensor has what `plain` has."""
        if self.plain is not self._user:
            self._user.copy_(self.plain)


def apart(tensor: torch.Tensor, written: torch.Tensor) -> torch.Tensor:
    """What is read, side by side: the tensor, or a copy where it shares memory with `written`, also where the library
    could work in place."""
    plain = tensor.contiguous()
    begin, end = plain.data_ptr(), plain.data_ptr() + plain.nbytes
    shared = begin < end and begin < written.data_ptr() + written.nbytes and written.data_ptr() < end
    return plain.clone() if shared else plain


class Pack:
    """Copies of tensors, one after another in one piece of memory, `flat`; finish() writes them back. `needed`: whether
    what they hold is to be there."""

    def __init__(self, tensors: Sequence[torch.Tensor], needed: bool) -> None:
        self._tensors = tensors
        self.counts = [tensor.numel() for tensor in tensors]
        self.flat = torch.empty(sum(self.counts), dtype=tensors[0].dtype)
        if needed:
            for part, tensor in self._parts():
                part.copy_(tensor)

    @property
    def even(self) -> bool:
        """Whether all have the same number of elements."""
        return len(set(self.counts)) == 1

    def finish(self) -> None:
        """Writes back to the tensors."""
        for part, tensor in self._parts():
            tensor.copy_(part)

    def _parts(self) -> list[tuple[torch.Tensor, torch.Tensor]]:
        parts = torch.split(self.flat, self.counts)
        return [(part.view(tensor.shape), tensor) for part, tensor in zip(parts, self._tensors, strict=True)]


def as_counts(numbers: Sequence[int]) -> ctypes.Array[ctypes.c_size_t]:
    """Numbers of elements as the library takes them."""
    return (ctypes.c_size_t * len(numbers))(*numbers)
