"""Tables of logs as arms of a view: their observations, names and limits, and the findings about them.

For: joining observations with what the audit says. Not for: collecting them (of_logs.py), figures (cells.py).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import NamedTuple

from ringtree.audit import Ceiling, Executed, Finding, Subject, ceiling, rates
from ringtree.audit.words import listed
from ringtree.logs.observations import observations_of_table, origin_of
from ringtree.results import Observation, Origin
from ringtree.show.views.cells import cells_of
from ringtree.show.views.view import LimitLine, ViewCell
from ringtree.units import format_size

_MAX_NAMED = 6  # sizes that a line names


class Question(NamedTuple):
    """What must be alike for two tables to stand in one view; None: the log does not say."""

    collective: str | None
    num_ranks: int | None
    dtype: str | None
    op: str | None


@dataclass(frozen=True)
class LogArm:
    """One table's measurements of a question. `short`: what to call its file; `rates`: by measurement."""

    short: str
    subject: Subject
    seen: list[Observation]
    rates: dict[int, float]

    @property
    def origin(self) -> Origin:
        """What they share."""
        return self.seen[0].origin

    @cached_property
    def held(self) -> Ceiling | None:
        """What the rates are held against."""
        return ceiling(self.subject)

    def cells(self, label: str, findings: Sequence[Finding]) -> list[ViewCell]:
        """Returns a cell for each measurement, with its share of the limit and the codes of the findings about its
        line."""
        of_line: dict[int, list[str]] = {}
        for finding in findings:
            if finding.table == self.subject.table.first_line and finding.file == self.subject.file:
                for line in finding.rows:
                    of_line.setdefault(line, []).append(finding.code)
        top = self.held.top.algbw if self.held is not None else None

        def complete(cell: ViewCell, one: Observation) -> None:
            rate = self.rates.get(id(one))
            cell.share = rate / top if rate is not None and top else None
            cell.found = list(dict.fromkeys(of_line.get(one.line, [])))

        return cells_of(self.seen, complete, label)


def arms_of(subject: Subject, short: str, executed: Executed) -> dict[Question, LogArm]:
    """Returns the measurements of a table by what they answer: its rows may have several types and operations.

    `executed`: what NCCL's lines in the same file say that it ran; of several that may have been any.
    """
    table = subject.table
    origin = replace(
        origin_of(table, subject.file),
        collective=subject.collective,
        num_ranks=subject.num_ranks or table.num_ranks,
    )
    measured = {id(point): rate for point, rate in rates(subject)}
    found: dict[Question, LogArm] = {}
    for one, point in zip(observations_of_table(table, origin), subject.points, strict=True):
        question = Question(table.collective, table.num_ranks, one.dtype, one.op)
        arm = found.setdefault(question, LogArm(short, subject, [], {}))
        ran = executed.get((origin.collective or "", one.size_bytes or 0), set())
        if len(ran) == 1:
            one = replace(one, executed="/".join(name for name in next(iter(ran)) if name))
        arm.seen.append(one)
        rate = measured.get(id(point))
        if rate is not None and rate.low > 0 and math.isfinite(rate.high):  # 0.00 may be anything below 0.005
            arm.rates[id(one)] = rate.middle
    return found


def labels_of(arms: Sequence[LogArm]) -> list[str]:
    """Names each table: by its file, by what was forced where it was; where that does not tell it, by its title or
    line."""
    several = len({arm.subject.file for arm in arms}) > 1
    names = []
    for arm in arms:
        file = arm.short if several or not arm.origin.label else ""
        names.append(" ".join(part for part in (file, arm.origin.label) if part))
    titles = [f"{name}, {arm.subject.table.title}" for name, arm in zip(names, arms, strict=True)]
    full = [
        name if names.count(name) == 1 else (title if titles.count(title) == 1 else f"{name}, line {arm.origin.table}")
        for name, title, arm in zip(names, titles, arms, strict=True)
    ]
    return [one if full.count(one) == 1 else f"{one} ({full[:index].count(one) + 1})" for index, one in enumerate(full)]


def provenance_of(arms: Sequence[LogArm], labels: Sequence[str]) -> list[tuple[str, str]]:
    """Returns what the logs say of themselves, and what their readers concluded; alike in all arms: once."""
    facts: dict[tuple[str, str], list[str]] = {}
    for arm, label in zip(arms, labels, strict=True):
        for fact in arm.origin.facts.items():
            facts.setdefault(fact, []).append(label)
    return [
        (name if len(of) == len(labels) else f"{name}, {listed(of, 2)}", value) for (name, value), of in facts.items()
    ]


def limit_lines(labels: Sequence[str], arms: Sequence[LogArm]) -> list[tuple[LimitLine, str]]:
    """Returns what the links permit, each limit once, and its arithmetic."""
    found: dict[str, tuple[str, list[str], str, dict[int, tuple[int, float | None, float | None]]]] = {}
    for label, arm in zip(labels, arms, strict=True):
        if arm.held is None:
            continue
        kinds = [("any algorithm", arm.held.top)]
        if arm.held.ring is not None and arm.held.ring.algbw != arm.held.top.algbw:
            kinds.append(("a ring", arm.held.ring))
        for what, limit in kinds:
            name, of, _, points = found.setdefault(limit.arithmetic, (f"limit of {what}", [], arm.held.machine, {}))
            of.append(label)
            for one in arm.seen:
                total = one.origin.size_means.total_bytes(one.size_bytes or 0, arm.subject.num_ranks)
                if one.size_bytes and total and limit.algbw:
                    points[one.size_bytes] = (one.size_bytes, total / limit.algbw, limit.busbw)
    lines = []
    for arithmetic, (name, of, machine, points) in found.items():
        called = name if len(set(of)) == len(labels) else f"{name}: {listed(of, 2)}"
        lines.append((LimitLine(called, None, [points[size] for size in sorted(points)]), f"{machine}: {arithmetic}"))
    return lines


def finding_row(finding: Finding, short: str) -> dict[str, str]:
    """Returns a finding as the page's table has it. `short`: what to call its file."""
    return {
        "severity": finding.severity.value,
        "code": finding.code,
        "title": finding.title,
        "arithmetic": finding.arithmetic,
        "settles": finding.settles,
        "where": ": ".join(part for part in (short, finding.title_of_table, _where(finding)) if part),
    }


def _where(finding: Finding) -> str:
    """Returns "lines 20–34, 5 rows: 1 KB, 2 KB and 3 more"."""
    if not finding.rows:
        return "" if finding.table is None else f"table at line {finding.table}"
    first, last = min(finding.rows), max(finding.rows)
    lines = f"line {first}" if first == last else f"lines {first}–{last}, {finding.num_rows} rows"
    sizes = [format_size(size) for size in dict.fromkeys(finding.sizes)]
    return f"{lines}: {listed(sizes, _MAX_NAMED)}" if sizes else lines
