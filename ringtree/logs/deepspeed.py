"""Communication benchmarks of DeepSpeedExamples and EleutherAI's cookbook, and DeepSpeed's log of communication.

For: "---- Performance of all_reduce on 16 devices ----" with its rows, the summary of CommsLogger, and the lines that
it prints for each call. Not for: training logs otherwise.

Their throughput of an all-reduce is 2 x size / time, twice nccl-tests' algbw; of all-gather and reduce-scatter it is
of all ranks' blocks. It stands in `others` as "tput". Sizes are rounded, in powers of 1024 that are called KB and MB.
"""

from __future__ import annotations

import re

from ringtree.logs.groups import Groups
from ringtree.logs.lines import Line
from ringtree.logs.open_tables import OpenTable, OpenTables
from ringtree.logs.quantities import quantity, unit_of
from ringtree.logs.quick_rows import Cell, Column
from ringtree.logs.reading import Context, Sink
from ringtree.logs.records import GBIT_PER_SECOND, MILLISECONDS, Format, Printed, Row, Side, SizeMeans, Table
from ringtree.logs.sizes import MAX_BYTES, Sizes
from ringtree.logs.words import collective_in

BENCHMARK, LOGGER = Format("deepspeed_benchmark"), Format("deepspeed_comms_logger")
NO_ROW = "a table of DeepSpeed's without a row: the run ended before its first one"

_TITLE = re.compile(r"-{4} Performance of ([a-z][a-z0-9_]{1,40}) on (\d{1,7}) devices -{3,}")
_UNITS = re.compile(r"Throughput \((Gbps|GBps)\)")
_ROW = re.compile(
    r"(?P<size>\d+(?:\.\d+)? ?[KMGTPEZY]?B|\d+)\s+(?P<count>\d{1,18})x(?P<bytes>\d{1,9})\s+"
    r"(?P<time>\d+(?:\.\d+)?(?: (?:us|ms|s))?)\s+(?P<tput>\d+(?:\.\d+)?)\s+(?P<busbw>\d+(?:\.\d+)?)",
    re.ASCII,
)
_BRACKETS = re.compile(r"\((\w+)\)")
_SUMMARY = ("Comm. Op", "Message Size", "tput_avg (Gbps)", "busbw_avg (Gbps)")
_OP = re.compile(r"([a-z][a-z0-9_]{1,40})(?:\s*\|\s*\[Caller Func: [^\]]{0,80}\])?")
_SIZE = re.compile(r"(0B|\d+(?:\.\d+)? [KMGTPEZY]?B)\s+(\S.*)", re.ASCII)
_CALL = re.compile(
    r"rank=(\d{1,7}) \| comm op: ([^|]{1,120}) \| time \(ms\): (\d+(?:\.\d+)?) \| msg size: ([\d.]+ ?[KMGTPEZY]?B)"
    r" \| algbw \(Gbps\): (\d+(?:\.\d+)?) +\| busbw \(Gbps\): (\d+(?:\.\d+)?)",
    re.ASCII,
)
_BETWEEN_TWO = frozenset(("pt2pt", "send", "recv", "isend", "irecv"))
_OF_BLOCKS = frozenset(("all_gather", "reduce_scatter", "gather", "scatter"))


