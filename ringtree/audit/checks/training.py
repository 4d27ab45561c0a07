"""Throughput of a training: more than linear growth, and settings that can't have changed it.

For: tables of tokens/s and the like by nodes or ranks. Not for: whether a difference between settings is one (arms.py).
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from typing import NamedTuple, get_args

from ringtree.audit.findings import Finding, Severity
from ringtree.audit.intervals import Interval
from ringtree.audit.material import Material, Subject
from ringtree.audit.rule import FileCheck, Rule
from ringtree.audit.training import Training, collectives_of, lacking
from ringtree.audit.words import between, listed
from ringtree.errors import UsageError
from ringtree.logs import Row
from ringtree.logs.tables.measures import THROUGHPUT

SUPERLINEAR = Rule(
    code="scaling-above-one",
    severity=Severity.WARNING,
    title="the throughput grows by more than the ranks do",
    means="With more ranks each has as much to compute and more to send, so the efficiency, throughput over that of "
    "the fewest ranks times their multiple, is at most 1. Above that the two cells differ in something else (batch, "
    "sequence length, what fits into memory), or runs differ by more than the efficiency's digits say. (info: up to "
    "2 % above.)",
    settles="several launches of both cells, with the same work for each rank",
    example="default, 2 nodes: 41299 / (2 × 19106) = 1.0807–1.0808",
)
NO_KERNEL = Rule(
    code="setting-without-effect",
    severity=Severity.WARNING,
    title="the forced algorithm has no kernel for what this training sends",
    means="NCCL has Tree for all-reduce only. FSDP's FULL_SHARD and ZeRO-3 gather parameters and reduce-scatter "
    "gradients, so a forced Tree changes nothing up to NCCL 2.23 (Ring runs and nothing is said) and makes calls fail "
    "since 2.24. A difference between such columns is that between two runs of the same thing.",
    settles="the algorithm of the calls: NCCL_DEBUG=INFO NCCL_DEBUG_SUBSYS=TUNING",
    example="Tree with FSDP FULL_SHARD: all_gather, reduce_scatter have no Tree",
)
CLOSE = 1.02  # runs differ by so much
_KINDS: dict[str, Training] = {name: name for name in get_args(Training)}


class _Cell(NamedTuple):
    subject: Subject
    row: Row
    num: int  # of nodes, or ranks
    rate: Interval
    text: str


def check(material: Material) -> Iterator[Finding]:
    """Yields findings about each column, over its rows."""
    columns: dict[tuple[object, ...], list[_Cell]] = defaultdict(list)
    for subject in material.subjects:
        for cell in _cells(subject):
            columns[_column(subject)].append(cell)
    for cells in columns.values():
        yield from _superlinear(sorted(cells, key=lambda cell: cell.num))
        yield from _without_kernel(cells)


def _cells(subject: Subject) -> Iterator[_Cell]:
    count = subject.table.num_hosts or subject.table.num_ranks
    for one in subject.points:
        printed = dict(one.side.others).get(THROUGHPUT)
        rate = Interval.of(printed)
        if printed is not None and rate is not None and rate.low > 0 and count:
            yield _Cell(subject, one.row, count, rate, printed.text)


def _column(subject: Subject) -> tuple[object, ...]:
    table = subject.table
    settings = tuple((name, value) for name, value in table.settings.items() if name != "columns not read")
    return table.first_line, table.num_hosts is None, settings


def _superlinear(cells: list[_Cell]) -> Iterator[Finding]:
    first = cells[0]
    per_rank = "/gpu" in first.subject.table.columns[THROUGHPUT].lower().replace("per ", "/")
    found: list[tuple[Interval, _Cell]] = []
    for cell in cells:
        multiple = cell.num / first.num
        if multiple > 1:
            found.append((cell.rate.over(first.rate.times(1.0 if per_rank else multiple)), cell))
    above = [(ratio, cell) for ratio, cell in found if ratio.low > 1]
    if not above:
        return
    ratio, cell = max(above, key=lambda pair: pair[0].low)
    of = "" if per_rank else f"{cell.num / first.num:g} × "
    arm = first.subject.table.settings.get("arm", "")
    what = "ranks" if cell.subject.table.num_hosts is None else "nodes"
    yield SUPERLINEAR.found(
        cell.subject,
        f"{arm + ', ' if arm else ''}{cell.num} {what}: {cell.text} / ({of}{first.text}) = {between(ratio)}",
        [cell.row for _, cell in above],
        severity=None if ratio.low > CLOSE else Severity.INFO,
    )


def _without_kernel(cells: list[_Cell]) -> Iterator[Finding]:
    subject = cells[0].subject
    training = _KINDS.get(subject.table.settings.get("training", ""))
    algorithm = subject.table.algorithm
    if training is None or algorithm is None:
        return
    try:
        missing = lacking(training, [algorithm.capitalize()])
    except UsageError:
        return  # a name that is not NCCL's
    for name in missing:
        said = f"{name} with {training}: {listed(collectives_of(training))} have no {name}"
        yield NO_KERNEL.found(subject, said, [cell.row for cell in cells])


CHECK = FileCheck((SUPERLINEAR, NO_KERNEL), check)
