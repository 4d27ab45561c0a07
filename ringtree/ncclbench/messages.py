"""What `ringtree bench` and its rank processes say to each other.

For: the shapes: one specification down, reports up. Not for: how they travel (ringtree.lab.framing).
"""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field, TypeAdapter

from ringtree.lab.messages import DoneReport, FailureReport, ProcessSpec
from ringtree.ncclbench.options import Options
from ringtree.results import Record


class BenchSpec(ProcessSpec):
    """All that one process needs to know; it holds ranks from process × threads on. `session` is not guessable."""

    options: Options
    process: int
    session: str
    torch_store: str


class JoinedReport(Record):
    """The rank has met the others."""

    kind: Literal["joined"] = "joined"
    rank: int
    pid: int


class SideReport(Record):
    """One half of a row as one rank saw it: out of place, then in place, row after row."""

    kind: Literal["side"] = "side"
    rank: int
    seconds: float = Field(gt=0, description="of one call")
    times: list[float] = Field(description="seconds of one call in each iteration; empty: not asked for")
    num_wrong: int | None = Field(description="elements of this rank's result; None: not checked")
    executed: str = Field(description="algorithm and protocol; empty: the arm does not tell")


BenchReport = DoneReport | FailureReport | JoinedReport | SideReport
reports: TypeAdapter[BenchReport] = TypeAdapter(Annotated[BenchReport, Field(discriminator="kind")])
