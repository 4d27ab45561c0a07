"""A constant of a cluster: a value with its unit, its source and the day on which the source was read.

For: every number of a description, so that a simulated time can be traced to what it rests on. Not for: the cluster's
shape (description.py), looking rates up in the hardware catalogue (presets.py).

In TOML a constant is a table `{ value = 450, unit = "GB/s", source = "…", date = 2026-11-22 }`, or a text, "450 GB/s",
which has no source and counts as assumed.
"""

from __future__ import annotations

import datetime
import re
from typing import Annotated, Any, ClassVar

from pydantic import Field, field_validator, model_validator

from ringtree.results import Record

ASSUMED = "assumed"
RATE_UNITS = {"B/s": 1.0, "MB/s": 1e6, "GB/s": 1e9, "Gb/s": 1e9 / 8}
TIME_UNITS = {"s": 1.0, "ms": 1e-3, "us": 1e-6, "ns": 1e-9}
SHARE_UNITS = {"1": 1.0, "%": 0.01}
SIZE_UNITS = {"B": 1.0, "KiB": 1024.0, "MiB": 1024.0**2}
_TEXT = re.compile(r"\s*([0-9.]+(?:[eE][+-]?[0-9]+)?)\s*(\S+)?\s*")


class Constant(Record):
    """A number and where it is from. `source`: "assumed" where nothing states it. `date`: of the source, or on which it
    was read or measured, as far as that is known: "2026-11-22", "2026"."""

    units: ClassVar[dict[str, float]] = {}

    value: float = Field(ge=0, allow_inf_nan=False)
    unit: str
    source: str = ASSUMED
    date: Annotated[str, Field(pattern=r"\d{4}(-\d\d){0,2}")] | None = None

    @model_validator(mode="before")
    @classmethod
    def _from_text(cls, given: Any) -> Any:
        if isinstance(given, bool) or not isinstance(given, (str, int, float)):
            return given
        found = _TEXT.fullmatch(str(given))
        if found is None:
            raise ValueError(f'write a number with its unit, as "10 {next(iter(cls.units))}", not {given!r}')
        return {"value": found[1], "unit": found[2] or ("1" if "1" in cls.units else "")}

    @field_validator("date", mode="before")
    @classmethod
    def _from_toml(cls, given: Any) -> Any:
        return given.isoformat() if isinstance(given, datetime.date) else given

    @model_validator(mode="after")
    def _is_complete(self) -> Constant:
        if self.unit not in self.units:
            raise ValueError(f"the unit is one of {', '.join(self.units)}, not {self.unit!r}")
        if self.source != ASSUMED and self.date is None:
            raise ValueError(
                f"the source {self.source!r} needs a `date`: its own, or the day on which it was read or measured"
            )
        return self

    @property
    def si(self) -> float:
        """The value in bytes/s, seconds, bytes or as a share."""
        return self.value * self.units[self.unit]

    @property
    def assumed(self) -> bool:
        """Whether nothing states it."""
        return self.source == ASSUMED

    def __str__(self) -> str:
        return f"{self.value:g}" if self.unit == "1" else f"{self.value:g} {self.unit}"


class Rate(Constant):
    """Bytes per second, in one direction. Above 0."""

    units: ClassVar[dict[str, float]] = RATE_UNITS
    value: Annotated[float, Field(gt=0, allow_inf_nan=False)]


class Time(Constant):
    """Seconds."""

    units: ClassVar[dict[str, float]] = TIME_UNITS


class Share(Constant):
    """A part of a whole, above 0 and at most 1."""

    units: ClassVar[dict[str, float]] = SHARE_UNITS

    @model_validator(mode="after")
    def _at_most_all(self) -> Share:
        if not 0 < self.si <= 1:
            raise ValueError(f"a share must be above 0 and at most 1, not {self}")
        return self


class Size(Constant):
    """Whole bytes, at least one."""

    units: ClassVar[dict[str, float]] = SIZE_UNITS

    @model_validator(mode="after")
    def _whole(self) -> Size:
        if self.si < 1 or self.si != int(self.si):
            raise ValueError(f"a size is a whole number of bytes, not {self}")
        return self


class Ratio(Constant):
    """One of something for each of another, 1 or more."""

    units: ClassVar[dict[str, float]] = {"1": 1.0}
    value: Annotated[float, Field(ge=1, allow_inf_nan=False)]
