"""The base of all stored records.

For: what every record of RESULT has in common: immutable, strict, JSON. Not for: any record itself (records.py,
training.py).
"""

from __future__ import annotations

from typing import Any, TypeVar

from pydantic import BaseModel, ConfigDict

RecordT = TypeVar("RecordT", bound="Record")


class Record(BaseModel):
    """Base of all stored records: immutable, strict about unknown fields."""

    # JSON has no NaN: a wrong element may be one, so it is written as the string that reads back as NaN.
    model_config = ConfigDict(extra="forbid", frozen=True, ser_json_inf_nan="strings")

    @classmethod
    def from_fields_of(cls: type[RecordT], source: object, **given: Any) -> RecordT:
        """Returns a record of what is `given`; its other required fields are `source`'s attributes of these names."""
        required = (name for name, field in cls.model_fields.items() if field.is_required() and name not in given)
        return cls(**{name: getattr(source, name) for name in required}, **given)
