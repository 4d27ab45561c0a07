"""What is tried and what came of it: cells of the matrix, trials, survivors.

For: values that everything here passes on. Not for: doing it (deaths.py, silences.py, streams.py, mismatches.py), or
judging it (bars.py).
"""

from __future__ import annotations

from dataclasses import dataclass, field


@dataclass(frozen=True)
class World:
    """Where the ranks are. hosts 0: one host, over shared memory."""

    hosts: int
    each: int

    @property
    def ranks(self) -> int:
        return max(self.hosts, 1) * self.each

    @property
    def over(self) -> str:
        return "TCP" if self.hosts else "shared memory"

    def __str__(self) -> str:
        return f"{self.hosts}×{self.each} hosts" if self.hosts else f"{self.each} ranks"


@dataclass(frozen=True)
class Cell:
    """A fault, where, in what. engine: "ringtree" or whom it is compared with."""

    fault: str
    world: World
    collective: str
    engine: str = "ringtree"


@dataclass(frozen=True)
class Survivor:
    """What a rank that went on was told. seconds: from the fault to the error, None: it was told nothing. warned_s:
    until stderr named the suspect. named: the error names the rank that the fault befell."""

    rank: int
    error: str
    text: str = ""
    seconds: float | None = None
    warned_s: float | None = None
    named: bool = False


@dataclass(frozen=True)
class Trial:
    """One repeat of a cell. deadline_s: of the call, where it decides when to give up. left: what the fault has left
    behind."""

    cell: Cell
    survivors: list[Survivor]
    deadline_s: float | None = None
    left: list[str] = field(default_factory=list)
