"""send and recv of the backend in Python: messages by tag, done as they come. As csrc/point_to_point.cpp, without
receives from any source: PyTorch does not ask a Work of Python's who the sender was."""

from __future__ import annotations

from collections.abc import Sequence

import torch

from ringtree.torch.python_backend.communicator import seconds_of
from ringtree.torch.python_backend.group import Group
from ringtree.torch.python_backend.library import datatype_of
from ringtree.torch.python_backend.message import Message
from ringtree.torch.python_backend.tensors import Output, only
from ringtree.torch.python_backend.work import Work

Tensors = Sequence[torch.Tensor]


class Messages(Group):
    """Under PyTorch's names."""

    def send(self, tensors: Tensors, peer: int, tag: int) -> Work:
        return self._post([], Output(only(tensors, "send"), needed=True), False, peer, tag)

    def recv(self, tensors: Tensors, peer: int, tag: int) -> Work:
        return self._post(list(tensors), Output(only(tensors, "recv")), True, peer, tag)

    def recv_anysource(self, tensors: Tensors, tag: int) -> Work:
        """Refused before a message is lost to it."""
        raise RuntimeError(
            "ringtree: the backend in Python cannot tell PyTorch which rank sent a message: name the source, or "
            "install a C++ compiler"
        )

    def _post(self, outputs: list[torch.Tensor], memory: Output, is_received: bool, peer: int, tag: int) -> Work:
        self._check_usable()
        datatype_of(memory.plain)  # or it cannot be moved
        work = Work(outputs)
        Message(work, memory, is_received, self._open_messages).post(
            peer, tag, seconds_of(self._timeout), self._messages
        )
        return work
