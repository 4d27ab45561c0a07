"""The cells of a row that tell it apart from others: collective, ranks, algorithm, settings.

For: rows that belong to one table share these. Not for: measured numbers (plan.py).
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from ringtree.logs.quantities import plain, whole_number
from ringtree.logs.records import Table
from ringtree.logs.tables.caption import Caption
from ringtree.logs.tables.headings import Heading, Kind
from ringtree.logs.tables.measures import VARIABLE, is_missing
from ringtree.logs.words import algorithm_in, collective_in, library_in, protocol_in

IDENTIFYING = frozenset(
    (
        Kind.COLLECTIVE,
        Kind.ALGORITHM,
        Kind.PROTOCOL,
        Kind.RANKS,
        Kind.HOSTS,
        Kind.RANKS_PER_HOST,
        Kind.DEVICE,
        Kind.LIBRARY_VERSION,
        Kind.SETTING,
    )
)
_PROGRAM = re.compile(r"\w+_perf(?:_mpi)?")
_HOSTS_IN_NAME = re.compile(r"\((\d{1,5})[\s-]nodes?\)")


@dataclass
class RowFacts:
    """What the identifying cells of a row say. `names`: of its settings, for a table's title."""

    collective: str | None = None
    algorithm: str | None = None
    protocol: str | None = None
    num_ranks: int | None = None
    num_hosts: int | None = None
    tool: str | None = None
    library: str | None = None
    library_version: str | None = None
    devices: list[str] = field(default_factory=list)
    hosts: list[str] = field(default_factory=list)
    environment: dict[str, str] = field(default_factory=dict)
    settings: dict[str, str] = field(default_factory=dict)
    notes: list[tuple[str, object, str]] = field(default_factory=list)

    def put(self, table: Table, caption: Caption, arm_is_named: bool) -> None:
        """Fills a new table; `arm_is_named`: the column stands for a configuration of its own, to which the row's
        algorithm need not belong."""
        for what in ("tool", "library", "library_version"):
            setattr(table, what, getattr(table, what) or getattr(self, what))
        table.devices = list(self.devices) or table.devices
        table.hosts = list(self.hosts) or table.hosts
        table.environment.update(self.environment)
        table.settings.update(self.settings)
        if not arm_is_named:
            table.algorithm, table.protocol = self.algorithm, self.protocol
        elif self.algorithm is not None:
            table.settings["algorithm of the row"] = self.algorithm
        if self.num_hosts and self.num_hosts != caption.num_hosts:
            caption = replace(caption, num_ranks=None)  # those of another number of hosts
        for what in ("num_ranks", "num_hosts", "collective"):
            setattr(table, what, getattr(self, what) or getattr(caption, what))
            if getattr(self, what) is None:
                caption.infer(table, what)
        for what, value, because in self.notes:
            table.infer(what, value, because)


def facts_of(headings: Sequence[tuple[int, Heading]], cells: Sequence[str]) -> RowFacts:
    """Reads the identifying cells: pairs of a cell's index and its heading."""
    facts = RowFacts()
    per_host: int | None = None
    for index, heading in headings:
        cell = plain(cells[index])
        if is_missing(cell):
            continue
        if heading.kind is Kind.COLLECTIVE:
            _collective(facts, heading, cell)
        elif heading.kind is Kind.ALGORITHM:
            facts.algorithm = algorithm_in(cell)
            facts.protocol = facts.protocol or protocol_in(cell)
            if facts.algorithm is None:
                facts.settings[heading.text] = cell
        elif heading.kind is Kind.PROTOCOL:
            facts.protocol = protocol_in(cell)
            if facts.protocol is None:
                facts.settings[heading.text] = cell
        elif heading.kind is Kind.RANKS and (number := whole_number(cell)) is not None:
            facts.num_ranks = number
        elif heading.kind is Kind.HOSTS and (number := whole_number(cell)) is not None:
            facts.num_hosts = number
        elif heading.kind is Kind.HOSTS:
            facts.hosts = [cell]
        elif heading.kind is Kind.RANKS_PER_HOST and (number := whole_number(cell)) is not None:
            per_host = number
            facts.settings[heading.text] = cell
        elif heading.kind is Kind.DEVICE:
            facts.devices = [cell]
        elif heading.kind is Kind.LIBRARY_VERSION:
            facts.library_version = cell
        else:
            _setting(facts, heading, cell)
    if facts.num_ranks is None and per_host and facts.num_hosts:
        facts.num_ranks = per_host * facts.num_hosts
        why = f"{facts.num_hosts} hosts with {per_host} ranks each, as the row says"
        facts.notes.append(("num_ranks", facts.num_ranks, why))
    return facts


def _collective(facts: RowFacts, heading: Heading, cell: str) -> None:
    for name, value in VARIABLE.findall(cell):
        facts.environment[name] = value
    found = collective_in(VARIABLE.sub(" ", cell))
    if found is None:
        facts.settings[heading.text] = cell
        return
    facts.collective = found
    if _PROGRAM.fullmatch(cell) is not None:
        facts.tool = "nccl-tests"
        facts.notes.append(("tool", facts.tool, f'"{cell}" is one of its programs'))


def _setting(facts: RowFacts, heading: Heading, cell: str) -> None:
    """A name says what it says; what it is made of may say more."""
    facts.settings[heading.text] = cell
    why = f'"{cell}" says so'
    found = _HOSTS_IN_NAME.search(cell)
    collective = collective_in(cell)
    concluded = {
        "num_hosts": int(found.group(1)) if found is not None else None,
        "collective": None if collective == "send_recv" else collective,  # what it may be made of
        "algorithm": algorithm_in(cell),
        "protocol": protocol_in(cell),
        "library": library_in(cell),
    }
    for what, value in concluded.items():
        if value is not None and getattr(facts, what) is None:
            setattr(facts, what, value)
            facts.notes.append((what, value, why))
