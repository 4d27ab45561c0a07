"""What the lab and its rank processes say to each other.

For: the shapes: one specification down, reports up. Not for: how they travel (framing.py), or processes.
"""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import Field, TypeAdapter

from ringtree.results import Plan, Record, Visit, WarmUp, WrongElement


class ProcessSpec(Record):
    """What every rank process must know, whatever it does. `process_group`: of the launch, led by its guard."""

    process_group: int


class RankSpec(ProcessSpec):
    """All that one rank process needs to know. `session` names the rendezvous and is not guessable."""

    plan: Plan
    rank: int
    launch: int
    keep_operands: bool = Field(description="false: memory does not hold the operands of all cells at the same time")
    session: str
    store: str | None = Field(default=None, description="where ranks of several hosts meet; else in one of this host")
    torch_store: str | None = Field(
        description="path of a file for torch's rendezvous; None: ranks are on several hosts"
    )
    timeout: float


class CellReport(Record):
    """One cell as one rank saw it. `error`: why the arm could not run, on all ranks alike."""

    kind: Literal["cell"] = "cell"
    size_bytes: int
    arm: str
    executed: dict[str, Any] | None
    times: list[float]
    visits: list[Visit]
    warm_up: WarmUp | None
    first_wrong: WrongElement | None
    error: str | None


class ProgressReport(Record):
    """How far the launch is: `done` of `total` visits; from rank 0 only. `text`: what was just finished."""

    kind: Literal["progress"] = "progress"
    done: int
    total: int
    text: str


class DoneReport(Record):
    """The rank did all its cells."""

    kind: Literal["done"] = "done"


class FailureReport(Record):
    """The rank can't go on; `text` is one line."""

    kind: Literal["failure"] = "failure"
    text: str


Report = CellReport | DoneReport | FailureReport | ProgressReport
reports: TypeAdapter[Report] = TypeAdapter(Annotated[Report, Field(discriminator="kind")])
