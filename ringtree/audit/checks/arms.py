"""Runs that are held against each other, with one run of each.

For: tables that differ in algorithm, protocol, version or settings only: whether anything can be said of which is
faster, and winners that change from size to size. Not for: deciding which is faster: that takes several runs of each
(`ringtree compare`, `ringtree compare-runs`).
"""

from __future__ import annotations

import statistics
from collections import defaultdict
from collections.abc import Iterator, Sequence
from itertools import combinations, pairwise
from typing import NamedTuple

from ringtree.audit.material import Material, Point, Subject
from ringtree.audit.records import Finding, Severity
from ringtree.audit.rule import FilesCheck, Rule
from ringtree.audit.words import figure, listed
from ringtree.lab.units import format_size
from ringtree.logs import Side

SINGLE_RUNS = Rule(
    code="single-runs-compared",
    severity=Severity.WARNING,
    title="configurations are compared, with one run of each",
    means="Runs of one and the same configuration differ, from launch to launch, by several per cent and now and then "
    "by half. From one run of each no difference of that order can be claimed, and which configuration led at a size "
    "may be chance. (info: where the tables are only side by side, or all differences are large.)",
    settles="five or more launches of each configuration, in turn; `ringtree compare-runs` then gives intervals",
    example="",
)
FLIPS = Rule(
    code="winner-flips",
    severity=Severity.WARNING,
    title="which configuration leads changes to and fro with the size",
    means="Two algorithms change places once, where the one with more latency and more bandwidth takes over; a switch "
    "of protocol may add another. A lead that goes back and forth is what noise looks like.",
    settles="several launches of each configuration, in turn",
    example="",
)
TOLD = 0.02  # a smaller difference is no lead
CLOSE = 0.10  # runs differ by so much
MAX_ARMS = 12
FLIPS_INFO, FLIPS_WARNING = 2, 3
# Formats that one run of a program writes. In all others several configurations stand side by side to be compared.
_OF_ONE_RUN = ("nccl-tests", "osu", "imb", "commcanary", "gloo")
_OF_NO_CONFIGURATION = frozenset({"columns not read", "first timestamp", "last timestamp", "processes", "arm"})


class Arm(NamedTuple):
    """One configuration. `runs`: its tables; `times`: seconds, or 1/rate, by size; smaller is faster."""

    label: str
    runs: list[Subject]
    times: dict[int, float]


def check(files: Sequence[Material]) -> Iterator[Finding]:
    """Yields findings about groups of tables that differ in their configuration only."""
    groups: dict[tuple[object, ...], list[Subject]] = defaultdict(list)
    for material in files:
        for subject in material.subjects:
            if subject.table.rows and not subject.is_one_rank:
                groups[_what(subject)].append(subject)
    for subjects in groups.values():
        by_label: dict[str, list[Subject]] = defaultdict(list)
        varying = _varying(subjects)
        for subject in subjects:
            by_label[_label(subject, varying)].append(subject)
        arms = [Arm(label, runs, _times(runs)) for label, runs in by_label.items()]
        arms = [arm for arm in arms if arm.times][:MAX_ARMS]
        if len(arms) > 1:
            yield from _single_runs(arms)
            yield from _flips(arms)


def _is_of_one_run(subject: Subject) -> bool:
    return subject.table.format.startswith(_OF_ONE_RUN)


def _what(subject: Subject) -> tuple[object, ...]:
    """Returns what must agree for two tables to be comparable."""
    table = subject.table
    dtypes = tuple(sorted({row.dtype or "" for row in table.rows}))
    measures = tuple(sorted(name for name in table.columns if name in ("time", "algbw", "busbw")))
    where = () if _is_of_one_run(subject) else (subject.file, table.title or table.first_line, measures)
    return table.collective, table.num_ranks, table.num_hosts, tuple(sorted(set(table.devices))), dtypes, where


