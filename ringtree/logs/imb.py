"""Intel MPI Benchmarks: "# Benchmarking Allreduce", "# #processes = 4", then rows of bytes, repetitions and times.

For: IMB-MPI1, IMB-NBC and others of their form, versions 3 to 2021, also with several groups and with -check. Not
for: IMB-IO, other programs' tables.

t_avg, t_min and t_max are over ranks, of each rank's average over repetitions. Sizes of gathering and all-to-all
benchmarks are those of one block. Mbytes/sec are of 2^20 bytes in old versions and of 10^6 in new ones; a row's own
arithmetic decides.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field

from ringtree.logs.lines import Line
from ringtree.logs.open_tables import OpenTable, OpenTables
from ringtree.logs.quantities import is_number
from ringtree.logs.quick_rows import Cell, Column, MakeRow, row_maker
from ringtree.logs.reading import Context, Sink
from ringtree.logs.records import MB_PER_SECOND, MICROSECONDS, Printed, Row, Side, Table
from ringtree.logs.words import collective_in

FORMAT = "imb"
NO_ROW = "an IMB table without a row: the run ended before its first one"
NO_TIME = "a size for which IMB had no memory, no time, or a number that is too large"
_MAX_JOBS = 1000
_MAX_FOREIGN = 500

_VERSION = re.compile(r"Intel ?\(R\) MPI Benchmarks?(?: Suite)? V?(\d[\w. ]{0,20}?)(?:,\s*(.{0,60}))?\s*$")
_TITLE = re.compile(r"#\s*Benchmarking\s+(Multi-)?([A-Za-z]\w{0,60})\s*(?:\(.{0,80}\))?\s*$")
_RANKS = re.compile(r"#processes = (\d{1,7})(?:.*threads: (\d{1,4}))?")
_GROUPS = re.compile(r"\(\s*(\d{1,6}) groups of (\d{1,6}) processes")
_SETTING = re.compile(r"(MPI_Datatype|MPI_Datatype for reductions|MPI_Op)\s*:\s*(\w{1,40})")
_FAILED = ("out-of-mem", "int-overflow", "time-out")

_MEBI = float(1 << 20)
_TIMES = ("t_avg[usec]", "t[usec]", "t_pure[usec]")
_NAMES = {
    "#bytes": "bytes",
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
    "defects": "defects",
}
_PATTERNS = {
    "pingpong": "ping-pong, one way",
    "pingping": "messages in both directions",
    "sendrecv": "each to the next, from the one before",
    "exchange": "with both neighbours",
    "uniband": "windows of messages",
    "biband": "windows of messages in both directions",
}
_BLOCKS = frozenset(("all_gather", "gather", "scatter"))
_REDUCES = frozenset(("all_reduce", "reduce", "reduce_scatter"))


@dataclass
class _Open(OpenTable):
    headings: list[str] = field(default_factory=list)
    ratio: float | None = None


class ImbReader(OpenTables[_Open]):
    """One open table for each job; version and settings are those that were printed last."""

    def __init__(self, context: Context, sink: Sink) -> None:
        super().__init__(sink)
        self._context = context
        self._version: str | None = None
        self._part = ""
        self._types: dict[str, str] = {}

    def feed(self, line: Line) -> bool:
        """Takes titles, headings, rows and what is said of the run."""
        text = line.text
        if "#" in text:
            if "Benchmark" in text and self._heading_line(line):
                return True
            if not self._open and "MPI_" not in text:
                return False
        elif not self._open:
            return False
        one = self._open.get(line.job)
        if one is not None and one.prefix:
            text = text.removeprefix(one.prefix)
        text = text.strip()
        if text.startswith("#") and (found := _SETTING.search(text)) is not None:
            self._types[found.group(1)] = found.group(2)
            for each in self._open.values():
                each.make_row = None
            return True
        if one is None:
            return False
        if self._quick_row(one, text, line.number) or self._part_of(one, line, text):
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

    def _heading_line(self, line: Line) -> bool:
        found = _TITLE.search(line.text)
        if found is not None:
            self._begin(line, found)
            return True
        found = _VERSION.search(line.text)
        if found is None:
            return False
        self._version, self._part = found.group(1).strip(), (found.group(2) or "").strip()
        return True

    def _begin(self, line: Line, found: re.Match[str]) -> None:
        self._close(line.job)
        if len(self._open) >= _MAX_JOBS:
            self._close(next(iter(self._open)))
        name = found.group(2)
        table = Table(FORMAT, line.number, f"IMB {found.group(1) or ''}{name}", line.job)
        table.tool, table.tool_version, table.library = "Intel MPI Benchmarks", self._version, "mpi"
        table.environment = dict(self._context.environment)
        if self._part:
            table.settings["part"] = self._part
        _describe(table, name)
        self._open[line.job] = _Open(table, line, line.text[: found.start()])

    def _part_of(self, one: _Open, line: Line, text: str) -> bool:
        words = text.split()
        if not words:
            return False
        if words[0] in ("#bytes", "#repetitions", "Group") and "#repetitions" in words:
            one.headings, one.make_row = words, None
            one.table.columns = _columns(words)
            return True
        if text.startswith("#"):
            return self._comment(one, text)
        return bool(one.headings) and self._row(one, line, words)

    def _comment(self, one: _Open, text: str) -> bool:
        if not text.strip("#- "):
            if one.num_rows:
                self._close(one.title.job)
            return True
        if (found := _RANKS.search(text)) is not None:
            one.table.num_ranks = int(found.group(1))
            if found.group(2):
                one.table.settings["threads"] = found.group(2)
            return True
        if (found := _GROUPS.search(text)) is not None:
            groups, ranks = int(found.group(1)), int(found.group(2))
            one.table.num_ranks = ranks
            one.table.settings["groups at once"] = str(groups)
            return True
        if "MODE:" in text:
            one.table.settings["mode"] = text.partition("MODE:")[2].strip()[:40]
            return True
        if "waiting in MPI_Barrier" in text or text.startswith("# Group"):
            return True
        if one.num_rows:
            self._close(one.title.job)
        return False

    def _row(self, one: _Open, line: Line, words: list[str]) -> bool:
        if len(words) > 1 and words[1].startswith(_FAILED) and words[0].isdigit():
            self._sink.skip(NO_TIME, line.number, line.text)
            return True
        if len(words) != len(one.headings):
            return False
        if not all(is_number(word) for word in words):
            return False
        cells = dict(zip(one.headings, words, strict=True))
        size = cells.pop("#bytes", None)
        if size is not None and not (size.isdigit() and len(size) <= 18):
            return False
        name = next((name for name in _TIMES if name in cells), None)
        time = Printed(cells.pop(name), MICROSECONDS) if name is not None else None
        wrong = Printed(cells.pop("defects")) if "defects" in cells else None
        ratio = _ratio(size, cells, time)
        one.ratio = ratio if ratio is not None else one.ratio
        others = tuple((_NAMES.get(key, key), Printed(value, _unit(key))) for key, value in cells.items())
        dtype, op = self._reduction(one)
        side = Side("", time, wrong=wrong, others=others)
        self._add(one, Row(line.number, int(size) if size else None, (side,), None, dtype, op))
        return True

    def _maker_for(self, one: _Open) -> MakeRow:
        return _maker(one.headings, *self._reduction(one))

    def _reduction(self, one: _Open) -> tuple[str | None, str | None]:
        """Returns element type and operation, where the benchmark has them."""
        if one.table.collective not in _REDUCES:
            return None, None
        return self._types.get("MPI_Datatype for reductions"), self._types.get("MPI_Op")

    def _close(self, job: str) -> None:
        one = self._open.pop(job, None)
        if one is None:
            return
        if one.num_rows == 0:
            self._sink.skip(NO_ROW, one.title.number, one.title.text)
            return
        if "bandwidth" in one.table.columns:
            self._settle_bandwidth(one)
        self._sink.emit(one.table)

    def _settle_bandwidth(self, one: _Open) -> None:
        """Decides what a Mbyte is, by a row's arithmetic or else by the version, and writes it into the rows."""
        table = one.table
        new = _is_new(self._version)
        unit, why = (MB_PER_SECOND, "IMB since 2018") if new else (_MEBI, "IMB before 2018")
        for scale in (1, 2, 4):
            for candidate in (MB_PER_SECOND, _MEBI):
                if one.ratio is not None and abs(one.ratio * scale / (candidate / MB_PER_SECOND) - 1) < 0.01:
                    unit, why = candidate, f"a row's size and time{f', times {scale},' if scale > 1 else ''} give it"
        table.infer("unit of Mbytes/sec", "10^6 bytes/s" if unit == MB_PER_SECOND else "2^20 bytes/s", why)
        if unit != MB_PER_SECOND:
            table.rows = [_with_unit(row, unit) for row in table.rows]


