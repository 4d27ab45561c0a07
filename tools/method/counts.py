"""A share of draws with its Clopper-Pearson interval.

For: every "k of n" on the page. Not for: deciding whether a bar is met, which the share itself does (bars.py).
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Share:
    """`hits` of `draws`."""

    hits: int
    draws: int

    def __post_init__(self) -> None:
        if not 0 <= self.hits <= self.draws or self.draws < 1:
            raise ValueError(f"hits lie within at least one draw, not {self.hits} of {self.draws}")

    @property
    def value(self) -> float:
        return self.hits / self.draws

    def interval(self, level: float = 0.95) -> tuple[float, float]:
        """Clopper and Pearson 1934, Biometrika 26:404: exact, from the binomial's tails by way of the beta's."""
        from scipy.special import betaincinv

        tail = (1.0 - level) / 2.0
        low = 0.0 if self.hits == 0 else float(betaincinv(self.hits, self.draws - self.hits + 1, tail))
        high = 1.0 if self.hits == self.draws else float(betaincinv(self.hits + 1, self.draws - self.hits, 1.0 - tail))
        return low, high

    def __str__(self) -> str:
        """The share, of how many draws, and the interval."""
        low, high = self.interval()
        return f"{self.value:.1%} of {self.draws:,} ({low:.1%}–{high:.1%})"
