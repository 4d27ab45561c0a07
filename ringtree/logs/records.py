"""What a log says: tables of timings, other facts, and what could not be read.

For: the shape of what readers give. Not for: reading (the readers of this package), judging (ringtree.audit), the raw
samples of ringtree's own runs (ringtree.results).

Every number is kept as it was printed, with the unit of its column: how far a printed figure may be off is half a
unit of its last place, and the audit needs that. Millions of rows may pass, so rows are small and nothing is parsed
twice.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import Any, NamedTuple

OUT_OF_PLACE, IN_PLACE, NOT_STATED = "out_of_place", "in_place", ""

# Units of columns: what one of it is in seconds or bytes/s.
MICROSECONDS, MILLISECONDS, SECONDS = 1e-6, 1e-3, 1.0
MB_PER_SECOND, GB_PER_SECOND, GBIT_PER_SECOND = 1e6, 1e9, 1e9 / 8

MAX_ROWS = 20_000  # of one table in memory; more go on in the next

_PLACES = tuple(10.0**-places for places in range(20))
_DIGITS = re.compile(r"[-+]?\d*(?:\.(\d*))?(?:[eE]([-+]?\d+))?")


class Printed(NamedTuple):
    """A number as it was printed, and what one of its column's unit is in seconds, bytes/s or bytes (1 for counts)."""

    text: str
    unit: float = 1.0

    @property
    def value(self) -> float:
        """Returns the number in seconds, bytes/s, bytes or a count."""
        return float(self.text) * self.unit

    @property
    def resolution(self) -> float:
        """Returns one unit of the last printed place, in the unit of `value`: "1.50" µs gives 1e-8."""
        text, unit = self
        whole, point, decimals = text.partition(".")
        if whole.isdecimal() and (decimals.isdecimal() or not point) and len(decimals) < len(_PLACES):
            return _PLACES[len(decimals)] * unit  # nearly all of them
        found = _DIGITS.fullmatch(text.strip())
        if found is None:
            return 0.0
        fraction, exponent = found.groups()
        return float(10.0 ** (int(exponent or 0) - len(fraction or ""))) * unit


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


class Row(NamedTuple):
    """One size. `line`: where in the file, from 1; 0: the source has no lines. None: the source does not say."""

    line: int
    size_bytes: int | None
    sides: tuple[Side, ...]
    count: int | None = None  # type: ignore[assignment] # hides tuple.count, which nobody wants of a row
    dtype: str | None = None
    op: str | None = None
    root: int | None = None


@dataclass(frozen=True, slots=True)
class Inference:
    """Something that the source does not say and the reader concluded: what, and from what."""

    what: str
    value: str
    because: str


@dataclass(slots=True)
class Table:
    """Rows that belong together: one run of one benchmark, one collective, one number of ranks.

    A field is None (or empty) where the source does not say and nothing could be inferred; what was inferred stands in
    `inferences` too. `collective` is ringtree's word (all_reduce); `columns` maps a side's field to the heading that it
    was printed under. `continued`: the table goes on in the next one, since it passed MAX_ROWS.
    """

    format: str
    first_line: int
    title: str = ""
    job: str = ""
    collective: str | None = None
    num_ranks: int | None = None
    num_hosts: int | None = None
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

    def infer(self, what: str, value: object, because: str) -> None:
        """Writes down a conclusion; the caller sets the field."""
        self.inferences.append(Inference(what, str(value), because))


@dataclass(slots=True)
class Document:
    """A fact that is no table of timings: a communicator's set-up, a topology, the calls of a trace.

    `kind` names the shape of `data`, which is plain JSON (dicts, lists, strings, numbers).
    """

    format: str
    kind: str
    first_line: int
    data: dict[str, Any]
    title: str = ""
    job: str = ""
    last_line: int = 0
    inferences: list[Inference] = field(default_factory=list)

    def infer(self, what: str, value: object, because: str) -> None:
        """Writes down a conclusion."""
        self.inferences.append(Inference(what, str(value), because))


@dataclass(slots=True)
class Skipped:
    """Lines that no reader took, by reason: how many, and the first ones (number, beginning of the text)."""

    reason: str
    num_lines: int = 0
    examples: list[tuple[int, str]] = field(default_factory=list)


Item = Table | Document
