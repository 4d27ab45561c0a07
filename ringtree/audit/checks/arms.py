"""Runs that are held against each other, with one run of each.

For: tables that differ in algorithm, protocol, version or settings only: whether anything can be said of which is
faster, and winners that change from size to size. Not for: deciding which is faster: that takes several runs of each
(`ringtree compare`, `ringtree compare-runs`).
"""

from __future__ import annotations

import re
import statistics
from collections import defaultdict
from collections.abc import Iterator, Sequence
from itertools import combinations, pairwise
from typing import NamedTuple

from ringtree.audit.findings import Finding, Severity
from ringtree.audit.intervals import Interval
from ringtree.audit.material import Material, Point, Subject
from ringtree.audit.repeats import num_runs
from ringtree.audit.rule import of_files, warning
from ringtree.audit.training import is_of_training
from ringtree.audit.words import figure, listed
from ringtree.logs import Fact
from ringtree.logs.tables.measures import STEP_TIME, THROUGHPUT
from ringtree.logs.words import words_of
from ringtree.units import format_size

SINGLE_RUNS = warning(
    "single-runs-compared",
    "configurations are compared, with one run of each",
    "five or more launches of each configuration, in turn; `ringtree compare-runs` then gives intervals",
)
FLIPS = warning(
    "winner-flips",
    "the leading configuration changes back and forth with the size",
    "several launches of each configuration, in turn",
)
TOLD = 0.02  # a smaller difference is not a lead
CLOSE = 0.10  # runs differ by so much
MAX_ARMS = 12
_RATE_UNIT = 1e3  # a smaller unit is that of a time or a count
FLIPS_INFO, FLIPS_WARNING = 2, 3
# Variables that change what is printed or where, not what runs.
_SAME_ANYWAY = re.compile(r"NCCL_(?:HOSTID|DEBUG|TESTS_|COMM_ID|SOCKET_IFNAME)|(?!NCCL_|RCCL_|MSCCL)")
# Arms that are one configuration, run again; and those whose figures are of several runs.
_AGAIN = re.compile(r"(?:(?:rep|repeat|repetition|run|trial|iteration|launch)[ _#-]*|#)\d{1,4}", re.IGNORECASE)
_OF_SEVERAL = re.compile(r"\b(?:mean|median|average|avg) of|\b\d+[ -]?(?:reps|runs|trials|launches)\b", re.IGNORECASE)
_OF_NO_CONFIGURATION = frozenset({"columns not read", "first timestamp", "last timestamp", "processes", "arm"})


class Arm(NamedTuple):
    """One configuration. `runs`: its tables; `times`: seconds, or 1/rate, by size (of a training, by nodes or ranks);
    smaller is faster. `num_runs`: of the size that has most."""

    label: str
    runs: list[Subject]
    times: dict[int, float]
    num_runs: int


@of_files(SINGLE_RUNS, FLIPS)
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
        arms = [arm for label, runs in by_label.items() if (arm := _arm(label, runs)).times][:MAX_ARMS]
        if len(arms) > 1:
            yield from _single_runs(arms)
            if not is_of_training(subjects[0]):
                yield from _flips(arms)


def _what(subject: Subject) -> tuple[object, ...]:
    """Returns what must agree for two tables to be comparable."""
    table = subject.table
    dtypes = tuple(sorted({row.dtype or "" for row in table.rows}))
    measures = tuple(sorted(name for name in table.columns if name in ("time", "algbw", "busbw")))
    if is_of_training(subject):
        told = sorted(item for item in table.settings.items() if item[0] not in _OF_NO_CONFIGURATION)
        return subject.file, table.first_line, table.num_hosts is None, *told
    section = table.first_line if "arm" in table.settings else table.title or table.first_line
    where = () if Fact.ONE_RUN in table.format.facts else (subject.file, section, measures)
    return table.collective, table.num_ranks, table.num_hosts, tuple(sorted(set(table.devices))), dtypes, where


def _varying(subjects: list[Subject]) -> list[str]:
    """Returns what the tables differ in, by name, of all that makes a configuration."""
    settings = [_settings(subject) for subject in subjects]
    names = {name for one in settings for name in one}
    return sorted(name for name in names if len({one.get(name) for one in settings}) > 1)


def _settings(subject: Subject) -> dict[str, str]:
    """Returns what may make a table's configuration another one: of logs the environment, else the settings too."""
    table = subject.table
    found = {"library": " ".join(part for part in (table.library, table.library_version) if part)}
    found |= {name: value for name, value in table.environment.items() if not _SAME_ANYWAY.match(name)}
    if Fact.ONE_RUN not in table.format.facts:
        found |= {name: value for name, value in table.settings.items() if name not in _OF_NO_CONFIGURATION}
    for name, variable in (("algorithm", "NCCL_ALGO"), ("protocol", "NCCL_PROTO")):
        if "arm" not in table.settings and variable not in table.environment and (value := getattr(table, name)):
            found[name] = value
    return found


