"""What all shapes of facts share.

For: the records of this folder. Not for: tables of timings (ringtree.logs.records).
"""

from __future__ import annotations

from typing import Any

from pydantic import BaseModel, ConfigDict


class Shape(BaseModel):
    """Base of the facts that documents hold: immutable, plain JSON, no field that is not described."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    def plain(self) -> dict[str, Any]:
        """Returns what Document.data holds."""
        return self.model_dump(mode="json")
