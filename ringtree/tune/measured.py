"""What a tuning stores: launches, rounds, what was dropped.

For: the shapes of the state's lines. Not for: reading or writing them (state.py), or the profile
(ringtree.comm.profile_format).
"""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field, TypeAdapter

from ringtree.comm.profile_format import Configuration
from ringtree.results import Provenance, Record
from ringtree.tune.world import World

STATE_FORMAT = "ringtree.tuning/2"
TUNE, CHECK = "tune", "check"


class TuneRequest(Record):
    """What is asked of a tuning. Everything else follows from it and from what was measured."""

    purpose: Literal["tune", "check"]
    collectives: list[str]
    worlds: list[World]
    sizes: list[int] = Field(description="bytes of a rank's larger buffer, ascending")
    budget: float = Field(gt=0, description="seconds of all launches together, aimed at")
    dtype: str = "float32"
    seed: int
    profile: str = Field(default="", description="of a check: path of the profile that is checked")
    own_cores: bool | None = Field(
        default=None, description="whether ranks on several hosts have a core each; None: they are on this one"
    )


class CellPlan(Record):
    """One collective at one size, and its candidates."""

    collective: str
    size_bytes: int = Field(ge=1)
    candidates: list[Configuration]


class TuneLaunch(Record):
    """One fresh set of ranks, which sweeps over all cells until the time is over.

    A sweep visits each cell in one round, or in several in a row where they are cheap.
    """

    kind: Literal["launch"] = "launch"
    number: int = Field(ge=0)
    stage: str
    world: World
    cells: list[CellPlan]
    seconds: float = Field(description="time aimed at, warming up included")
    min_sweeps: int = Field(ge=0)
    max_sweeps: int = Field(ge=0)
    drop_above: float | None = Field(
        description="a candidate whose warm call takes so many times the best's is dropped"
    )


class Round(Record):
    """Every candidate of one cell visited once, in shuffled order, with all ranks' probes in between."""

    kind: Literal["round"] = "round"
    launch: int
    collective: str
    size_bytes: int
    round: int
    seconds: dict[str, float] = Field(description="label -> one call on the slowest rank, median of the visit")
    handoffs: list[float] = Field(description="core to core, one way, before, between and after the visits")
    wall_seconds: float


class Dropped(Record):
    """A candidate that a launch did not visit any further."""

    kind: Literal["dropped"] = "dropped"
    launch: int
    collective: str
    size_bytes: int
    label: str
    reason: str


class Chosen(Record):
    """What `auto` ran in a cell of a check."""

    kind: Literal["chosen"] = "chosen"
    launch: int
    collective: str
    size_bytes: int
    label: str
    reason: str


class LaunchDone(Record):
    """A launch that is over."""

    kind: Literal["over"] = "over"
    launch: int
    wall_seconds: float


class Header(Record):
    """First line of a state: what was asked, and where it is measured."""

    format: str = STATE_FORMAT
    created_utc: str
    request: TuneRequest
    provenance: Provenance


Line = TuneLaunch | Round | Dropped | Chosen | LaunchDone
Measured = Round | Dropped | Chosen
lines: TypeAdapter[Line] = TypeAdapter(Annotated[Line, Field(discriminator="kind")])
