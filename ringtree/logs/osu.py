"""OSU Micro-Benchmarks, versions 3 to 7: latency of collectives, bandwidth and latency between two.

For: their text, with and without min, max, percentiles and validation, for MPI and NCCL, host and device memory. Not
for: other programs' tables.

A run that ended before its first row is given to `skip`. Sizes are what OSU prints: of all-gather, gather and scatter
the block of one rank, of all-to-all what a rank sends to one other.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field

from ringtree.logs.launches import launch_of
from ringtree.logs.lines import Line
from ringtree.logs.open_tables import OpenTable, OpenTables
from ringtree.logs.quantities import is_number
from ringtree.logs.quick_rows import Cell, Column, MakeRow, row_maker
from ringtree.logs.reading import Context, Sink
from ringtree.logs.records import MB_PER_SECOND, MICROSECONDS, Printed, Row, Side, Table
from ringtree.logs.words import collective_in

FORMAT = "osu"
NO_ROW = "an OSU table without a row: the run ended before its first one"
_MAX_JOBS = 1000
_MAX_FOREIGN = 500  # lines between a table's rows

_TITLE = re.compile(r"#\s*(?:OSU|OMB(?:[- ]?Py(?:thon)?|-J)?)\s+(\S.{0,100}?)\s+Test(?:\s+v?(\d[\w.-]{0,20}))?\s*$")
_HEADING = re.compile(
    r"Transmit Size|Size(?: \(B\))?|Iterations|Validation|[A-Za-z][\w.-]*(?: [\w.-]+){0,3} ?\((?:us|MB/s(?:ec)?|%)\)"
    r"|MB/s|Messages/s"
)
_PAIRS = re.compile(r"\[ pairs: (\d{1,6}) \]")
_UNITS = {"us": MICROSECONDS, "MB/s": MB_PER_SECOND, "MB/sec": MB_PER_SECOND, "%": 0.01, "Messages/s": 1.0}
# What is measured, the first of these that there is.
_MAIN = ("Avg Latency", "Latency", "Pure Comm.")
_NAMES = {
    "Min Latency": "min",
    "Max Latency": "max",
    "Iterations": "iterations",
    "Bandwidth": "bandwidth",
    "MB/s": "bandwidth",
}
_MAX_MAKERS = 64
_Headings = tuple[tuple[str, float], ...]
_BLOCKS = frozenset(("all_gather", "gather", "scatter"))


@dataclass
class _Open(OpenTable):
    headings: list[tuple[str, float]] = field(default_factory=list)
    failed: list[str] = field(default_factory=list)
    num_checked: int = 0


class OsuReader(OpenTables[_Open]):
    """One open table for each job."""

    def __init__(self, context: Context, sink: Sink) -> None:
        super().__init__(sink)
        self._context = context
        self._makers: dict[tuple[_Headings, str | None], MakeRow] = {}

    def feed(self, line: Line) -> bool:
        """Takes titles, headings and rows."""
        text = line.text
        if "# O" in text and (found := _TITLE.search(text)) is not None:
            self._begin(line, found)
            return True
        if not self._open:
            return False
        one = self._open.get(line.job)
        if one is None:
            return False
        if one.prefix:
            text = text.removeprefix(one.prefix)
        stripped = text.strip()
        if stripped.startswith("#"):
            return self._comment(one, line.job, stripped)
        if one.headings and (self._quick_row(one, text, line.number) or self._row(one, line, stripped.split())):
            one.num_foreign = 0
            return True
        one.num_foreign += 1
        if one.num_foreign > _MAX_FOREIGN:
            self._close(line.job)
        return False

    def finish(self) -> None:
        """Ends all tables."""
        for job in list(self._open):
            self._close(job)

    def _begin(self, line: Line, found: re.Match[str]) -> None:
        self._close(line.job)
        if len(self._open) >= _MAX_JOBS:
            self._close(next(iter(self._open)))
        table = Table(FORMAT, line.number, found.group(0).lstrip("# ").strip(), line.job)
        table.tool, table.tool_version = "OSU Micro-Benchmarks", found.group(2)
        table.environment = dict(self._context.environment)
        _describe(table, found.group(1))
        _count_ranks(table, self._context.command)
        self._open[line.job] = _Open(table, line, line.text[: found.start()])

    def _comment(self, one: _Open, job: str, text: str) -> bool:
        one.make_row = None  # it may tell the columns or the datatype
        headings = _HEADING.findall(text)
        if headings and (text.lstrip("# ").startswith(("Size", *headings))):
            if one.num_rows:
                self._close(job)
                return False
            one.headings = [_heading(heading) for heading in headings]
            pairs = zip(one.headings, headings, strict=True)
            one.table.columns = {name: text for (name, _), text in pairs if name not in ("Size", "Validation")}
            return True
        name, colon, value = text.lstrip("# ").partition(":")
        if colon and name in ("Datatype", "Window creation", "Synchronization"):
            one.table.settings[name.lower()] = value.strip(" .")[:100]
            return True
        if (found := _PAIRS.search(text)) is not None:
            one.table.settings["pairs"] = found.group(1)
            if one.table.num_ranks is None:
                one.table.num_ranks = 2 * int(found.group(1))
                one.table.infer("num_ranks", one.table.num_ranks, f"{found.group(1)} pairs")
            return True
        if text.startswith(("# Overall =", "# Send Buffer on", "# Rank 0 Memory", "# Set Derived")):
            return True
        if one.num_rows:
            self._close(job)  # somebody else's comment
        return False

    def _row(self, one: _Open, line: Line, words: list[str]) -> bool:
        if len(words) != len(one.headings):
            return False
        size: int | None = None
        time: Printed | None = None
        others: list[tuple[str, Printed]] = []
        valid = ""
        for word, (name, unit) in zip(words, one.headings, strict=True):
            if name == "Validation":
                if not word.isalpha():
                    return False
                valid = word
            elif not is_number(word):
                return False
            elif name == "Size":
                if not word.isdigit() or len(word) > 18:
                    return False
                size = int(word)
            elif name == "time":
                time = Printed(word, unit)
            else:
                others.append((name, Printed(word, unit)))
        if valid:
            one.num_checked += 1
            if not "pass".startswith(valid.lower()) and len(one.failed) < 20:  # a log may break off in the word
                one.failed.append(f"{valid} at {size}")
        dtype = one.table.settings.get("datatype")
        self._add(one, Row(line.number, size, (Side("", time, others=tuple(others)),), dtype=dtype))
        return True

    def _maker_for(self, one: _Open) -> MakeRow:
        key = (tuple(one.headings), one.table.settings.get("datatype"))
        known = self._makers.get(key)
        if known is None:
            known = _maker(*key)
            if len(self._makers) < _MAX_MAKERS:  # the tables of a log have few kinds of headings
                self._makers[key] = known
        return known

    def _close(self, job: str) -> None:
        one = self._open.pop(job, None)
        if one is None:
            return
        if one.num_rows == 0:
            self._sink.skip(NO_ROW, one.title.number, one.title.text)
            return
        if one.num_checked:
            one.table.out_of_bounds_okay = not one.failed
            one.table.settings["validation"] = ", ".join(one.failed) or "Pass"
        self._sink.emit(one.table)


def _maker(headings: _Headings, dtype: str | None) -> MakeRow:
    if any(name == "Validation" for name, _ in headings) or len({name for name, _ in headings}) < len(headings):
        return lambda _text, _number: None
    kinds = {"Size": Cell.SIZE, "time": Cell.TIME}
    columns = [Column(kinds.get(name, Cell.OTHER), unit=unit, name=name) for name, unit in headings]
    return row_maker(columns, dtype=dtype)


def _heading(text: str) -> tuple[str, float]:
    """Returns a column's name in `others` and its unit; "time" for the one that is the measurement."""
    if text.startswith("Size"):
        return "Size", 1.0
    if "(" not in text:
        return _NAMES.get(text, text), _UNITS.get(text, 1.0)
    name, _, unit = text.partition("(")
    name = name.strip()
    if name in _MAIN:
        return "time", MICROSECONDS
    return _NAMES.get(name, name), _UNITS[unit.rstrip(")")]


