"""What an arm is: one configuration that can run a collective in a rank process.

For: the protocol that every arm implements and what it is given. Not for: what a kind of arm can do (kind.py), choosing
arms by name (registry.py), or timing them (ringtree.measure).

An arm is bound to buffers, in place or not; what comes of it is called and timed. It makes them itself if it is asked
to, so that a backend may choose their memory (a device, memory shared with peers); the lab writes and reads them as
NumPy arrays, always outside of the timed region.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from ringtree.results import Boundary

Array = NDArray[np.generic]


@dataclass(frozen=True)
class Setting:
    """What an arm is given on each rank.

    `communicator` makes or returns the engine's communicator with these `channels` and `shared_buffers`, as
    ringtree.init names them; arms that don't use the engine never call it. `rendezvous` is an id for a store of the
    arm's own: not guessable, the same on all ranks, another one for each arm.
    `torch_store` is the path of one file for all ranks of the launch, for torch's file rendezvous; None if several
    agents started them: rank 0 then serves a TCP store on its host, which all reach as `torch_host`, and `share(port)`
    gives rank 0's number to all. `agreed` tells every rank whether something was true on all.
    `boundary`: how every arm of this comparison is called, with NumPy arrays or through PyTorch with tensors. Arrays of
    a dtype that NumPy lacks hold its bits, and become tensors of it. `factor`: this rank's, of premul_sum.
    `op`: counts where something is reduced. `all_arguments`: calls pass what is not said as well, so that all arms of
    the engine pay alike for arguments, each of which takes its share of a microsecond.
    """

    rank: int
    num_ranks: int
    collective: str
    op: str
    dtype: str
    communicator: Callable[..., Any]
    torch_store: str | None
    rendezvous: str
    boundary: Boundary
    timeout: float
    torch_host: str | None = None
    local_rank: int | None = None  # which of its host's ranks it is; None: all are here
    factor: float = 1.0
    all_arguments: bool = False
    share: Callable[[int], int] = int  # for one rank or one file nothing needs to be shared
    agreed: Callable[[bool], bool] = bool


class Arm(Protocol):
    """One configuration under comparison, on one rank. Not for several threads."""

    name: str

    def setup(self, setting: Setting) -> None:
        """Connects to the peers; every rank calls it, in the same order of arms."""

    def make_buffers(self, count: int, num_buffers: int) -> list[Array]:
        """Returns `num_buffers` arrays of `count` zeros; the memory is given back with the last reference to them."""

    def bind(self, source: Array, result: Array, root: int = 0) -> Callable[[], object]:
        """Returns the collective from `source` to `result` as a function without arguments, which returns when this
        rank's result is there; timed. An arm on a GPU (on_gpu.py) has it return before, and has a clock that waits.

        Arrays of the setting's dtype, shape (elements,), with as many elements as the collective says. In place: the
        same array, or, where one side holds a block a rank, the own block of the other's. `root` counts for
        collectives that have one; only the root's source is read by broadcast and scatter, only its result written by
        reduce and gather.
        """

    def executed(self, call: Callable[[], object]) -> dict[str, Any]:
        """Returns what `call`, of `bind` and the last one made, really executed, with {"algorithm": name} if the
        backend tells."""

    def teardown(self) -> None:
        """Gives back connections."""
