"""How long processes of a launcher wait for each other, and for what follows from that.

For: RINGTREE_JOIN_SECONDS and the limits that derive from it. Not for: waiting, or limits once all have met (crew.py).
"""

from __future__ import annotations

import contextlib
import os
from dataclasses import dataclass

from ringtree.errors import UsageError

JOIN_SECONDS = "RINGTREE_JOIN_SECONDS"  # for all agents to come, where it is set
JOIN_LIMIT = 300.0  # else: hosts boot and mount at their own pace
MOST_JOIN_SECONDS = 24 * 3600.0
# For a process that ends silently to leave the first word to the one that speaks: mpirun ends all once the first has
# failed, and rank 0 serves those that tell it for up to 2 s (Rendezvous::stay) before it speaks.
FIRST_WORD = 5.0


@dataclass(frozen=True)
class JoinLimits:
    """Seconds. `join`: for all to come. The others are for rank 0 to come, of a process that can't take part, and may
    find that rank 0 makes the same mistake and never does: shares of `join`, at least so much, never more than it."""

    join: float = JOIN_LIMIT

    @property
    def tell(self) -> float:
        """For rank 0 to open the store, in which it can be told."""
        return self._share(1 / 10, 30.0)

    @property
    def listen(self) -> float:
        """For rank 0 to listen, or to say that it makes the same mistake."""
        return self._share(1 / 30, 10.0)

    @property
    def disagree(self) -> float:
        """As `tell`, where variables left over in a shell are most likely all there is, and nobody to tell."""
        return self._share(1 / 50, 6.0)

    def _share(self, of_join: float, least: float) -> float:
        return min(self.join, max(self.join * of_join, least))


def join_limits() -> JoinLimits:
    """Returns the limits of this process. Raises UsageError if the variable is not a time."""
    text = os.environ.get(JOIN_SECONDS)
    if not text:
        return JoinLimits()
    with contextlib.suppress(ValueError):
        if 0 < (seconds := float(text)) <= MOST_JOIN_SECONDS:
            return JoinLimits(seconds)
    raise UsageError(f"invalid {JOIN_SECONDS} {text!r}: give seconds, above 0 and at most {MOST_JOIN_SECONDS:.0f}")


def limits_of_a_refusal() -> JoinLimits:
    """Returns the limits of a process that can't take part, perhaps as the variable is not a time."""
    try:
        return join_limits()
    except UsageError:
        return JoinLimits()
