"""Several calls as one: transfers in both directions at once, and calls of several communicators at the same time.

with ringtree.group() as group:
    on = group.on(comm)
    on.send(mine, peer)
    on.recv(theirs, peer)

For: exchanges in which every rank both sends and receives (one after the other they would wait for each other), and
calls on several communicators in an order that differs from rank to rank. Not for: speeding up the collectives of one
communicator, which run one after the other here too.
"""

from __future__ import annotations

from contextlib import AbstractContextManager
from typing import Any

from ringtree._core import Group as CoreGroup
from ringtree.comm.collectives import Collectives
from ringtree.comm.communicator import Communicator


class Group(AbstractContextManager["Group"]):
    """Calls that are gathered inside `with` and run when it ends; nothing runs if it ends by an exception. Results are
    in their arrays afterwards. Of each communicator all transfers come first, at once, then its collectives in
    order."""

    def __init__(self) -> None:
        self._core = CoreGroup()
        self._held: list[Any] = []  # communicators and arrays

    def on(self, comm: Communicator) -> GroupMember:
        """Returns what takes calls for `comm`."""
        self._held.append(comm)
        return GroupMember(comm, self._core, self._held)

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        held, self._held = self._held, []
        group, self._core = self._core, CoreGroup()
        if kind is None:
            group.run()
        held.clear()


class GroupMember(Collectives):
    """Takes the calls of one communicator; they return at once, their arrays as they are."""

    def __init__(self, comm: Communicator, group: CoreGroup, held: list[Any]) -> None:
        self.rank, self.world_size = comm.rank, comm.world_size
        self._comm = comm
        self._group = group
        self._held = held

    def send(self, array: Any, peer: int, timeout: float = 0) -> Any:
        """As Communicator.send. Transfers of one communicator share the latest of their timeouts."""
        return self._transfer(True, peer, array, timeout)

    def recv(self, array: Any, peer: int, timeout: float = 0) -> Any:
        """As Communicator.recv."""
        return self._transfer(False, peer, array, timeout)

    def _transfer(self, sends: bool, peer: int, array: Any, timeout: float) -> Any:
        self._group.add_transfer(self._comm.core, sends, peer, array, timeout)
        self._held.append(array)
        return array

    def _call(self, *call: Any) -> None:
        self._comm.core.add_to(self._group, *call)
        self._held.append(call)


def group() -> Group:
    """A group of calls: `with ringtree.group() as group: group.on(comm).send(x, 1)`."""
    return Group()
