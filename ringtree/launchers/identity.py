"""What a launcher says about one process, and a helper that remembers which variable said it.

For: the record that every reader of a launcher's variables gives. Not for: which launcher counts (table.py), or where
ranks meet (meeting_point.py).
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from ringtree.errors import UsageError

_MOST_DIGITS = 18  # a 64-bit number holds them; Python refuses thousands
_MOST_SHOWN = 40  # characters of a value that is quoted


@dataclass(frozen=True)
class Identity:
    """One process as its launcher sees it; None: the launcher does not say.

    `hosts`: names, in the launcher's order. `address`: of rank 0's host, `port`: free there, where somebody said so, in
    the words that were said: meeting_point.py reads them.
    `attempt`: tells restarts of one job apart. `serves_store`: the launcher has a store at address and port already.
    `sources`: field -> the variables that said it. `inside`: launchers further out, a line each.
    """

    launcher: str
    rank: int
    world_size: int
    local_rank: int | None = None
    local_size: int | None = None
    host_rank: int | None = None
    num_hosts: int | None = None
    hosts: tuple[str, ...] = ()
    job: str | None = None
    address: str | None = None
    port: str | None = None
    attempt: str = ""
    serves_store: bool = False
    sources: Mapping[str, str] = field(default_factory=dict)
    inside: tuple[str, ...] = ()

    @property
    def several_hosts(self) -> bool:
        """Whether ranks run on more than one host; False where nothing tells."""
        if self.num_hosts is not None:
            return self.num_hosts > 1
        return self.local_size is not None and self.local_size != self.world_size

    @property
    def tells_of_hosts(self) -> bool:
        """Whether the launcher says anything of hosts; if not, all ranks count as on one."""
        return not (self.num_hosts is None and self.local_size is None and self.local_rank is None)

    @property
    def is_first_on_host(self) -> bool:
        """Whether no rank of its host comes before it; True where nothing tells."""
        if self.local_rank is None and self.local_size:
            return self.rank % self.local_size == 0  # ranks of a host follow each other
        return not self.local_rank

    @property
    def may_be_with_rank_0(self) -> bool:
        """Whether rank 0 may run on this host, for all that the launcher says."""
        if not self.several_hosts:
            return True
        if self.host_rank is not None:
            return self.host_rank == 0
        if self.local_rank is not None:
            return self.local_rank == self.rank
        return self.rank < (self.local_size or self.world_size)

    @property
    def words(self) -> str:
        """Rank and world size, with the variables that said them."""
        return f"{self.launcher} says rank {self.rank} of {self.world_size} ({self.sources.get('rank', '')})"


@dataclass(frozen=True)
class Surroundings:
    """What a launcher can have left for a process: variables, and the command lines of the processes above it."""

    environment: Mapping[str, str]
    command_lines: Callable[[], Iterable[list[str]]] = tuple

    @classmethod
    def here(cls) -> Surroundings:
        """Those of this process."""
        return cls(os.environ, command_lines_above)


class Finding:
    """Collects fields of an Identity and the variables that they come from."""

    def __init__(self, launcher: str, environment: Mapping[str, str]) -> None:
        self._environment, self._launcher = environment, launcher
        self._fields: dict[str, Any] = {}
        self._sources: dict[str, str] = {}

    def has(self, *variables: str) -> bool:
        """Whether all of them are set and not empty."""
        return all(self._environment.get(name) for name in variables)

    def take(self, what: str, value: Any, source: str) -> None:
        """Sets a field, unless there is nothing to set."""
        if value is not None:
            self._fields[what], self._sources[what] = value, source

    def text(self, what: str, *variables: str) -> str | None:
        """Sets a field to the first of the variables that is set; returns it."""
        for name in variables:
            if value := self._environment.get(name):
                self.take(what, value, name)
                return value
        return None

    def number(self, what: str, *variables: str) -> int | None:
        """As text(), of a number from 0 on. Raises UsageError for what is not one, or has too many digits."""
        text = self.text(what, *variables)
        if text is None:
            return None
        if not is_count(text):
            raise UsageError(f"{self._sources[what]}={shown(text)} is not a number")
        self._fields[what] = int(text)
        return int(text)

    def identity(self) -> Identity:
        """Returns what was found; rank and world size are among it. Raises UsageError if they contradict."""
        found = Identity(launcher=self._launcher, sources=dict(self._sources), **self._fields)
        if not found.rank < found.world_size:
            raise UsageError(
                f"{self._sources['rank']}={found.rank} is not within {self._sources['world_size']}={found.world_size}"
            )
        return found


def is_count(text: str) -> bool:
    """Whether a launcher's text is a number from 0 on that any counter could hold."""
    return text.isascii() and text.isdigit() and len(text) <= _MOST_DIGITS


def shown(text: str) -> str:
    """Returns a value as a message quotes it: of a long one the beginning."""
    return repr(text) if len(text) <= _MOST_SHOWN else f"{text[:_MOST_SHOWN]!r}… ({len(text)} characters)"


def command_lines_above() -> Iterable[list[str]]:
    """Returns the command lines of this process's parent, of its parent, and so on, as far as /proc shows them."""
    pid = os.getppid()
    while pid > 1:
        folder = Path("/proc") / str(pid)
        try:
            words = (folder / "cmdline").read_bytes().split(b"\0")
            status = (folder / "stat").read_text(errors="replace")
        except OSError:
            return
        yield [word.decode(errors="replace") for word in words if word]
        pid = int(status.rpartition(")")[2].split()[1])
