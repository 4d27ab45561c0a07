"""A formula for a time or a bandwidth: "takes (N-1)/N x S / B", "an effective bandwidth of N/(N-1) x B".

It is computed at several n and sizes and compared with what the schedule sends: share(n)·S/B, plus a latency for each
message in a row if the formula has a latency.
"""

from __future__ import annotations

import math
from itertools import product
from typing import Literal

from pydantic import Field

from ringtree.audit.claims import counting
from ringtree.audit.claims.about import About
from ringtree.audit.claims.formulas import Written, formula
from ringtree.audit.claims.statement import Answer, Statement

_SIZES = (1.0, 3.0e6, 1.0e9)
_RATE, _LATENCY = 2.5e9, 3.0e-6
# What one rank sends, over the size, and how that reads as a time and as a bandwidth.
_READS = (
    ("2(n-1)/n", "2(n-1)/n · S/B", "n/(2(n-1)) · B"),
    ("(n-1)/n", "(n-1)/n · S/B", "n/(n-1) · B"),
    ("min(n, 4)/2", "2 · S/B (n > 3)", "B/2 (n > 3)"),
)


class Model(Statement):
    """Of the textbook's algorithms; B is the rate of a link in one direction."""

    kind: Literal["formula"]
    algorithm: str = "ring"
    of: Literal["time", "bandwidth"]
    formula: Written
    approximate: bool = Field(default=False, description="said of many ranks: within a tenth from 16 ranks on")

    def judge(self, about: About) -> Answer:
        counts = [n for n in counting.samples(self.formula) if n >= 16 or not self.approximate]
        name, what = self.algorithm, self.collective
        costs = [(n, counting.share(what, name, n), counting.hops(what, name, n)) for n in counts]
        which = 1 + ("time", "bandwidth").index(self.of)
        closed = next((one[which] for one in _READS if self._are(one[0], costs)), "")
        if self._right(costs, 1.0):
            reason = f"it is what the schedule of {name} gives{', ' * bool(closed)}{closed}"
            return self.holds(reason, f"{self.formula.text}: the same at n = {', '.join(map(str, counts))}")
        n, share, hops = costs[min(3, len(costs) - 1)]
        ratio = self._said(n, _SIZES[1], 1 / _RATE) / self._model(share, hops, _SIZES[1])
        half = what == "all_reduce" and self._right(costs, 0.5)
        both = ": this is one half of it, the reduce-scatter or the all-gather; an all-reduce is both"
        reason = f"a {name} {what} {('', 'takes', 'reaches')[which]} {closed or 'something else'}{both * half}"
        return self.falls(reason, f"{self.formula.text} is {ratio:.3g} times what the schedule gives at n = {n}")

    def _are(self, text: str, costs: list[tuple[int, float, int]]) -> bool:
        return all(math.isclose(formula(text).value(ranks=n), share) for n, share, _ in costs)

    def _right(self, costs: list[tuple[int, float, int]], part: float) -> bool:
        """Whether it agrees with `part` of what is sent. Beta: the time of a byte for some, or a bandwidth."""
        tolerance, sizes = 0.1 if self.approximate else 1e-9, _SIZES if "latency" in self.formula.names else _SIZES[1:]
        return any(
            all(
                math.isclose(self._said(n, size, beta), self._model(part * share, hops, size), rel_tol=tolerance)
                for (n, share, hops), size in product(costs, sizes)
            )
            for beta in (1 / _RATE, _RATE)
        )

    def _model(self, share: float, hops: int, size: float) -> float:
        latency = _LATENCY if "latency" in self.formula.names else 0.0
        return hops * latency + share * size / _RATE if self.of == "time" else _RATE / share

    def _said(self, n: int, size: float, beta: float) -> float:
        return self.formula.value(ranks=n, size=size, rate=_RATE, latency=_LATENCY, beta=beta)