def _maker(headings: list[str], dtype: str | None, op: str | None) -> MakeRow:
    """Of a bandwidth the unit is still to be found, and of defects rows say whether they were looked for."""
    if not {"Mbytes/sec", "defects"}.isdisjoint(headings) or len(set(headings)) < len(headings):
        return lambda _text, _number: None
    time = next((name for name in _TIMES if name in headings), None)
    kinds = {"#bytes": Cell.SIZE, time: Cell.TIME}
    columns = [Column(kinds.get(one, Cell.OTHER), unit=_unit(one), name=_NAMES.get(one, one)) for one in headings]
    return row_maker(columns, dtype=dtype, op=op)


def _columns(headings: list[str]) -> dict[str, str]:
    time = next((name for name in _TIMES if name in headings), None)
    named = {_NAMES.get(name, name): name for name in headings if name not in ("#bytes", time, "defects")}
    if time is not None:
        named["time"] = time
    if "defects" in headings:
        named["wrong"] = "defects"
    return named


def _unit(heading: str) -> float:
    if heading.endswith("[usec]"):
        return MICROSECONDS
    if heading == "overlap[%]":
        return 0.01
    return MB_PER_SECOND if heading == "Mbytes/sec" else 1.0


def _ratio(size: str | None, cells: dict[str, str], time: Printed | None) -> float | None:
    """Returns size / time in units of the printed bandwidth as 10^6 bytes/s, where both are printed precisely."""
    printed = float(cells.get("Mbytes/sec", "0"))
    slowest = float(cells["t_max[usec]"]) if "t_max[usec]" in cells else time.value / MICROSECONDS if time else 0.0
    if size is None or not 10 <= printed < 1e12 or not 10 <= slowest < 1e12:
        return None
    return int(size) / slowest / printed


def _with_unit(row: Row, unit: float) -> Row:
    side = row.sides[0]
    others = tuple((name, one._replace(unit=unit) if name == "bandwidth" else one) for name, one in side.others)
    return Row(row.line, row.size_bytes, (side._replace(others=others),), row.count, row.dtype, row.op, row.root)


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
    if table.collective in _BLOCKS:
        table.settings["size_means"] = "bytes of one rank's block"
    elif table.collective == "all_to_all":
        table.settings["size_means"] = "bytes that a rank sends to one other"
