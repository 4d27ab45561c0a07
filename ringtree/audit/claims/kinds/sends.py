"""Each rank sends so many times the size: "every GPU sends 2 x (N-1)/N x the size", "1.875 x for 16 GPUs"."""

from __future__ import annotations

import math
from typing import Literal

from pydantic import Field

from ringtree.audit.claims import counting
from ringtree.audit.claims.about import About
from ringtree.audit.claims.formulas import Written
from ringtree.audit.claims.statement import Answer, Statement, UndecidedError, Whose
from ringtree.audit.claims.written import number

_LEAST = "; it is a ring's, and the least that any algorithm can do without a switch that reduces"


class Sends(Statement):
    """Without an algorithm the ring's share is meant, which is the least."""

    kind: Literal["bytes"]
    algorithm: str | None = None
    whose: Whose = "textbook"
    times_size: Written = Field(description="what a rank sends, over the size: 1.875, 2(N-1)/N x S")

    def judge(self, about: About) -> Answer:
        name, least = self.algorithm or "ring", "" if self.algorithm else _LEAST
        for_all = "ranks" in self.times_size.names
        samples = counting.samples(self.times_size) if for_all else (about.need("ranks"),)
        said = [self.times_size.value(ranks=n, size=1.0) for n in samples]
        counted = [counting.share(self.collective, name, n, self.whose) for n in samples]
        if any(map(math.isnan, said)):
            raise UndecidedError(f"nothing to hold {self.times_size.text} against", "the algorithm, step by step")
        right = all(math.isclose(a, b, rel_tol=1e-9 if for_all else 5e-4) for a, b in zip(said, counted, strict=True))
        if for_all:
            at, what = max(0, len(samples) - 3), f"a {name} {self.collective}"
            here = f"{self.times_size.text} = {said[at]:.4g}·S at n = {samples[at]}"
            shown = f"{here}, counted in the schedule of {name} {counted[at]:.4g}·S"
            if right:
                return self.holds(f"that is what each rank of {what} sends, and as much comes in{least}", shown)
            return self.falls(f"{what} sends another share of the size from each rank", shown)
        times = f"{number(counted[0])} times the size"
        shown = f"{name}, {self.collective}, n = {samples[0]}: {times}, counted in the schedule"
        if right:
            return self.holds(f"each rank sends {times}{least}", shown)
        return self.falls(f"each rank sends {times}, not {self.times_size.text}", shown)
