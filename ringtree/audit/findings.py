"""What an audit says: findings of a file, and the verdict.

For: the shape of what is printed and of `ringtree audit --json`. Not for: which findings there are (checks/).
"""

from __future__ import annotations

from enum import Enum

from pydantic import Field

from ringtree.results.record import Record

AUDIT_FORMAT = "ringtree.audit/1"
MAX_ROWS = 40  # named by a finding; `num_rows` counts all


class Severity(str, Enum):
    """info: worth knowing, the numbers stand. warning: don't rely on it as it is. error: something in it is wrong."""

    INFO = "info"
    WARNING = "warning"
    ERROR = "error"

    @property
    def rank(self) -> int:
        """Returns 0 for info, 1 for warning, 2 for error."""
        return list(Severity).index(self)


class Finding(Record):
    """One thing that arithmetic or the log itself shows."""

    code: str = Field(description="stable name of what was found; docs/audit.md explains each")
    severity: Severity
    title: str = Field(description="what is the matter, one line")
    arithmetic: str = Field(description="the numbers that show it, one line")
    settles: str = Field(description="what would settle it")
    file: str
    table: int | None = Field(default=None, description="line where the table begins; null: of the file as a whole")
    title_of_table: str = Field(default="", description="what the file calls the table")
    rows: list[int] = Field(default_factory=list, description="line numbers, the first ones if there are many")
    sizes: list[int] = Field(default_factory=list, description="sizes in bytes of these rows, as far as they have one")
    num_rows: int = Field(default=0, ge=0, description="how many rows it is about")


class FileReport(Record):
    """One file: what was in it, and what was found."""

    file: str
    verdict: str = Field(description="one line")
    worst: Severity | None = Field(description="null: nothing was found")
    num_tables: int = Field(ge=0)
    num_rows: int = Field(ge=0)
    num_documents: int = Field(ge=0, description="parts of the file that are not a table of timings")
    num_skipped_lines: int = Field(ge=0, description="lines that no reader took")
    num_rows_left_out: int = Field(default=0, ge=0, description="those of them that are rows of tables with figures")
    left_out: str = Field(default="", description="why, and where the first of them are; empty: none")
    mostly_left_out: bool = Field(default=False, description="more lines of tables were left out than read")
    findings: list[Finding]


class Audit(Record):
    """What `ringtree audit --json` prints."""

    format: str = AUDIT_FORMAT
    worst: Severity | None = Field(description="null: nothing was found")
    files: list[FileReport]


def worst_of(severities: list[Severity]) -> Severity | None:
    """Returns the worst severity, None for an empty list."""
    return max(severities, key=lambda one: one.rank, default=None)
