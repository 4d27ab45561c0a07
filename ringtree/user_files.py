"""Where a user's own files lie: the measured profile, entries of the hardware catalogue.

For: one rule for all of them. Not for: what is in them, nor what is compiled and can be made again (building.py).
"""

from __future__ import annotations

import os
from pathlib import Path


def configured(variable: str, name: str) -> Path:
    """Returns the place that the environment's `variable` names, else `name` in the user's configuration."""
    named = os.environ.get(variable)
    if named:
        return Path(named)
    home = os.environ.get("XDG_CONFIG_HOME", "")
    return (Path(home) if Path(home).is_absolute() else Path.home() / ".config") / "ringtree" / name
