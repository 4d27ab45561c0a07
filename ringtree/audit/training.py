"""Tables of a training, which collectives it uses, and for which of them NCCL has a kernel of an algorithm.

For: columns of throughput and of times of a step; statements that force an algorithm on a training. Not for: what NCCL
does when forced, release by release (ringtree.nccl.library_support).

Sources: PyTorch, torch.distributed.fsdp and torch.nn.parallel (FULL_SHARD and SHARD_GRAD_OP all_gather parameters and
reduce_scatter gradients; HYBRID_SHARD adds an all_reduce between replicas; DDP and NO_SHARD all_reduce gradients);
DeepSpeed's ZeRO stage 3 is to FULL_SHARD what stage 2 is to SHARD_GRAD_OP.
"""

from __future__ import annotations

from typing import Literal

from ringtree.audit.material import Material, Subject
from ringtree.logs.tables.measures import STEP_TIME, THROUGHPUT
from ringtree.nccl import library_support

Training = Literal[
    "FSDP", "FSDP FULL_SHARD", "FSDP SHARD_GRAD_OP", "FSDP HYBRID_SHARD", "FSDP NO_SHARD", "ZeRO-2", "ZeRO-3", "DDP"
]
_SHARDED, _WHOLE = ("all_gather", "reduce_scatter"), ("all_reduce",)
_OTHERS: dict[str, tuple[str, ...]] = {
    "FSDP HYBRID_SHARD": (*_SHARDED, *_WHOLE), "FSDP NO_SHARD": _WHOLE, "DDP": _WHOLE,
}  # fmt: skip


def collectives_of(training: Training) -> tuple[str, ...]:
    """The collectives that carry its parameters and gradients."""
    return _OTHERS.get(training, _SHARDED)


def has_kernel(collective: str, algorithm: str) -> bool:
    """Whether NCCL (2.24 and later) has a kernel of `algorithm` for `collective`."""
    return library_support(collective, algorithm).outcome == "runs"


def lacking(training: Training, algorithms: list[str]) -> list[str]:
    """Those of `algorithms` that NCCL has for none of the training's collectives."""
    return [name for name in algorithms if not any(has_kernel(one, name) for one in collectives_of(training))]


def is_of_training(subject: Subject) -> bool:
    """Whether it holds a throughput or the time of a step."""
    return not {THROUGHPUT, STEP_TIME}.isdisjoint(subject.table.columns)


def columns_of(material: Material) -> list[list[Subject]]:
    """Returns the columns of a training's tables: readers give a table for each of their cells."""
    columns: dict[object, list[Subject]] = {}
    for subject in material.subjects:
        if is_of_training(subject):
            table = subject.table
            settings = tuple((name, value) for name, value in table.settings.items() if name != "columns not read")
            columns.setdefault((table.first_line, table.num_hosts is None, settings), []).append(subject)
    return list(columns.values())