def _label(subject: Subject, varying: list[str]) -> str:
    settings = _settings(subject)
    arm = subject.table.settings.get("arm", "")
    parts = [arm] if arm and not _AGAIN.fullmatch(arm) else []
    for name in varying:
        value = settings.get(name, "")
        if value and not set(words_of(value)) <= set(words_of(arm)):
            parts.append(value if name in ("algorithm", "protocol", "library") else f"{name}={value}")
    return " ".join(parts) or "default"


def _has_spread(subject: Subject) -> bool:
    """Whether its figures are of several runs, with their spread or by their name."""
    sides = [side for row in subject.table.rows for side in row.sides]
    told = ((num_runs(side) or 0) > 1 or any(name[:1] == "±" for name, _ in side.others) for side in sides)
    arm = subject.table.settings.get("arm", "")
    return bool(_OF_SEVERAL.search(arm)) or any(side.samples for side in sides) or any(told)


def _arm(label: str, runs: list[Subject]) -> Arm:
    by_size: dict[int, list[float]] = defaultdict(list)
    for subject in runs:
        count = (subject.table.num_hosts or subject.table.num_ranks) if is_of_training(subject) else None
        for one in subject.points:
            cost = _cost(one)
            if cost is not None and (size := count or one.row.size_bytes):
                by_size[size].append(cost)
    times = {size: statistics.median(costs) for size, costs in by_size.items()}
    most = max(map(len, by_size.values()), default=0)
    return Arm(label, runs, times, most if runs and is_of_training(runs[0]) else len(runs))


def _cost(point: Point) -> float | None:
    if point.time is not None and point.time.low > 0:
        return point.time.middle
    others = dict(point.side.others)
    if (seconds := Interval.of(others.get(STEP_TIME))) is not None and seconds.low > 0:
        return seconds.middle
    rate = point.busbw or point.algbw or Interval.of(others.get(THROUGHPUT))
    if rate is None:
        rates = [Interval.of(one) for name, one in point.side.others if one.unit >= _RATE_UNIT and name[:1] != "±"]
        rate = rates[0] if len(rates) == 1 else None
    return 1 / rate.middle if rate is not None and rate.low > 0 else None


def _single_runs(arms: list[Arm]) -> Iterator[Finding]:
    single = [arm for arm in arms if arm.num_runs == 1 and not _has_spread(arm.runs[0])]
    if len(single) < 2:
        return
    leads = [
        (abs(ratio - 1), one, other, size, ratio)
        for one, other in combinations(single, 2)
        for size, ratio in _ratios(one, other)
    ]
    if not leads:
        return
    close = [lead for lead in leads if TOLD / 4 < lead[0] < CLOSE]
    _, one, other, size, ratio = max(close or leads, key=lambda lead: lead[0])
    raw = any(Fact.ONE_RUN in arm.runs[0].table.format.facts for arm in single)
    first = single[0].runs[0]
    nodes = "ranks" if first.table.num_hosts is None else "nodes"
    where = f"{size} {nodes}" if is_of_training(first) else format_size(size)
    yield SINGLE_RUNS.found(
        first,
        f"{len(single)} configurations ({listed([arm.label for arm in single], 3)}), one run each; at "
        f"{where} {other.label} is {_compared(ratio)} {one.label}",
        first.table.rows,
        severity=Severity.INFO if raw or not close else None,
    )


def _compared(ratio: float) -> str:
    """Returns "5 % faster than", of one time over the other."""
    more = max(ratio, 1 / ratio)
    which = "faster" if ratio > 1 else "slower"
    return f"{more:.2g} times as {which[:4]} as" if more >= 2 else f"{100 * (more - 1):.2g} % {which} than"


def _flips(arms: list[Arm]) -> Iterator[Finding]:
    """Yields one finding for the pair whose lead changes most often."""
    pairs = [(_changes(one, other), one, other) for one, other in combinations(arms, 2)]
    pairs = [pair for pair in pairs if len(pair[0]) >= FLIPS_INFO]
    if not pairs:
        return
    changes, one, other = max(pairs, key=lambda pair: len(pair[0]))
    subject = one.runs[0]
    more = f"; as do {len(pairs) - 1} other pairs" if len(pairs) > 1 else ""
    yield FLIPS.found(
        subject,
        f"{one.label} against {other.label}: the lead (more than {figure(100 * TOLD)} %) changes {len(changes)} times, "
        f"at {listed([format_size(size) for size in changes])}{more}",
        [row for row in subject.table.rows if row.size_bytes in changes],
        severity=None if len(changes) >= FLIPS_WARNING else Severity.INFO,
    )


def _changes(one: Arm, other: Arm) -> list[int]:
    """Returns the sizes at which another one leads than at the last size that either led at."""
    leads = [(size, ratio < 1) for size, ratio in _ratios(one, other) if abs(ratio - 1) > TOLD]
    return [size for (_, before), (size, after) in pairwise(leads) if before != after]


def _ratios(one: Arm, other: Arm) -> list[tuple[int, float]]:
    return [(size, one.times[size] / other.times[size]) for size in sorted(one.times.keys() & other.times.keys())]
