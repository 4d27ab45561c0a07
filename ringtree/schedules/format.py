"""Schedules as JSON, format "ringtree.schedule/1": in and out.

For: storing and exchanging schedules. Not for: the shape (format_records.py), or proving them; what is read is well
formed (the core's checks), not yet verified.
"""

from __future__ import annotations

from ringtree.schedules.schedule import Schedule


def to_json(schedule: Schedule) -> str:
    """The schedule as JSON text."""
    from ringtree.schedules.format_records import record_of  # here: a program that makes calls needs no records

    return record_of(schedule.core).model_dump_json(exclude_defaults=False, exclude_none=True, indent=1)


def from_json(text: str) -> Schedule:
    """The schedule in `text`. Raises UsageError (not this format, with the place of the first fault) or ScheduleError
    (not well formed)."""
    from ringtree.schedules.format_records import core_of, read_record

    return Schedule(core_of(read_record(text)))