def _describe(table: Table, name: str) -> None:
    """Fills what a title like "MPI-CUDA Non-blocking Allreduce Latency" says."""
    library, _, rest = name.partition(" ")
    library, _, memory = library.partition("-")
    table.library = library.lower() if library in ("MPI", "NCCL", "RCCL", "OpenSHMEM", "UPC") else None
    rest = rest.removeprefix("MPI ") if table.library is None else rest
    if memory or table.library == "mpi":
        table.settings["buffers"] = memory or "host"
    lower = name.lower()
    if "non-blocking" in lower:
        table.settings["blocking"] = "no"
    table.collective = collective_in(rest)
    if table.collective in _BLOCKS:
        table.settings["size_means"] = "bytes of one rank's block"
    elif table.collective == "all_to_all":
        table.settings["size_means"] = "bytes that a rank sends to one other"
    elif table.collective is None and library in ("MPI", "NCCL", "RCCL"):
        table.collective = "send_recv"
        table.settings["pattern"] = _pattern(lower)
        table.infer("collective", "send_recv", f"{rest or name} is between pairs of ranks")
        if "mult" not in lower:
            table.num_ranks = 2
            table.infer("num_ranks", 2, "this test runs on two")


def _pattern(lower: str) -> str:
    if "bi-directional" in lower or "bibw" in lower:
        return "windows of messages in both directions"
    return "windows of messages" if "bandwidth" in lower else "ping-pong, one way"


def _count_ranks(table: Table, command: str) -> None:
    """The command line counts only if it names a program of OSU's that fits the title."""
    found = re.search(r"\bosu_(\w+)", command)
    if found is None or table.collective is None:
        return
    named = collective_in(found.group(1))
    if named != (None if table.collective == "send_recv" else table.collective):
        return
    launch = launch_of(command)
    for what, number in (("num_ranks", launch.num_ranks), ("num_hosts", launch.num_hosts)):
        if number is not None and getattr(table, what) is None:
            setattr(table, what, number)
            table.infer(what, number, "the command line above")
