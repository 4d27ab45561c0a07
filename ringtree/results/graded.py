"""Verdicts and severities of records: names with an order.

For: enums of which the worst of several counts. Not for: the words themselves, which stand where they are given.
"""

from __future__ import annotations

from enum import Enum


class Graded(str, Enum):
    """Members stand in order, the worst last."""

    @property
    def rank(self) -> int:
        """Returns 0 for the first, 1 for the next."""
        return list(type(self)).index(self)
