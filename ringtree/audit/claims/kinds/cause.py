"""What made the difference: "by tuning alone", "thanks to the tree".

A cause is shown by changing it and nothing else; two numbers don't show it.
"""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from ringtree.audit.claims.about import About
from ringtree.audit.claims.statement import Answer, Statement

_WHY = "was not isolated as the cause: more may differ between the two numbers"


class Cause(Statement):
    """A cause that is named for what was measured."""

    kind: Literal["cause"]
    cause: str = Field(min_length=1, description="in the words of the sentence")

    def judge(self, about: About) -> Answer:
        settles = "the same program with only that changed, several fresh starts of each"
        return self.open(f'"{self.cause}" {_WHY}', settles)