def _varying(subjects: list[Subject]) -> list[str]:
    """Returns the settings by which a comparison's tables differ; of logs the environment tells that."""
    tables = [subject.table for subject in subjects if not _is_of_one_run(subject)]
    names = {name for table in tables for name in table.settings} - _OF_NO_CONFIGURATION
    return sorted(name for name in names if len({table.settings.get(name) for table in tables}) > 1)


def _label(subject: Subject, varying: list[str]) -> str:
    table = subject.table
    prefixes = ("NCCL_", "RCCL_", "MSCCL")
    environment = [f"{name}={value}" for name, value in sorted(table.environment.items()) if name.startswith(prefixes)]
    settings = [f"{name} {table.settings[name]}" for name in varying if name in table.settings]
    named = [table.settings["arm"]] if "arm" in table.settings else [table.algorithm, table.protocol]
    parts = [*named, table.library, table.library_version, *settings, *environment]
    return " ".join(part for part in parts if part) or "no setting named"


def _has_spread(subject: Subject) -> bool:
    """Whether its figures are of several runs, with their spread."""
    return any(side.samples or any(name.startswith("±") for name, _ in side.others) for side in _sides(subject))


def _sides(subject: Subject) -> Iterator[Side]:
    for row in subject.table.rows:
        yield from row.sides


def _times(runs: list[Subject]) -> dict[int, float]:
    by_size: dict[int, list[float]] = defaultdict(list)
    for subject in runs:
        for one in subject.points:
            cost = _cost(one)
            if cost is not None and one.row.size_bytes:
                by_size[one.row.size_bytes].append(cost)
    return {size: statistics.median(costs) for size, costs in by_size.items()}


def _cost(point: Point) -> float | None:
    if point.time is not None and point.time.low > 0:
        return point.time.middle
    rate = point.busbw or point.algbw
    return 1 / rate.middle if rate is not None and rate.low > 0 else None


def _single_runs(arms: list[Arm]) -> Iterator[Finding]:
    single = [arm for arm in arms if len(arm.runs) == 1 and not _has_spread(arm.runs[0])]
    if len(single) < 2:
        return
    leads = []
    for one, other in combinations(single, 2):
        for size in sorted(one.times.keys() & other.times.keys()):
            ratio = one.times[size] / other.times[size]
            leads.append((abs(ratio - 1), one, other, size, ratio))
    if not leads:
        return
    close = [lead for lead in leads if TOLD / 4 < lead[0] < CLOSE]
    _, one, other, size, ratio = max(close or leads, key=lambda lead: lead[0])
    raw = any(_is_of_one_run(arm.runs[0]) for arm in single)
    first = single[0].runs[0]
    yield SINGLE_RUNS.found(
        first,
        f"{len(single)} configurations ({listed([arm.label for arm in single], 3)}), one run each; at "
        f"{format_size(size)} {other.label} against {one.label}: {figure(100 * (ratio - 1))} %",
        first.table.rows,
        severity=Severity.INFO if raw or not close else None,
    )


def _flips(arms: list[Arm]) -> Iterator[Finding]:
    for one, other in combinations(arms, 2):
        leads: list[tuple[int, bool]] = []
        for size in sorted(one.times.keys() & other.times.keys()):
            ratio = one.times[size] / other.times[size]
            if abs(ratio - 1) > TOLD:
                leads.append((size, ratio < 1))
        changes = [size for (_, before), (size, after) in pairwise(leads) if before != after]
        if len(changes) < FLIPS_INFO:
            continue
        subject = one.runs[0]
        at = listed([format_size(size) for size in changes])
        yield FLIPS.found(
            subject,
            f"{one.label} against {other.label}: the lead (more than {figure(100 * TOLD)} %) changes {len(changes)} "
            f"times, at {at}",
            [row for row in subject.table.rows if row.size_bytes in changes],
            severity=None if len(changes) >= FLIPS_WARNING else Severity.INFO,
        )


CHECK = FilesCheck((SINGLE_RUNS, FLIPS), check)
