"""The error of a machine that is too noisy for what was asked.

For: an exit code of its own. Not for: finding it out (preflight.py), which would load the lab where only errors are
told apart.
"""

from __future__ import annotations

from ringtree.errors import RingtreeError


class TooNoisy(RingtreeError):
    """The machine can't answer what was asked; the message says what it could."""
