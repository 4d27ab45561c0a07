"""Intel MPI Benchmarks: "# Benchmarking Allreduce", "# #processes = 4", then rows of bytes, repetitions and times.

For: IMB-MPI1, IMB-NBC and others of their form, versions 3 to 2021, also with several groups and with -check. Not
for: IMB-IO, other programs' tables.

t_avg, t_min and t_max are over ranks, of each rank's average over repetitions. Sizes of gathering and all-to-all
benchmarks are those of one block. Mbytes/sec are of 2^20 bytes in old versions and of 10^6 in new ones; a row's own
arithmetic decides.
"""

from __future__ import annotations

import re

from ringtree.logs.lines import Line
from ringtree.logs.open_tables import OpenTable, OpenTables, mpi_size
from ringtree.logs.quick_rows import Cell, Column
from ringtree.logs.reading import Context, Sink
from ringtree.logs.records import MB_PER_SECOND, MICROSECONDS, Fact, Format, Row, RowReason, Table
from ringtree.logs.words import collective_in
from ringtree.traits import REDUCING

FORMAT = Format("imb", Fact.EXACT_SIZES, Fact.HOST_MEMORY, Fact.ONE_RUN)
NO_ROW = "an IMB table without a row: the run ended before its first one"
NO_TIME = RowReason("a size for which IMB had no memory, no time, or a number that is too large")

_VERSION = re.compile(r"Intel ?\(R\) MPI Benchmarks?(?: Suite)? V?(\d[\w. ]{0,20}?)(?:,\s*(.{0,60}))?\s*$")
_TITLE = re.compile(r"#\s*Benchmarking\s+(Multi-)?([A-Za-z]\w{0,60})\s*(?:\(.{0,80}\))?\s*$")
_RANKS = re.compile(r"#processes = (\d{1,7})(?:.*threads: (\d{1,4}))?")
_GROUPS = re.compile(r"\(\s*(\d{1,6}) groups of (\d{1,6}) processes")
_SETTING = re.compile(r"(MPI_Datatype|MPI_Datatype for reductions|MPI_Op)\s*:\s*(\w{1,40})")
_FAILED = ("out-of-mem", "int-overflow", "time-out")

_MEBI = float(1 << 20)
_TIMES = ("t_avg[usec]", "t[usec]", "t_pure[usec]")
_UNITS = {"usec]": MICROSECONDS, "%]": 0.01, "Mbytes/sec": MB_PER_SECOND}
_NAMES = {
    "Group": "group",
    "#repetitions": "repetitions",
    "t_min[usec]": "min",
    "t_max[usec]": "max",
    "t_ovrl[usec]": "overlapped",
    "t_pure[usec]": "pure",
    "t_CPU[usec]": "CPU",
    "overlap[%]": "overlap",
    "Mbytes/sec": "bandwidth",
    "Msg/sec": "messages",
}
_PATTERNS = {
    "pingpong": "ping-pong, one way",
    "pingping": "messages in both directions",
    "sendrecv": "each to the next, from the one before",
    "exchange": "with both neighbours",
    "uniband": "windows of messages",
    "biband": "windows of messages in both directions",
}


