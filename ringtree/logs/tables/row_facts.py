"""The cells of a row that tell it apart from others: collective, ranks, algorithm, settings.

For: rows that belong to one table share these. Not for: measured numbers (plan.py).
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

from ringtree.logs.quantities import plain, whole_number
from ringtree.logs.records import Table
from ringtree.logs.tables.caption import Caption
from ringtree.logs.tables.headings import Heading, Kind
from ringtree.logs.tables.measures import VARIABLE, is_missing
from ringtree.logs.words import algorithm_in, collective_in, library_in, protocol_in

_COUNTS = {Kind.RANKS: "num_ranks", Kind.HOSTS: "num_hosts", Kind.RANKS_PER_HOST: "per_host"}
_NAMES = {Kind.HOSTS: "hosts", Kind.DEVICE: "devices", Kind.LIBRARY_VERSION: "library_version"}
IDENTIFYING = frozenset((*_COUNTS, *_NAMES, Kind.COLLECTIVE, Kind.ALGORITHM, Kind.PROTOCOL, Kind.SETTING))
_PROGRAM = re.compile(r"\w+_perf(?:_mpi)?")
_HOSTS_IN_NAME = re.compile(r"\((\d{1,5})[\s-]nodes?\)")


class RowFacts:
    """What the identifying cells of a row say: `said`, by the fields of Table, and `notes` on what was concluded."""

    def __init__(self, headings: Sequence[Heading], cells: Sequence[str]) -> None:
        """Reads the identifying cells below their headings."""
        self.said: dict[str, Any] = {}
        self.environment: dict[str, str] = {}
        self.settings: dict[str, str] = {}
        self.notes: list[tuple[str, object, str]] = []
        for heading, cell in zip(headings, map(plain, cells), strict=True):
            if not is_missing(cell):
                self._take(heading, cell)
        hosts, per_host = self.said.get("num_hosts"), self.said.pop("per_host", None)
        if hosts and per_host:
            why = f"{hosts} hosts with {per_host} ranks each, as the row says"
            self._conclude("num_ranks", per_host * hosts, why)

    def put(self, table: Table, caption: Caption, arm_is_named: bool) -> None:
        """Fills a new table; `arm_is_named`: the column stands for a configuration of its own, to which the row's
        algorithm need not belong."""
        said = dict(self.said)
        of_row = {what: said.pop(what, None) for what in ("algorithm", "protocol")}
        if not arm_is_named:
            table.algorithm, table.protocol = of_row["algorithm"], of_row["protocol"]
        for what in ("tool", "library", "library_version"):
            setattr(table, what, getattr(table, what) or said.pop(what, None))
        for what in ("hosts", "devices"):
            setattr(table, what, [said.pop(what)] if what in said else getattr(table, what))
        table.environment.update(self.environment)
        table.settings.update(self.settings)
        if arm_is_named and of_row["algorithm"] is not None:
            table.settings["algorithm of the row"] = of_row["algorithm"]
        other_hosts = said.get("num_hosts") and said["num_hosts"] != caption.num_hosts
        for what in ("num_ranks", "num_hosts", "collective"):
            if said.get(what):
                setattr(table, what, said[what])
            elif not (what == "num_ranks" and other_hosts):  # the caption's are those of another number of hosts
                caption.put(table, what)
        for what, value, because in self.notes:
            table.infer(what, value, because)

    def _take(self, heading: Heading, cell: str) -> None:
        kind, number = heading.kind, whole_number(cell)
        if kind is Kind.COLLECTIVE:
            self._collective(heading, cell)
        elif kind in (Kind.ALGORITHM, Kind.PROTOCOL):
            what = "algorithm" if kind is Kind.ALGORITHM else "protocol"
            found = {"algorithm": algorithm_in(cell), "protocol": protocol_in(cell)}
            self.said[what] = found[what]
            self.said["protocol"] = self.said.get("protocol") or found["protocol"]
            if found[what] is None:
                self.settings[heading.text] = cell
        elif kind in _COUNTS and number is not None:
            self.said[_COUNTS[kind]] = number
            if kind is Kind.RANKS_PER_HOST:
                self.settings[heading.text] = cell
        elif kind in _NAMES:
            self.said[_NAMES[kind]] = cell
        else:
            self._setting(heading, cell)

    def _collective(self, heading: Heading, cell: str) -> None:
        self.environment.update(VARIABLE.findall(cell))
        found = collective_in(VARIABLE.sub(" ", cell))
        if found is None:
            self.settings[heading.text] = cell
            return
        self.said["collective"] = found
        if _PROGRAM.fullmatch(cell) is not None:
            self._conclude("tool", "nccl-tests", f'"{cell}" is one of its programs')

    def _setting(self, heading: Heading, cell: str) -> None:
        """A name says what it says; what it is made of may say more."""
        self.settings[heading.text] = cell
        found, collective, why = _HOSTS_IN_NAME.search(cell), collective_in(cell), f'"{cell}" says so'
        self._conclude("num_hosts", int(found.group(1)) if found is not None else None, why)
        self._conclude("collective", None if collective == "send_recv" else collective, why)  # it may be made of these
        for what, value_in in (("algorithm", algorithm_in), ("protocol", protocol_in), ("library", library_in)):
            self._conclude(what, value_in(cell), why)

    def _conclude(self, what: str, value: object, why: str) -> None:
        if value is not None and self.said.get(what) is None:
            self.said[what] = value
            self.notes.append((what, value, why))
