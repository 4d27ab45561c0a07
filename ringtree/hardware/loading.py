"""Reads the catalogue: the TOML files of this package, then the user's own.

For: files in, checked `Catalogue` out; errors name file, entry and key. Not for: what an entry holds (records.py).

Own entries: every *.toml of the folder that RINGTREE_HARDWARE names, else of ~/.config/ringtree/hardware, in the format
of the files in ringtree/hardware/catalogue. An own entry replaces one of the same name.
"""

from __future__ import annotations

from pathlib import Path

from ringtree.hardware.records import Catalogue


def load_catalogue(own: Path | None = None) -> Catalogue:
    """The package's entries and those of the folder `own` (None: as RINGTREE_HARDWARE says). UsageError names
    file and key."""
    raise NotImplementedError
