"""What tuning a library found: the shape of what `ringtree tune --arms --json` prints.

For: records only. Not for: filling them (tuning.py), or text for people (ringtree.show.library_tuning).
"""

from __future__ import annotations

from pydantic import Field

from ringtree.judge.comparison import Interval, Versus
from ringtree.results import Record
from ringtree.tune.library.rules import SizeRange

FORMAT = "ringtree.library-rules/1"


class TunedSize(Record):
    """One measured size under one placement of the cores."""

    size_bytes: int
    placement: str = Field(description='"near", "far", …; "": only one')
    switch: str = Field(description="that was chosen; empty: the library's own choice")
    kept: bool = Field(description="it was shown to be faster in the validation, so it is in the rules")
    default: Interval | None = Field(description="time of the library's own choice in the validation")
    tuned: Interval | None = Field(description="time with the rules; null where they were not validated")
    gain: Versus | None = Field(description="time with the rules over that of the library's own choice, with interval")


class LibraryRules(Record):
    """The rules of one library for one number of ranks."""

    format: str = FORMAT
    arm: str
    library: str
    version: str = Field(description="of the library, with its name; oneCCL's is that of the MPI below it")
    collective: str
    num_ranks: int
    rules: list[SizeRange] = Field(description="empty: nothing won against the library's own choice")
    environment: dict[str, str] = Field(description="variables with which the library goes by the rules")
    file: str | None = Field(description="where the file or the variables lie; null: nothing won")
    taken: str = Field(description="how it was seen that the library goes by them")
    sizes: list[TunedSize]
    left_out: dict[str, str] = Field(description="switches that could not be measured, and why")
    screening: str = Field(description="run in which the switches were chosen")
    validation: str | None = Field(description="run in which they were held against the library's own choice")
    level: float
    margin: float
