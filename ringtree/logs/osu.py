"""OSU Micro-Benchmarks, versions 3 to 7: latency of collectives, bandwidth and latency between two.

For: their text, with and without min, max, percentiles and validation, for MPI and NCCL, host and device memory. Not
for: other programs' tables.

A run that ended before its first row is given to `skip`. Sizes are what OSU prints: of all-gather, gather and scatter
the block of one rank, of all-to-all what a rank sends to one other.
"""

from __future__ import annotations

import re
from functools import lru_cache

from ringtree.logs.launches import launch_of
from ringtree.logs.lines import Line
from ringtree.logs.open_tables import OpenTable, OpenTables, mpi_size
from ringtree.logs.quick_rows import Cell, Column
from ringtree.logs.records import MB_PER_SECOND, MICROSECONDS, Fact, Format, Table
from ringtree.logs.words import collective_in

FORMAT = Format("osu", Fact.EXACT_SIZES, Fact.HOST_MEMORY, Fact.ONE_RUN)
NO_ROW = "an OSU table without a row: the run ended before its first one"

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
_VALIDATION = "Validation"
_MAX_FAILED = 20


class OsuReader(OpenTables):
    """Of a table with a column of validation, `settings` holds which sizes failed, as soon as it has rows."""

    mark, no_row = "# O", NO_ROW

    def _heads(self, line: Line) -> bool:
        found = _TITLE.search(line.text)
        if found is None:
            return False
        table = Table(FORMAT, line.number, found.group(0).lstrip("# ").strip(), line.job)
        table.tool, table.tool_version = "OSU Micro-Benchmarks", found.group(2)
        _describe(table, found.group(1))
        _count_ranks(table, self._context.command)
        self._begin(table, line, line.text[: found.start()])
        return True

    def _part(self, one: OpenTable, line: Line, text: str) -> bool:
        if not text.startswith("#"):
            return False
        headings = _HEADING.findall(text)
        if headings and (text.lstrip("# ").startswith(("Size", *headings))):
            if one.num_rows:
                self._close(line.job)
                return False
            self._set_headings(one, headings)
            return True
        name, colon, value = text.lstrip("# ").partition(":")
        if colon and name in ("Datatype", "Window creation", "Synchronization"):
            one.table.settings[name.lower()] = value.strip(" .")[:100]
            one.forget_columns()
            return True
        if (found := _PAIRS.search(text)) is not None:
            one.table.settings["pairs"] = found.group(1)
            if one.table.num_ranks is None:
                one.table.conclude("num_ranks", 2 * int(found.group(1)), f"{found.group(1)} pairs")
            return True
        if text.startswith(("# Overall =", "# Send Buffer on", "# Rank 0 Memory", "# Set Derived")):
            return True
        if one.num_rows:
            self._close(line.job)  # somebody else's comment
        return False

    def _column(self, one: OpenTable, heading: str) -> Column:
        return _column(heading)

    def _types(self, one: OpenTable) -> tuple[str | None, str | None]:
        return one.table.settings.get("datatype"), None

    def _row(self, one: OpenTable, text: str, number: int) -> bool:
        if _VALIDATION not in one.headings:
            return super()._row(one, text, number)
        words, at = text.split(), one.headings.index(_VALIDATION)
        if len(words) <= at or not words[at].isalpha() or not super()._row(one, text, number):
            return False
        failed = [size for size in one.table.settings.get("validation", "").split(", ") if size not in ("", "Pass")]
        if not "pass".startswith(words[at].lower()) and len(failed) < _MAX_FAILED:  # a log may break off in the word
            failed.append(f"{words[at]} at {one.table.rows[-1].size_bytes}")
        one.table.settings["validation"] = ", ".join(failed) or "Pass"
        one.table.out_of_bounds_okay = not failed
        return True


@lru_cache(maxsize=64)  # the tables of a log have few kinds of headings
def _column(heading: str) -> Column:
    if heading == _VALIDATION:
        return Column(Cell.PASSED)
    if heading.startswith("Size"):
        return Column(Cell.SIZE)
    name, bracket, unit = (part.strip(" )") for part in heading.partition("("))
    if bracket and name in _MAIN:
        return Column(Cell.TIME, unit=MICROSECONDS)
    return Column(Cell.OTHER, unit=_UNITS.get(unit or name, 1.0), name=_NAMES.get(name, name))


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
    table.size_means = mpi_size(table.collective)
    if table.collective is None and library in ("MPI", "NCCL", "RCCL"):
        both = "bi-directional" in lower or "bibw" in lower
        windows = "windows of messages" if "bandwidth" in lower else "ping-pong, one way"
        table.settings["pattern"] = "windows of messages in both directions" if both else windows
        table.conclude("collective", "send_recv", f"{rest or name} is between pairs of ranks")
        if "mult" not in lower:
            table.conclude("num_ranks", 2, "this test runs on two")


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
        if getattr(table, what) is None:
            table.conclude(what, number, "the command line above")
