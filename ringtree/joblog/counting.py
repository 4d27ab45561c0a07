"""Counts the collectives of a piece of a program, in its own process: calls and bytes by kind.

For: what a step of a training of ours sends (ringtree.train), also where nothing can be compiled. Not for: times, or
other people's jobs (tracer.py, whose place in PyTorch's dispatcher this takes: the two can't be active at once).
"""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from ringtree.joblog.operators import Described, Operator, read_operators
from ringtree.joblog.sizes import size_of_call


@contextmanager
def counted_calls() -> Iterator[dict[str, tuple[int, int]]]:
    """Yields by collective its calls and their bytes, as nccl-tests counts a size (all blocks together); filled when
    the context is left. Groups of one rank send nothing and are not counted."""
    calls: Counter[str] = Counter()
    total: Counter[str] = Counter()
    lock = threading.Lock()  # of the counters: DDP issues its calls from autograd's threads

    def take(found: Described) -> None:
        if found.group.size > 1:
            with lock:
                calls[found.collective] += 1
                total[found.collective] += size_of_call(
                    found.collective, found.in_bytes, found.out_bytes, found.group.size
                )

    counted: dict[str, tuple[int, int]] = {}
    with described_calls(take):
        yield counted
    counted.update({name: (calls[name], total[name]) for name in sorted(calls)})


@contextmanager
def described_calls(take: Callable[[Described], None]) -> Iterator[None]:
    """Gives `take` what Python reads of each call as it begins, in the thread that issues it."""
    import torch

    library: Any = torch.library.Library("c10d", "IMPL")  # type: ignore[no-untyped-call]
    try:
        for operator in read_operators():
            library.impl(operator.name, _kernel(operator, take), "BackendSelect", with_keyset=True)
        yield
    finally:
        library._destroy()


def _kernel(operator: Operator, take: Callable[[Described], None]) -> Callable[..., Any]:
    from torch._C import DispatchKey

    below, redispatch = DispatchKey.BackendSelect, operator.overload.redispatch

    def kernel(keyset: Any, *arguments: Any, **named: Any) -> Any:
        take(operator.describe(arguments, named))
        return redispatch(keyset.remove(below), *arguments, **named)

    return kernel
