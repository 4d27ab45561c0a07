"""A table of a log as an arm of the page: what it answers, where it is from, what it says of itself.

For: telling tables apart, and their provenance. Not for: their figures (log_cells.py).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from ringtree.audit import Subject
from ringtree.audit.words import listed
from ringtree.compare_runs import label_of
from ringtree.logs import Row, Side

MAX_INFERENCES = 6


class Question(NamedTuple):
    """What must be alike for two tables to stand in one chart; None: the log does not say."""

    collective: str | None
    num_ranks: int | None
    dtype: str | None
    op: str | None


@dataclass(frozen=True)
class LogArm:
    """One table's measurements of a question. `short`: what to call its file."""

    short: str
    subject: Subject
    sides: Sequence[tuple[Row, Side]]


def labels_of(arms: Sequence[LogArm]) -> list[str]:
    """Names each table: by its file, by what was forced where it was; where that does not tell it, by its title or
    line."""
    several = len({arm.subject.file for arm in arms}) > 1
    names = []
    for arm in arms:
        forced = label_of(arm.subject.table)
        file = arm.short if several or not forced else ""
        names.append(" ".join(part for part in (file, forced) if part))
    titles = [f"{name}, {arm.subject.table.title}" for name, arm in zip(names, arms, strict=True)]
    full = [
        name
        if names.count(name) == 1
        else (title if titles.count(title) == 1 else f"{name}, line {arm.subject.table.first_line}")
        for name, title, arm in zip(names, titles, arms, strict=True)
    ]
    return [one if full.count(one) == 1 else f"{one} ({full[:index].count(one) + 1})" for index, one in enumerate(full)]


def provenance_of(arms: Sequence[LogArm], labels: Sequence[str]) -> list[tuple[str, str]]:
    """Returns what the logs say of themselves, and what their readers concluded; alike in all arms: once."""
    facts: dict[tuple[str, str], list[str]] = {}
    for arm, label in zip(arms, labels, strict=True):
        for fact in _facts(arm):
            facts.setdefault(fact, []).append(label)
    return [
        (name if len(of) == len(labels) else f"{name}, {listed(of, 2)}", value) for (name, value), of in facts.items()
    ]


def _facts(arm: LogArm) -> Iterator[tuple[str, str]]:
    table = arm.subject.table
    devices = {name: table.devices.count(name) for name in table.devices}
    facts = {
        "file": arm.subject.file,
        "format": table.format,
        "lines": f"{table.first_line}–{table.last_line}" if table.last_line else "",
        "table": table.title,
        "job": table.job,
        "tool": " ".join(part for part in (table.tool, table.tool_version) if part),
        "library": " ".join(part for part in (table.library, table.library_version) if part),
        "devices": ", ".join(f"{count} × {name}" for name, count in devices.items()),
        "hosts": str(table.num_hosts or ""),
        "algorithm": table.algorithm or "",
        "protocol": table.protocol or "",
        "ended": {True: "as it should", False: "cut off", None: ""}[table.complete],
        **table.settings,
        **dict(sorted(table.environment.items())),
    }
    yield from ((name, value) for name, value in facts.items() if value)
    for one in table.inferences[:MAX_INFERENCES]:
        yield f"concluded: {one.what}", f"{one.value}: {one.because}"
