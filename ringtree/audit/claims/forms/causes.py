"""Form: what made the difference. "from tuning alone", "thanks to the tree", "because of NVLink".

A cause is shown by changing it and nothing else; two numbers don't show it.
"""

from __future__ import annotations

from ringtree.audit.claims import words
from ringtree.audit.claims.claim import Claim
from ringtree.audit.claims.forms.part import Says
from ringtree.audit.claims.records import Part

_SAYS = Says("cause")


def judge(claim: Claim) -> list[Part]:
    """One part if a cause is named."""
    named = words.cause(claim.text)
    if not named:
        return []
    start = claim.text.index(named)
    return [
        _SAYS.open(
            f'"{named}" names a cause that nobody isolated: more than that differs between the two numbers, or may',
            "the same program with only that changed, several fresh starts of each",
            covers=[(start, start + len(named))],
        )
    ]
