"""What `ringtree compare-runs --json` prints.

For: the shape of the result. Not for: computing it (judging.py), printing it (show/runs_table.py).
"""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from ringtree.results import Record

FORMAT = "ringtree.compare-runs/1"
Verdict = Literal["slower", "faster", "not shown", "single run", "wrong"]


class ComparedCell(Record):
    """One size. Times in seconds, `ratio`: time of the other over the baseline's; above 1 the other is slower.

    `low`, `high`: interval of the ratio from launches, null for single runs. `spread`: the ratio's range by the
    iterations of one launch each, where there are some: what another launch would give is not in it. `rounding`: the
    ratio's range by the rounding of rates, where a time was derived from one (size/algbw).
    """

    size_bytes: int
    baseline: float
    other: float
    ratio: float
    low: float | None = None
    high: float | None = None
    coverage: float | None = None
    p_slower: float | None = None
    p_faster: float | None = None
    spread: tuple[float, float] | None = None
    rounding: tuple[float, float] | None = None
    num_baseline: int = Field(ge=0, description="launches")
    num_other: int = Field(ge=0, description="launches")
    verdict: Verdict
    because: str = ""


class ComparedSeries(Record):
    """Two series of one question. `crossovers`: neighbouring sizes between which the faster one changes, and whether
    that is shown."""

    collective: str | None
    num_ranks: int | None
    dtype: str | None
    op: str | None
    place: str
    baseline: str
    other: str
    label_baseline: str
    label_other: str
    cells: list[ComparedCell]
    crossovers: list[Crossing]
    differing: dict[str, tuple[str, str]] = Field(description="what else differs: baseline's, the other's")


class Crossing(Record):
    """Between `below` and `above` (bytes) the faster one changes from `first` to `second`. `shown`: both ends are
    verdicts."""

    below: int
    above: int
    first: str
    second: str
    shown: bool


class RunsComparison(Record):
    """Everything. `regressed`: some cell is shown to be slower."""

    format: str = FORMAT
    margin: float
    level: float
    series: list[ComparedSeries]
    not_compared: list[str]
    notes: list[str]
    regressed: bool


ComparedSeries.model_rebuild()
