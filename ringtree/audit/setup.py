"""What the user says about the machine that a log comes from.

For: options of `ringtree audit` on their way to the checks. Not for: what logs say themselves, rates of hardware.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Setup:
    """A field is None where the user does not say: then what the log says counts."""

    gpu: str | None = None
    system: str | None = None
    num_hosts: int | None = None
    num_ranks: int | None = None
