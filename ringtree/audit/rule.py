"""A rule: something that may be found, and how a check says it.

For: checks/, which define their rules beside the code that finds them. Not for: deciding anything; what a rule means
and an example of it, which stand in docs/audit.md, a section a code.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from ringtree.audit.findings import MAX_ROWS, Finding, Severity
from ringtree.audit.material import Material, Subject
from ringtree.logs import Row


@dataclass(frozen=True)
class Rule:
    """`severity` is the worst that it has; `settles`: what would settle it."""

    code: str
    severity: Severity
    title: str
    settles: str

    def found(
        self,
        subject: Subject | None,
        arithmetic: str,
        rows: Sequence[Row] = (),
        *,
        file: str = "",
        title: str = "",
        severity: Severity | None = None,
        settles: str = "",
    ) -> Finding:
        """Returns a finding about a table, or with `file` about a file as a whole."""
        once = list({id(row): row for row in rows}.values())  # both sides of a row are one row
        return Finding(
            code=self.code,
            severity=severity or self.severity,
            title=title or self.title,
            arithmetic=arithmetic,
            settles=settles or self.settles,
            file=subject.file if subject is not None else file,
            table=subject.table.first_line if subject is not None else None,
            title_of_table=subject.table.title if subject is not None else "",
            rows=[row.line for row in once[:MAX_ROWS] if row.line > 0],
            sizes=[row.size_bytes for row in once[:MAX_ROWS] if row.size_bytes is not None],
            num_rows=len(once),
        )


@dataclass(frozen=True)
class TableCheck:
    """Looks at one table."""

    rules: tuple[Rule, ...]
    run: Callable[[Subject], Iterator[Finding]]


@dataclass(frozen=True)
class FileCheck:
    """Looks at all tables and documents of one file together."""

    rules: tuple[Rule, ...]
    run: Callable[[Material], Iterator[Finding]]


@dataclass(frozen=True)
class FilesCheck:
    """Looks at all files together."""

    rules: tuple[Rule, ...]
    run: Callable[[Sequence[Material]], Iterator[Finding]]


Check = TableCheck | FileCheck | FilesCheck
