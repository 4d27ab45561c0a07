"""What a log says: tables of timings, other facts, and what could not be read.

For: the shape of what readers give. Not for: reading (the readers of this package), judging (ringtree.audit), the raw
samples of ringtree's own runs (ringtree.results).

Every number is kept as it was printed, with the unit of its column: how far a printed figure may be off is half a
unit of its last place, and the audit needs that. Millions of rows may pass, so rows are small and nothing is parsed
twice.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import Enum, auto
from typing import Any, NamedTuple

from pydantic import BaseModel, ConfigDict

from ringtree.results.observation import IN_PLACE, NOT_STATED, OUT_OF_PLACE, Printed, SizeMeans

# What stored runs have, too; readers take all that they make from here.
__all__ = ["IN_PLACE", "NOT_STATED", "OUT_OF_PLACE", "Printed", "SizeMeans"]

# Units of columns: what one of it is in seconds or bytes/s.
MICROSECONDS, MILLISECONDS, SECONDS = 1e-6, 1e-3, 1.0
MB_PER_SECOND, GB_PER_SECOND, GBIT_PER_SECOND = 1e6, 1e9, 1e9 / 8

MAX_ROWS = 20_000  # of one table in memory; more go on in the next


class Side(NamedTuple):
    """One measurement of a row: out of place, in place, or (`place` empty) the source does not say which.

    `wrong`: wrong elements, or what old versions called "error" (Table.columns says which); None: not checked or not
    printed. `others`: further columns by their name ("min", "max", "i_p99", "tput"). `samples`: seconds of single
    iterations, the slowest rank's, if the source has them.
    """

    place: str
    time: Printed | None = None
    algbw: Printed | None = None
    busbw: Printed | None = None
    wrong: Printed | None = None
    others: tuple[tuple[str, Printed], ...] = ()
    samples: tuple[float, ...] = ()


class Fact(Enum):
    """What holds of every table of a format. Its reader states it, so that nobody else needs to know the format."""

    EXACT_SIZES = auto()  # sizes are bytes; other formats may have rounded them
    RETYPED = auto()  # somebody's table of what a program printed: padded, rounded again or converted, perhaps
    COUNT_OF_SIZE = auto()  # a count is that of elements in the buffer whose size stands beside it
    HOST_MEMORY = auto()  # messages lie in host memory, unless settings["buffers"] says otherwise
    ONE_RUN = auto()  # one run of a program writes it; in others, several configurations may stand side by side


class Format(str):
    """The name of a format, with the facts of all its tables."""

    facts: frozenset[Fact]

    def __new__(cls, name: str, *facts: Fact) -> Format:
        """Makes it of its name."""
        made = super().__new__(cls, name)
        made.facts = frozenset(facts)
        return made


class Row(NamedTuple):
    """One size. `line`: where in the file, from 1; 0: the source has no lines. None: the source does not say."""

    line: int
    size_bytes: int | None
    sides: tuple[Side, ...]
    count: int | None = None  # type: ignore[assignment] # hides tuple.count, which nobody wants of a row
    dtype: str | None = None
    op: str | None = None
    root: int | None = None


class Basis(str, Enum):
    """What a conclusion rests on: it can't confirm that again."""

    WORDS = "words"  # names, commands, headings
    COUNTS = "counts"  # sizes over counts of elements
    BANDWIDTHS = "bandwidths"  # busbw over algbw


@dataclass(frozen=True, slots=True)
class Inference:
    """Something that the source does not say and the reader concluded: what, and from what (`because`: for people)."""

    what: str
    value: str
    because: str
    basis: Basis = Basis.WORDS


@dataclass(slots=True)
class Table:
    """Rows that belong together: one run of one benchmark, one collective, one number of ranks.

    A field is None (or empty) where the source does not say and nothing could be inferred; what was inferred stands in
    `inferences` too. `collective` is ringtree's word (all_reduce); `columns` maps a side's field to the heading that it
    was printed under. `continued`: the table goes on in the next one, since it passed MAX_ROWS.
    """

    format: Format
    first_line: int
    title: str = ""
    job: str = ""
    collective: str | None = None
    num_ranks: int | None = None
    num_hosts: int | None = None
    size_means: SizeMeans = SizeMeans.TOTAL
    tool: str | None = None
    tool_version: str | None = None
    library: str | None = None
    library_version: str | None = None
    devices: list[str] = field(default_factory=list)
    hosts: list[str] = field(default_factory=list)
    algorithm: str | None = None
    protocol: str | None = None
    environment: dict[str, str] = field(default_factory=dict)
    settings: dict[str, str] = field(default_factory=dict)
    columns: dict[str, str] = field(default_factory=dict)
    rows: list[Row] = field(default_factory=list)
    num_out_of_bounds: int | None = None
    out_of_bounds_okay: bool | None = None
    average_busbw: Printed | None = None
    complete: bool | None = None
    continued: bool = False
    last_line: int = 0
    inferences: list[Inference] = field(default_factory=list)

    def infer(self, what: str, value: object, because: str, basis: Basis = Basis.WORDS) -> None:
        """Writes down a conclusion; the caller sets the field."""
        self.inferences.append(Inference(what, str(value), because, basis))

    def conclude(self, what: str, value: object, because: str, basis: Basis = Basis.WORDS) -> None:
        """Sets a field to what was concluded, and writes down why. Does nothing if that is None."""
        if value is not None:
            setattr(self, what, value)
            self.infer(what, value, because, basis)


class Shape(BaseModel):
    """Base of the facts that documents hold: immutable, plain JSON, no field that is not described."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    def plain(self) -> dict[str, Any]:
        """Returns what Document.data holds."""
        return self.model_dump(mode="json")


@dataclass(slots=True)
class Document:
    """A fact that is not a table of timings: a communicator's set-up, a topology, the calls of a trace.

    `kind` names the shape of `data`, which is plain JSON (dicts, lists, strings, numbers).
    """

    format: Format
    kind: str
    first_line: int
    data: dict[str, Any]
    title: str = ""
    job: str = ""
    last_line: int = 0
    inferences: list[Inference] = field(default_factory=list)


class Example(NamedTuple):
    line: int
    text: str


class RowReason(str):
    """Why something was left out that is a row of timings, or seems to be one. Other reasons are of other text."""


@dataclass(slots=True)
class Skipped:
    """Lines that no reader took, by reason: how many, and the first ones (number, beginning of the text)."""

    reason: str
    num_lines: int = 0
    examples: list[Example] = field(default_factory=list)


Item = Table | Document
