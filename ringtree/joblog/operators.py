"""The operators `c10d::…` of the PyTorch that is there, and what the arguments of a call say.

For: the table of operators and of their arguments, and collective, bytes, dtype and group of one call as Python reads
them. Not for: catching calls (counting.py; the tracer's are read in C++ by this table, csrc/trace/arguments.h in
ringtree/torch), nor PyTorch's words in other people's traces (ringtree.logs.words has those).

Bytes are counted from tensors: those that the rank gives, those that it gets. Operators of a later PyTorch that are not
in the table are not recorded; test_torch_job_trace.py fails where there are such.
"""

from __future__ import annotations

import functools
from collections.abc import Sequence
from typing import Any, NamedTuple

# Operator -> collective. Its arguments say what it gives and gets by their names.
COLLECTIVES = {
    "allreduce_": "all_reduce",
    "allreduce_coalesced_": "all_reduce",
    "broadcast_": "broadcast",
    "reduce_": "reduce",
    "allgather_": "all_gather",
    "_allgather_base_": "all_gather",
    "allgather_coalesced_": "all_gather",
    "allgather_into_tensor_coalesced_": "all_gather",
    "reduce_scatter_": "reduce_scatter",
    "_reduce_scatter_base_": "reduce_scatter",
    "reduce_scatter_tensor_coalesced_": "reduce_scatter",
    "gather_": "gather",
    "scatter_": "scatter",
    "alltoall_": "all_to_all",
    "alltoall_base_": "all_to_all",
    "barrier": "barrier",
    "monitored_barrier_": "barrier",
    "send": "send",
    "recv_": "recv",
    "recv_any_source_": "recv",
}
NOT_CALLS = frozenset(("check_for_nan",))
_GIVEN = frozenset(("input_tensor", "input_tensors", "inputs", "input_list", "input"))
_GOT = frozenset(("output_tensor", "output_tensors", "outputs", "output_lists", "output"))


_GIVES, _GETS, _BOTH, _PROCESS_GROUP, _OTHER = range(5)  # what an argument is; as in csrc/trace/arguments.h


class Group(NamedTuple):
    """A process group on a kind of device."""

    name: str
    backend: str
    size: int
    ranks: tuple[int, ...]


class Described(NamedTuple):
    """What the arguments of a call say."""

    operator: str
    collective: str
    group: Group
    in_bytes: int
    out_bytes: int
    dtype: str
    device: str
    num_tensors: int


class Operator:
    """One operator, and where its arguments are."""

    def __init__(self, name: str) -> None:
        import torch
        from torch._C._distributed_c10d import ProcessGroup

        # Kept, as an import statement inside of a call takes longer than the rest of it.
        self._process_group = ProcessGroup
        self.name = name
        self.overload: Any = getattr(torch.ops.c10d, name).default
        self.collective = COLLECTIVES[name]
        names = [argument.name for argument in self.overload._schema.arguments]
        self._roles = {name: _role(name, self.collective) for name in names}
        self.roles = list(self._roles.values())  # of its arguments, in their order
        self._groups: dict[tuple[str, str], Group] = {}

    def describe(self, arguments: Sequence[Any], named: dict[str, Any]) -> Described:
        """Reads a call's arguments."""
        by_role: tuple[list[Any], ...] = ([], [], [])
        process_group: Any = None
        roles = self.roles
        if named:
            roles = [*roles[: len(arguments)], *(self._roles[name] for name in named)]
            arguments = (*arguments, *named.values())
        for role, value in zip(roles, arguments, strict=False):
            if role == _OTHER:
                continue
            if role == _PROCESS_GROUP:
                process_group = value
            else:
                _flatten(value, by_role[role])
        given, got, both = by_role
        tensors = given or both or got
        first = tensors[0] if tensors else None
        device = "cpu" if first is None else first.device.type
        is_barrier = self.collective == "barrier"
        of_both = 0 if is_barrier or not both else _bytes(both)
        return Described(
            self.name,
            self.collective,
            self._group(process_group, device),
            _bytes(given) + of_both,
            _bytes(got) + of_both,
            "" if first is None or is_barrier else _dtype_name(first.dtype),
            device,
            len(tensors),
        )

    def _group(self, boxed: Any, device: str) -> Group:
        group = boxed if isinstance(boxed, self._process_group) else self._process_group.unbox(boxed)
        key = (group.group_name, device)
        found = self._groups.get(key)
        if found is None or found.size != group.size():
            found = self._groups[key] = described_group(group, device)
        return found


def read_operators() -> list[Operator]:
    """Returns the operators of the PyTorch that is there."""
    return [Operator(name) for name in _names() if name in COLLECTIVES]


def unknown_operators() -> list[str]:
    """Returns the operators that the table lacks."""
    return [name for name in _names() if name not in COLLECTIVES and name not in NOT_CALLS]


def _names() -> list[str]:
    import torch
    import torch.distributed  # registers them

    every = torch._C._dispatch_get_all_op_names()
    return sorted({name.removeprefix("c10d::") for name in every if name.startswith("c10d::") and "." not in name})


def described_group(group: Any, device: str) -> Group:
    """Returns what a ProcessGroup is for tensors on such a device."""
    import torch
    from torch.distributed import get_process_group_ranks

    try:
        backend = str(group._get_backend(torch.device(device)).name()).lower()
    except RuntimeError:
        backend = "unknown"
    try:
        ranks = tuple(get_process_group_ranks(group))
    except (KeyError, ValueError, RuntimeError):  # a group that torch.distributed's registry does not hold
        ranks = ()
    return Group(group.group_name, backend, group.size(), ranks)


def _role(argument: str, collective: str) -> int:
    """What an argument of this name is."""
    if argument == "process_group":
        return _PROCESS_GROUP
    if argument in ("tensors", "tensor"):
        return {"send": _GIVES, "recv": _GETS}.get(collective, _BOTH)
    return _GIVES if argument in _GIVEN else _GETS if argument in _GOT else _OTHER


@functools.cache
def _dtype_name(dtype: Any) -> str:
    return str(dtype).removeprefix("torch.")


def _flatten(value: Any, into: list[Any]) -> None:
    if isinstance(value, list | tuple):
        for one in value:
            _flatten(one, into)
    elif value is not None:
        into.append(value)


def _bytes(tensors: Sequence[Any]) -> int:
    total = 0
    for tensor in tensors:
        total += tensor.numel() * tensor.element_size()
    return total
