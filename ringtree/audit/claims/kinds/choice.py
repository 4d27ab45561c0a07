"""NCCL picks this below such a size and that above: "Tree with LL below 128 KB, Ring with Simple above".

NCCL has no thresholds of size: it models the time of each algorithm and protocol from nodes, GPUs and links, and takes
the least. A rule by size alone is undecided; where the model contradicts it, the reason says so.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product
from typing import Literal

from pydantic import Field

from ringtree.audit.claims.about import About
from ringtree.audit.claims.amounts import Size
from ringtree.audit.claims.statement import Answer, Statement
from ringtree.nccl import tuning
from ringtree.nccl.constants import RELEASE
from ringtree.results.record import Record

_SIZES = tuple(1 << power for power in (10, 13, 16, 20, 25, 30))
_SHOWN = 3
_WHY = (
    "NCCL has no thresholds of size: it takes the least of times that it models from the nodes, the GPUs and their "
    "links, which the sentence does not name"
)


class Rule(Record):
    """What is picked from `above` to `to`."""

    above: Size | None = None
    to: Size | None = None
    algorithms: list[str] = Field(min_length=1, description="NCCL's: Ring, Tree, NVLS, …")


class Choice(Statement):
    """What NCCL is said to choose by size."""

    kind: Literal["choice"]
    rules: list[Rule] = Field(min_length=1)

    def judge(self, about: About) -> Answer:
        otherwise = list(self._contradictions())
        model = f"; the model of NCCL {RELEASE} disagrees on "
        reason = _WHY + (model + otherwise[0].partition(":")[0] if otherwise else "")
        settles = "the choice itself: NCCL_DEBUG=INFO NCCL_DEBUG_SUBSYS=TUNING on the machine, size by size"
        return self.open(reason, settles, "; ".join(otherwise[:_SHOWN]))

    def _contradictions(self) -> Iterator[str]:
        """Machines and sizes where the model's choice is not among what the rule has."""
        for machine, size in product(tuning.MACHINES, _SIZES):
            rules = [one for one in self.rules if (one.above is None or size > one.above.low)
                     and (one.to is None or size <= one.to.low)]  # fmt: skip
            allowed = {name.lower() for rule in rules for name in rule.algorithms}
            times = tuning.times(machine, size)
            rivals = [one for one in times if one.algorithm.lower() in allowed]
            best, rival = min(times, key=lambda one: times[one]), min(rivals, key=lambda one: times[one], default=None)
            if rival is not None and best != rival:
                shown = (f"{one.algorithm} {one.protocol} {times[one]:.1f} us" for one in (best, rival))
                yield f"{machine.name}: {size >> 10} KB {', '.join(shown)}"
