"""What every statement has, whatever its kind: whose machine it is about, cells of tables, three ways to answer.

For: the kinds (kinds/, one a file). Not for: claims and their files (form.py), what is known while judging (about.py).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Literal

from pydantic import AfterValidator, Field, ValidationInfo, WithJsonSchema, field_validator

from ringtree.audit.claims.records import Part, Verdict
from ringtree.audit.factors import COLLECTIVES
from ringtree.audit.training import Training
from ringtree.hardware import is_known_hint, match_gpu
from ringtree.results.record import Record

if TYPE_CHECKING:
    from ringtree.audit.claims.about import About


def _known(collective: str) -> str:
    if collective not in COLLECTIVES:
        raise ValueError(f"no collective {collective!r}; there are {', '.join(COLLECTIVES)}")
    return collective


Collective = Annotated[str, AfterValidator(_known), WithJsonSchema({"type": "string", "enum": list(COLLECTIVES)})]
Whose = Literal["textbook", "nccl"]
Answer = Part | list[Part]
Condition = str | int | float | list[str | int | float]


class UndecidedError(Exception):
    """What is known does not decide it: why, and what would settle it."""

    def __init__(self, reason: str, settles: str) -> None:
        super().__init__(reason)
        self.settles = settles


class Runs(Record):
    """How many took part, as far as the table does not say it row by row."""

    hosts: int | None = Field(default=None, ge=1, description="hosts (nodes) that take part")
    ranks: int | None = Field(default=None, ge=1, description="ranks (GPUs) that take part, of all hosts together")


class Setup(Runs):
    """What is known of the runs that a claim is about."""

    gpu: str | None = Field(default=None, description="as drivers or `ringtree hardware` call it: A100-SXM4-80GB")
    system: str | None = Field(default=None, description="of `ringtree hardware`: p5.48xlarge, DGX A100")
    training: Training | None = Field(default=None, description="the way of training whose collectives were run")
    nccl: str | None = Field(default=None, description="the release of NCCL: 2.21.5")

    @field_validator("gpu", "system")
    @classmethod
    def _is_known(cls, name: str | None, field: ValidationInfo) -> str | None:
        if name is not None and not (match_gpu(name).candidates if field.field_name == "gpu" else is_known_hint(name)):
            raise ValueError(f"the hardware catalogue has no {name!r}; `ringtree hardware` lists it")
        return name

    def with_(self, other: Runs) -> Setup:
        """This, with what `other` says instead."""
        said = {name: value for name, value in other if name in Setup.model_fields and value is not None}
        return self.model_copy(update=said)


class TableCell(Record):
    """A place in a table."""

    table: str = Field(default="", description="file beside the claims (#2: its second table); empty: the claim's own")
    column: str = Field(default="", description="its heading, as in the table")
    row: dict[str, Condition] = Field(
        default_factory=dict,
        description="which rows: heading -> cell, a list of cells, or a range of sizes or numbers "
        '("<= 64 KB", ">= 4", "64 KB .. 1 MB")',
    )


class Statement(Runs):
    """One thing that a sentence says; what it says of the runs replaces what is known of the table."""

    kind: str
    denied: bool = Field(default=False, description="the sentence says that it is not so")
    collective: Collective = "all_reduce"

    def judge(self, about: About) -> Answer:
        """Returns one part or several. Raises UndecidedError, or UsageError for what no rule here knows."""
        raise NotImplementedError

    def holds(self, reason: str, arithmetic: str = "", settles: str = "") -> Part:
        """Arithmetic and meaning are right; `settles`: what would say more than that."""
        return self._part(Verdict.HOLDS, reason, arithmetic, settles)

    def falls(self, reason: str, arithmetic: str = "", settles: str = "") -> Part:
        """Arithmetic or meaning is wrong."""
        return self._part(Verdict.FALLS, reason, arithmetic, settles)

    def open(self, reason: str, settles: str, arithmetic: str = "") -> Part:
        """What is known decides neither."""
        return self._part(Verdict.OPEN, reason, arithmetic, settles)

    def _part(self, verdict: Verdict, reason: str, arithmetic: str, settles: str) -> Part:
        return Part(kind=self.kind, verdict=verdict, reason=reason, arithmetic=arithmetic, settles=settles)
