"""What an arm is: one configuration that can run a collective in a rank process.

For: the protocol that every backend implements and what it is given. Not for: choosing or naming arms (registry.py), or
for timing them (ringtree.lab).

An arm works in place on operands that it made itself, so that a backend may choose their memory (a device, memory
shared with peers); the lab writes and reads them through NumPy views, always outside of the timed region. Or it is
bound to buffers of the caller's, in place or not, as `ringtree bench` needs it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.generic]


@dataclass(frozen=True)
class Setting:
    """What an arm is given on each rank.

    `communicator` makes or returns the engine's communicator with these `channels` and `shared_buffers`, as
    ringtree.init names them; arms that don't use the engine never call it. `rendezvous` is an id for a store of the
    arm's own: not guessable, the same on all ranks, another one for each arm.
    `torch_store` is the path of one file for all ranks of the launch, for torch's file rendezvous; None if they run on
    several hosts: rank 0 then serves a TCP store, and `share(port)` gives rank 0's number to all.
    `use_torch`: some arm of this comparison is called through PyTorch, so all are: they cross the same boundary. Arrays
    of a dtype that NumPy lacks hold its bits, and become tensors of it. `factor`: this rank's, of premul_sum.
    """

    rank: int
    num_ranks: int
    collective: str
    op: str
    dtype: str
    communicator: Callable[..., Any]
    torch_store: str | None
    rendezvous: str
    use_torch: bool
    timeout: float
    factor: float = 1.0
    share: Callable[[int], int] = int  # for one rank or one file nothing needs to be shared


@dataclass(frozen=True)
class Operands:
    """Buffers of one cell: what a backend's calls take, and the same memory as arrays of shape (count,).

    The memory is given back when the last reference goes.
    """

    calls: Sequence[Any]
    arrays: list[Array]

    def __post_init__(self) -> None:
        if len(self.calls) != len(self.arrays):
            raise ValueError(f"{len(self.calls)} operands have {len(self.arrays)} arrays")


class Arm(Protocol):
    """One configuration under comparison, on one rank. Not for several threads."""

    name: str

    def setup(self, setting: Setting) -> None:
        """Connects to the peers; every rank calls it, in the same order of arms."""

    def make_operands(self, count: int, num_buffers: int) -> Operands:
        """Makes `num_buffers` operands of `count` elements; several sets may exist at the same time."""

    def call(self, operands: Operands, index: int) -> None:
        """Runs the collective in place on buffer `index`; returns when this rank's result is there. Timed."""

    def bind(self, source: Array, result: Array, root: int = 0) -> Callable[[], object]:
        """Returns the collective from `source` to `result` as a function without arguments; timed.

        Arrays of the setting's dtype, shape (elements,), with as many elements as the collective says. In place: the
        same array, or, where one side holds a block a rank, the own block of the other's. `root` counts for
        collectives that have one; only the root's source is read by broadcast and scatter, only its result written by
        reduce and gather.
        """

    def executed(self) -> dict[str, Any]:
        """Returns what the last call really executed, with {"algorithm": name} if the backend tells."""

    def teardown(self) -> None:
        """Gives back connections."""
