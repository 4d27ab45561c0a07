"""A rule: something that may be found, and how a check says it.

For: checks/, which define their rules beside the code that finds them. Not for: deciding anything; what a rule means
and an example of it, which stand in docs/audit.md, a section a code.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Generic, TypeVar

from ringtree.audit.findings import MAX_ROWS, Finding, Severity
from ringtree.audit.material import Material, Subject
from ringtree.logs import Row

Seen = TypeVar("Seen")


@dataclass(frozen=True)
class Rule:
    """`severity` is the worst that it has; `settles`: what would settle it."""

    code: str
    severity: Severity
    title: str
    settles: str

    def found(
        self,
        about: Subject | Material,
        arithmetic: str,
        rows: Sequence[Row] = (),
        *,
        title: str = "",
        severity: Severity | None = None,
        settles: str = "",
    ) -> Finding:
        """Returns a finding about a table, or about a file as a whole."""
        table = about.table if isinstance(about, Subject) else None
        once = list({id(row): row for row in rows}.values())  # both sides of a row are one row
        return Finding(
            code=self.code,
            severity=severity or self.severity,
            title=title or self.title,
            arithmetic=arithmetic,
            settles=settles or self.settles,
            file=about.file,
            table=None if table is None else table.first_line,
            title_of_table="" if table is None else table.title,
            rows=[row.line for row in once[:MAX_ROWS] if row.line > 0],
            sizes=[row.size_bytes for row in once[:MAX_ROWS] if row.size_bytes is not None],
            num_rows=len(once),
        )


def info(code: str, title: str, settles: str) -> Rule:
    """Returns a rule of what is worth knowing."""
    return Rule(code, Severity.INFO, title, settles)


def warning(code: str, title: str, settles: str) -> Rule:
    """Returns a rule of what is not to be relied on as it is."""
    return Rule(code, Severity.WARNING, title, settles)


def error(code: str, title: str, settles: str) -> Rule:
    """Returns a rule of what is wrong."""
    return Rule(code, Severity.ERROR, title, settles)


@dataclass(frozen=True)
class Check(Generic[Seen]):
    """`run` yields what it finds in what it looks at, by `rules`."""

    rules: tuple[Rule, ...]
    run: Callable[[Seen], Iterator[Finding]]


class TableCheck(Check[Subject]):
    """Looks at one table."""


class FileCheck(Check[Material]):
    """Looks at all tables and documents of one file together."""


class FilesCheck(Check[Sequence[Material]]):
    """Looks at all files together."""


def of_table(*rules: Rule) -> Callable[[Callable[[Subject], Iterator[Finding]]], TableCheck]:
    """Makes a function that yields findings by `rules` a check of one table."""
    return partial(TableCheck, rules)


def of_file(*rules: Rule) -> Callable[[Callable[[Material], Iterator[Finding]]], FileCheck]:
    """Makes it a check of one file."""
    return partial(FileCheck, rules)


def of_files(*rules: Rule) -> Callable[[Callable[[Sequence[Material]], Iterator[Finding]]], FilesCheck]:
    """Makes it a check of all files."""
    return partial(FilesCheck, rules)
