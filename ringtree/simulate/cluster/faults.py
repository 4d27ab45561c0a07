"""A fault: a link of a cluster that has less of its rate left, or none.

For: what `--what-if` adds to a description, and what a TOML file may state as [[faults]]. Not for: reading the words of
a user (what_if.py), what a fault does to routes (paths.py).
"""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from ringtree.results import Record

Index = Annotated[int, Field(ge=0)]


class Fault(Record):
    """`kind`: a rail's port, a rank's NVLink port or the links between two ranks, a rank's PCIe slot. `host`: of one
    host, else of all. `left`: share of the rate; 0: the link is down."""

    kind: Literal["rail", "nvlink", "pcie"]
    number: Index
    other: Index | None = Field(default=None, description="the second rank of a pair of NVLink")
    host: Index | None = None
    left: Annotated[float, Field(ge=0, lt=1)] = 0.0

    def __str__(self) -> str:
        where = "" if self.host is None else f"host {self.host} "
        pair = "" if self.other is None else f"-{self.other}"
        state = "down" if self.left == 0 else f"at {self.left:.3g}" if self.left < 0.01 else f"at {self.left:.0%}"
        return f"{where}{self.kind} {self.number}{pair} {state}"


class Faults:
    """All faults of a cluster, to be asked for a link's remaining share."""

    def __init__(self, faults: list[Fault]) -> None:
        self._faults = faults

    def left(self, kind: str, host: int, number: int, other: int | None = None) -> float:
        """Returns the share of its rate that a link has left; several faults of one link multiply."""
        share = 1.0
        for one in self._faults:
            if one.kind == kind and one.host in (None, host) and _same(one, number, other):
                share *= one.left
        return share


def _same(fault: Fault, number: int, other: int | None) -> bool:
    if other is None:
        return fault.other is None and fault.number == number
    return {fault.number, fault.other} == {number, other}