class DeepSpeedReader(OpenTables):
    """Tables of the benchmark and of the summary, by job, and of single calls by operation."""

    no_row = NO_ROW

    def __init__(self, context: Context, sink: Sink) -> None:
        super().__init__(context, sink)
        self._calls = Groups(sink)

    def _heads(self, line: Line) -> bool:
        text = line.text
        if "---- Perf" in text and (found := _TITLE.search(text)) is not None:
            self._begin_benchmark(line, found)
        elif "Comm. Op" in text and all(part in text for part in _SUMMARY):
            start = text.index("Comm. Op")
            one = self._begin(Table(LOGGER, line.number), line, text[:start].rstrip(" ") if start else "")
            one.headings = re.split(r"\s{2,}", text[start:].strip())
        elif "comm op:" in text and (found := _CALL.search(text)) is not None:
            self._call(line, found)
        else:
            return False
        return True

    def finish(self) -> None:
        """Ends all tables."""
        super().finish()
        self._calls.flush()

    def _begin_benchmark(self, line: Line, found: re.Match[str]) -> None:
        op = found.group(1)
        table = Table(BENCHMARK, line.number, f"Performance of {op} on {found.group(2)} devices", line.job)
        table.tool = "communication benchmark of DeepSpeedExamples or EleutherAI's cookbook"
        table.num_ranks = int(found.group(2))
        _name(table, op)
        self._begin(table, line, line.text[: found.start()], ("Duration", "Throughput", "BusBW"))

    def _column(self, one: OpenTable, heading: str) -> Column:
        units = [unit for word in _BRACKETS.findall(heading) if (unit := unit_of(word)) is not None]
        default = GBIT_PER_SECOND if heading in ("Throughput", "BusBW") else 1.0
        scale = units[0].scale if units else default
        if heading.startswith(("Duration", "Avg Latency")):
            return Column(Cell.TIME, unit=scale)
        if heading.startswith(("BusBW", "busbw_avg")):
            return Column(Cell.BUSBW, unit=scale)
        return Column(
            Cell.OTHER, unit=scale, name="tput" if heading.startswith(("Throughput", "tput_avg")) else heading
        )

    def _row(self, one: OpenTable, text: str, number: int) -> bool:
        row = (self._benchmark_row if one.table.format == BENCHMARK else self._summary_row)(one, text.strip(), number)
        if row is not None:
            self._add(one, row)
        return row is not None

    def _part(self, one: OpenTable, line: Line, text: str) -> bool:
        if one.table.format == BENCHMARK:
            if (found := _UNITS.search(text)) is not None:
                unit, duration = found.group(1), "Duration (us)" if "Duration (us)" in text else "Duration"
                self._set_headings(one, (duration, f"Throughput ({unit})", f"BusBW ({unit})"))
            return found is not None or bool(text and not text.strip("-"))
        op = _OP.fullmatch(text)
        if op is None or (collective_in(op.group(1)) is None and op.group(1) not in _BETWEEN_TWO):
            return False
        if one.table.rows:
            self._sink.emit(one.table)
        one.num_rows = 0
        one.table = Table(LOGGER, one.title.number, op.group(0)[:200], line.job, tool="DeepSpeed's CommsLogger")
        one.table.columns = {self._column(one, heading).field: heading for heading in one.headings[2:]}
        one.table.settings["average"] = "without the lowest and highest 10 %"
        _name(one.table, op.group(1))
        return True

    def _benchmark_row(self, one: OpenTable, text: str, number: int) -> Row | None:
        found = _ROW.fullmatch(text)
        time = quantity(found["time"]) if found is not None else None
        duration, tput, busbw = (self._column(one, heading) for heading in one.headings)
        if found is None or time is None or (time.unit is None and one.headings[0] == "Duration"):
            return None
        count = int(found["count"])
        size = _exact(count * int(found["bytes"]), Sizes().bytes_of(found["size"]))
        if not one.table.rows:
            one.table.infer("size_bytes", "elements x bytes", "the column Description, where the rounded size agrees")
        others = (("tput", Printed(found["tput"], tput.unit)),)
        side = Side("", time.printed(duration.unit), busbw=Printed(found["busbw"], busbw.unit), others=others)
        return Row(number, size, (side,), count)

    def _summary_row(self, one: OpenTable, text: str, number: int) -> Row | None:
        found, headings = _SIZE.fullmatch(text), one.headings[2:]
        words = found.group(2).split() if found is not None else []
        numbers = [read for word in words if (read := quantity(word)) is not None and read.unit is None]
        if found is None or not len(words) == len(numbers) == len(headings) or not one.table.title:
            return None
        if not one.table.rows:
            one.table.infer("size_bytes", "powers of 1024", "DeepSpeed prints sizes so, rounded to two places")
        columns = [self._column(one, heading) for heading in headings]
        figures = {column.field: Printed(one.text, column.unit) for column, one in zip(columns, numbers, strict=True)}
        time, busbw = figures.pop("time", None), figures.pop("busbw", None)
        side = Side("", time, busbw=busbw, others=tuple(figures.items()))
        return Row(number, Sizes().bytes_of(found.group(1)), (side,))

    def _call(self, line: Line, found: re.Match[str]) -> None:
        rank, op, time, size, algbw, busbw = found.groups()
        op = op.split("|")[0].strip()
        side = Side("", Printed(time, MILLISECONDS), Printed(algbw, GBIT_PER_SECOND), Printed(busbw, GBIT_PER_SECOND))
        row = Row(line.number, Sizes().bytes_of(size), (side,))
        self._calls.add((rank, op), row, lambda: _table_of_calls(op, rank, line.job))


def _table_of_calls(op: str, rank: str, job: str) -> Table:
    table = Table(LOGGER, 0, f"calls of {op} on rank {rank}", job, tool="DeepSpeed's CommsLogger")
    table.columns = {"time": "time (ms)", "algbw": "algbw (Gbps)", "busbw": "busbw (Gbps)"}
    table.settings["rank"] = rank
    table.infer("size_bytes", "powers of 1024", "DeepSpeed prints sizes so, rounded to two places")
    _name(table, op.split(" ")[0], "algbw")
    return table


def _exact(described: int, printed: int | None) -> int | None:
    """Returns the bytes that the description gives, unless they are not those that were printed, rounded."""
    if printed is None or abs(described - printed) <= 0.01 * printed:
        return described if described < MAX_BYTES else None
    return printed


def _name(table: Table, op: str, rate: str = "tput") -> None:
    """Fills what an operation's name says, and how these programs compute the throughput that is called `rate`."""
    table.settings["op"] = op
    table.collective = "send_recv" if op in _BETWEEN_TWO else collective_in(op)
    if table.collective == "all_reduce":
        table.infer(rate, "2 x size / time", "these programs count the data of an all-reduce twice")
    elif table.collective in _OF_BLOCKS:
        table.infer(rate, "ranks x size / time", "these programs multiply the size of a rank's block")
        table.size_means = SizeMeans.ONE_BLOCK
