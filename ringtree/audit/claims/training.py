"""Which collectives a way of training uses, and which of NCCL's algorithms those have.

For: sentences that force an algorithm on a training. Not for: what NCCL does when forced, release by release
(ringtree.hardware.library_support).

Sources: PyTorch, torch.distributed.fsdp and torch.nn.parallel (FULL_SHARD and SHARD_GRAD_OP all_gather parameters and
reduce_scatter gradients; HYBRID_SHARD adds an all_reduce between replicas; DDP and NO_SHARD all_reduce gradients);
DeepSpeed's ZeRO stage 3 is to FULL_SHARD what stage 2 is to SHARD_GRAD_OP.
"""

from __future__ import annotations

import re
from typing import NamedTuple

from ringtree.hardware import library_support

_SHARDED = ("all_gather", "reduce_scatter")


class Training(NamedTuple):
    """A way of training and the collectives that carry its parameters and gradients."""

    name: str
    collectives: tuple[str, ...]


_WAYS = (
    (r"HYBRID_SHARD|HSDP|hybrid[- ]shard", Training("FSDP HYBRID_SHARD", (*_SHARDED, "all_reduce"))),
    (r"FULL_SHARD|full[- ]shard", Training("FSDP FULL_SHARD", _SHARDED)),
    (r"SHARD_GRAD_OP", Training("FSDP SHARD_GRAD_OP", _SHARDED)),
    (r"ZeRO[- ]?(?:stage[- ])?3", Training("ZeRO-3", _SHARDED)),
    (r"ZeRO[- ]?(?:stage[- ])?2", Training("ZeRO-2", _SHARDED)),
    (r"NO_SHARD", Training("FSDP NO_SHARD", ("all_reduce",))),
    (r"\bFSDP2?\b|fully sharded", Training("FSDP", _SHARDED)),
    (r"\bDDP\b|DistributedDataParallel|data[- ]parallel", Training("DDP", ("all_reduce",))),
)


def training_of(text: str) -> Training | None:
    """The way of training that `text` names."""
    return next((way for pattern, way in _WAYS if re.search(pattern, text, re.IGNORECASE)), None)


def has_kernel(collective: str, algorithm: str) -> bool:
    """Whether NCCL (2.24 and later) has a kernel of `algorithm` for `collective`."""
    return library_support(collective, algorithm).outcome == "runs"


def same_collectives(text: str, algorithms: list[str]) -> str:
    """In words, if `algorithms` were forced on a training none of whose collectives has a tree; else empty."""
    way = training_of(text)
    if way is None or len(algorithms) == 0 or "all_reduce" in way.collectives:
        return ""
    lacking = [name for name in algorithms if not any(has_kernel(one, name) for one in way.collectives)]
    if not lacking:
        return ""
    return (
        f"; and {way.name} uses {' and '.join(way.collectives)}, for which NCCL has no {lacking[0]}: what ran was "
        "none, most "
        f"likely the same in both, so the difference is what noise can be"
    )
