"""What `ringtree health --json` prints.

For: the shape of the result. Not for: computing it (checking.py), printing it (ringtree.show.health_text).
"""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from ringtree.results import Graded, Record

FORMAT = "ringtree.health/1"
Band = Literal["small", "middle", "large"]
Interval = tuple[float, float]


class Verdict(Graded):
    """Best first. `unknown`: there is nothing to compare with; `wrong`: the log refutes itself."""

    AS_FAST = "as fast as others"
    UNKNOWN = "nothing to compare with"
    BELOW = "below"
    FAR_BELOW = "far below"
    WRONG = "not to be trusted"


class AlphaBeta(Record):
    """time = alpha + size / rate over all sizes, least relative squares, 95 % intervals. `worst`: how far off the line
    is at its worst size: protocols and algorithms change with the size, so it is not a law."""

    alpha: float
    alpha_interval: Interval
    rate: float = Field(description="bytes/s of algbw; 0: no size costs anything")
    rate_interval: tuple[float, float | None]
    worst: float


class CurveShape(Record):
    """`floor`: seconds of the smallest sizes, None where no size is small enough to be latency; `plateau`: the highest
    busbw, at `plateau_at`; `saturation`: from which size on 90 % of it are reached; `rising`: it still grew at the
    largest size, so the plateau may lie above."""

    floor: float | None
    floor_sizes: tuple[int, int] | None
    plateau: float
    plateau_at: int
    rising: bool
    saturation: int
    fit: AlphaBeta | None


class SizeHealth(Record):
    """One size. Rates are busbw in bytes/s; `reached`: (lowest, median, highest) of `num_logs` logs, None: of none."""

    size_bytes: int
    seconds: float
    busbw: float
    reached: tuple[float, float, float] | None = None
    num_logs: int = 0
    share_of_reached: float | None = Field(default=None, description="of the median")
    share_of_limit: float | None


class BandHealth(Record):
    """Sizes of one band together. `share`: the median of their shares of what was reached; `enough`: what it must be:
    as asked for, else the least that one more log of such a machine has at 99.9 % by `spread`, the relative standard
    deviation between logs of alike machines, `dof` degrees of freedom."""

    band: Band
    num_sizes: int
    num_logs: int
    share: float
    enough: float
    spread: float
    dof: int
    verdict: Verdict


class Reference(Record):
    """A log of the catalogue that it was held against."""

    system: str
    library: str
    source: str


class Symptom(Record):
    """Something in the same log that costs speed, and what to look at."""

    code: str
    says: str
    look_at: str


class TableHealth(Record):
    """One table of one log."""

    file: str
    line: int
    tool: str
    collective: str | None
    num_ranks: int | None
    num_hosts: int | None
    machine: str = ""
    limit: float | None = Field(description="busbw that no algorithm exceeds, bytes/s")
    shape: CurveShape | None = None
    bands: list[BandHealth] = Field(default_factory=list)
    sizes: list[SizeHealth] = Field(default_factory=list)
    references: list[Reference] = Field(default_factory=list)
    verdict: Verdict
    because: str


class FileHealth(Record):
    """One log: its tables, and what its other lines say."""

    file: str
    tables: list[TableHealth]
    symptoms: list[Symptom]
    next_steps: list[str] = Field(description="what to look at where a band is below; none where none is")


class Growth(Record):
    """The latency floor over hosts: a line over hosts (ring) against one over log2 (tree)."""

    collective: str
    ranks_per_host: int
    floors: dict[int, tuple[float, float]] = Field(
        description="seconds by number of hosts, of the fastest and slowest log"
    )
    delta_aicc: float | None = Field(default=None, description="above 0: the ring's line fits better")
    p_linear: float | None = None
    p_logarithmic: float | None = None
    slope: float | None = Field(default=None, description="seconds a host, or a doubling, of the one that is told")
    verdict: Literal["linear", "logarithmic", "cannot be told apart", "neither"] = "cannot be told apart"
    because: str = ""


class ToolSize(Record):
    """`ratio`: the second tool's time over the first's; busbw as each prints it."""

    size_bytes: int
    first: float
    second: float
    ratio: float


class ToolsAgreement(Record):
    """Two tools on the same question."""

    first: str
    second: str
    collective: str
    num_ranks: int
    sizes: list[ToolSize]
    differences: list[str]
    verdict: str


class HealthReport(Record):
    """Everything."""

    format: str = FORMAT
    verdict: Verdict
    files: list[FileHealth]
    growth: list[Growth]
    tools: list[ToolsAgreement]