class ImbReader(OpenTables):
    """Version and settings are those that were printed last."""

    mark, no_row = "#", NO_ROW

    def __init__(self, context: Context, sink: Sink) -> None:
        super().__init__(context, sink)
        self._version: str | None = None
        self._part_name = ""
        self._said: dict[str, str] = {}

    def _heads(self, line: Line) -> bool:
        text = line.text
        if "Benchmark" in text and (found := _TITLE.search(text)) is not None:
            self._title(line, found)
        elif "Benchmark" in text and (found := _VERSION.search(text)) is not None:
            self._version, self._part_name = found.group(1).strip(), (found.group(2) or "").strip()
        elif "MPI_" in text and (found := _SETTING.search(text)) is not None:
            self._said[found.group(1)] = found.group(2)
            for each in self._open.values():
                each.forget_columns()
        else:
            return False
        return True

    def _title(self, line: Line, found: re.Match[str]) -> None:
        name = found.group(2)
        table = Table(FORMAT, line.number, f"IMB {found.group(1) or ''}{name}", line.job)
        table.tool, table.tool_version, table.library = "Intel MPI Benchmarks", self._version, "mpi"
        if self._part_name:
            table.settings["part"] = self._part_name
        _describe(table, name)
        self._begin(table, line, line.text[: found.start()])

    def _part(self, one: OpenTable, line: Line, text: str) -> bool:
        words = text.split()
        if words and words[0] in ("#bytes", "#repetitions", "Group") and "#repetitions" in words:
            self._set_headings(one, words)
            return True
        if text.startswith("#"):
            return self._comment(one, text)
        if len(words) > 1 and words[1].startswith(_FAILED) and words[0].isdigit() and one.headings:
            self._sink.skip(NO_TIME, line.number, line.text)
            return True
        return False

    def _comment(self, one: OpenTable, text: str) -> bool:
        settings = one.table.settings
        if not text.strip("#- "):
            if one.num_rows:
                self._close(one.title.job)
        elif (found := _RANKS.search(text)) is not None:
            one.table.num_ranks = int(found.group(1))
            if found.group(2):
                settings["threads"] = found.group(2)
        elif (found := _GROUPS.search(text)) is not None:
            settings["groups at once"], one.table.num_ranks = found.group(1), int(found.group(2))
        elif "MODE:" in text:
            settings["mode"] = text.partition("MODE:")[2].strip()[:40]
        elif "waiting in MPI_Barrier" not in text and not text.startswith("# Group"):
            if one.num_rows:
                self._close(one.title.job)
            return False
        return True

    def _column(self, one: OpenTable, heading: str) -> Column:
        if heading == "#bytes":
            return Column(Cell.SIZE)
        if heading == "defects":
            return Column(Cell.WRONG)
        if heading == next((name for name in _TIMES if name in one.headings), None):
            return Column(Cell.TIME, unit=MICROSECONDS)
        unit = _UNITS.get(heading.partition("[")[2] or heading, 1.0)
        return Column(Cell.OTHER, unit=unit, name=_NAMES.get(heading, heading))

    def _types(self, one: OpenTable) -> tuple[str | None, str | None]:
        if one.table.collective not in REDUCING:
            return None, None
        return self._said.get("MPI_Datatype for reductions"), self._said.get("MPI_Op")

    def _complete(self, one: OpenTable) -> None:
        """Decides what a Mbyte is, by a row's arithmetic or else by the version, and writes it into the rows."""
        table = one.table
        if "bandwidth" not in table.columns:
            return
        unit, why = (MB_PER_SECOND, "IMB since 2018") if _is_new(self._version) else (_MEBI, "IMB before 2018")
        ratio = next((ratio for row in reversed(table.rows) if (ratio := _ratio(row)) is not None), None)
        for scale in (1, 2, 4):
            for candidate in (MB_PER_SECOND, _MEBI):
                if ratio is not None and abs(ratio * scale / (candidate / MB_PER_SECOND) - 1) < 0.01:
                    unit, why = candidate, f"a row's size and time{f', times {scale},' if scale > 1 else ''} give it"
        table.infer("unit of Mbytes/sec", "10^6 bytes/s" if unit == MB_PER_SECOND else "2^20 bytes/s", why)
        if unit != MB_PER_SECOND:
            table.rows = [_with_unit(row, unit) for row in table.rows]


def _ratio(row: Row) -> float | None:
    """Returns size / time in units of the printed bandwidth as 10^6 bytes/s, where both are printed precisely."""
    side = row.sides[0]
    others = dict(side.others)
    slowest, bandwidth = others.get("max", side.time), others.get("bandwidth")
    if row.size_bytes is None or slowest is None or bandwidth is None:
        return None
    microseconds, printed = float(slowest.text), float(bandwidth.text)
    if not (10 <= printed < 1e12 and 10 <= microseconds < 1e12):
        return None
    return row.size_bytes / microseconds / printed


def _with_unit(row: Row, unit: float) -> Row:
    side = row.sides[0]
    others = tuple((name, one._replace(unit=unit) if name == "bandwidth" else one) for name, one in side.others)
    return row._replace(sides=(side._replace(others=others),))


def _is_new(version: str | None) -> bool:
    year = (version or "").split(".")[0].split(" ")[0]
    return year.isdigit() and len(year) == 4


def _describe(table: Table, name: str) -> None:
    """Fills what a benchmark's name says."""
    base = name.lower().removesuffix("_pure")
    table.collective = collective_in(base)
    pattern = _PATTERNS.get(base)
    if pattern is not None:
        table.collective, table.settings["pattern"] = "send_recv", pattern
    if name.startswith("I") and table.collective is not None:
        table.settings["blocking"] = "no"
    table.size_means = mpi_size(table.collective)
