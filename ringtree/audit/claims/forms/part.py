"""How a form says what it found.

For: one line a part in the forms. Not for: what a part is (records.py).
"""

from __future__ import annotations

from collections.abc import Iterable

from ringtree.audit.claims.expressions import Formula
from ringtree.audit.claims.quantities import Quantity
from ringtree.audit.claims.records import Part, Span, Verdict

Covered = Iterable["Quantity | Formula | Span"]


class Says:
    """The three things that a form may say of what it covers."""

    def __init__(self, form: str) -> None:
        self.form = form

    def holds(self, reason: str, arithmetic: str = "", covers: Covered = (), settles: str = "") -> Part:
        """Arithmetic and meaning are right; `settles`: what would say more than that."""
        return self._part(Verdict.HOLDS, reason, arithmetic, covers, settles)

    def falls(self, reason: str, arithmetic: str = "", covers: Covered = (), settles: str = "") -> Part:
        """Arithmetic or meaning is wrong."""
        return self._part(Verdict.FALLS, reason, arithmetic, covers, settles)

    def open(self, reason: str, settles: str, arithmetic: str = "", covers: Covered = ()) -> Part:
        """What is known decides neither."""
        return self._part(Verdict.OPEN, reason, arithmetic, covers, settles)

    def _part(self, verdict: Verdict, reason: str, arithmetic: str, covers: Covered, settles: str) -> Part:
        spans = tuple(one if isinstance(one, tuple) else one.span for one in covers)
        return Part(
            form=self.form, verdict=verdict, reason=reason, arithmetic=arithmetic, settles=settles, covers=spans
        )
