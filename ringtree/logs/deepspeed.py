"""Communication benchmarks of DeepSpeedExamples and EleutherAI's cookbook, and DeepSpeed's log of communication.

For: "---- Performance of all_reduce on 16 devices ----" with its rows, the summary of CommsLogger, and the lines that
it prints for each call. Not for: training logs otherwise.

Their throughput of an all-reduce is 2 x size / time, twice nccl-tests' algbw; of all-gather and reduce-scatter it is
of all ranks' blocks. It stands in `others` as "tput". Sizes are rounded, in powers of 1024 that are called KB and MB.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from ringtree.logs.groups import add_row
from ringtree.logs.lines import Line
from ringtree.logs.quantities import Quantity, quantity, unit_of
from ringtree.logs.reading import Context, Sink
from ringtree.logs.records import GBIT_PER_SECOND, MILLISECONDS, Printed, Row, Side, Table
from ringtree.logs.sizes import MAX_BYTES, Sizes
from ringtree.logs.words import collective_in

BENCHMARK, LOGGER = "deepspeed_benchmark", "deepspeed_comms_logger"
NO_ROW = "a table of DeepSpeed's without a row: the run ended before its first one"
_MAX_FOREIGN = 500

_TITLE = re.compile(r"-{4} Performance of ([a-z][a-z0-9_]{1,40}) on (\d{1,7}) devices -{3,}")
_UNITS = re.compile(r"Throughput \((Gbps|GBps)\)")
_ROW = re.compile(
    r"(?P<size>\d+(?:\.\d+)? ?[KMGTPEZY]?B|\d+)\s+(?P<count>\d{1,18})x(?P<bytes>\d{1,9})\s+"
    r"(?P<time>\d+(?:\.\d+)?(?: (?:us|ms|s))?)\s+(?P<tput>\d+(?:\.\d+)?)\s+(?P<busbw>\d+(?:\.\d+)?)",
    re.ASCII,
)
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


@dataclass
class _Open:
    table: Table
    line: Line
    prefix: str
    headings: tuple[str, ...] = ()
    scale: float = GBIT_PER_SECOND
    raw: bool = False
    num_foreign: int = 0


class DeepSpeedReader:
    """An open table of the benchmark or of the summary, and tables of single calls by operation."""

    def __init__(self, context: Context, sink: Sink) -> None:
        self._context, self._sink = context, sink
        self._one: _Open | None = None
        self._calls: dict[str, Table] = {}

    def feed(self, line: Line) -> bool:
        """Takes titles, headings, operations and rows."""
        text = line.text
        if self._one is None and "omm" not in text and "---- P" not in text:
            return False
        if "---- Perf" in text and (found := _TITLE.search(text)) is not None:
            self._begin_benchmark(line, found)
            return True
        if "Comm. Op" in text and all(part in text for part in _SUMMARY):
            self._begin_summary(line)
            return True
        if "comm op:" in text and (found := _CALL.search(text)) is not None:
            self._call(line, found)
            return True
        one = self._one
        if one is None:
            return False
        text = text.removeprefix(one.prefix).strip()
        taken = (
            self._benchmark_line(one, line, text)
            if one.table.format == BENCHMARK
            else self._summary_line(one, line, text)
        )
        one.num_foreign = 0 if taken else one.num_foreign + 1
        if one.num_foreign > _MAX_FOREIGN:
            self._close()
        return taken

    def finish(self) -> None:
        """Ends all tables."""
        self._close()
        for table in self._calls.values():
            self._sink.emit(table)
        self._calls.clear()

    def _begin_benchmark(self, line: Line, found: re.Match[str]) -> None:
        self._close()
        op = found.group(1)
        table = Table(BENCHMARK, line.number, f"Performance of {op} on {found.group(2)} devices", line.job)
        table.tool = "communication benchmark of DeepSpeedExamples or EleutherAI's cookbook"
        table.num_ranks = int(found.group(2))
        table.environment = dict(self._context.environment)
        table.columns = {"time": "Duration", "tput": "Throughput", "busbw": "BusBW"}
        _name(table, op)
        self._one = _Open(table, line, line.text[: found.start()])

    def _benchmark_line(self, one: _Open, line: Line, text: str) -> bool:
        if not text or not text.strip("-"):
            return bool(text)
        if (found := _UNITS.search(text)) is not None:
            unit = unit_of(found.group(1))
            one.scale = unit.scale if unit is not None else GBIT_PER_SECOND
            one.raw = "Duration (us)" in text
            one.table.columns = {
                "time": "Duration (us)" if one.raw else "Duration",
                "tput": found.group(0),
                "busbw": f"BusBW ({found.group(1)})",
            }
            return True
        found = _ROW.fullmatch(text)
        if found is None:
            return False
        time = quantity(found.group("time"))
        if time is None or (time.unit is None and not one.raw):
            return False
        count = int(found.group("count"))
        printed = Sizes().bytes_of(found.group("size"))
        size = _exact(count * int(found.group("bytes")), printed)
        side = Side(
            "",
            time.printed(1e-6),
            busbw=Printed(found.group("busbw"), one.scale),
            others=(("tput", Printed(found.group("tput"), one.scale)),),
        )
        if not one.table.rows:
            one.table.infer("size_bytes", "elements x bytes", "the column Description, where the rounded size agrees")
        one.table = add_row(one.table, Row(line.number, size, (side,), count), self._sink)
        return True

    def _begin_summary(self, line: Line) -> None:
        self._close()
        start = line.text.index("Comm. Op")
        headings = tuple(re.split(r"\s{2,}", line.text[start:].strip()))
        table = Table(LOGGER, line.number)
        self._one = _Open(table, line, line.text[:start].rstrip(" ") if start else "", headings)

    def _summary_line(self, one: _Open, line: Line, text: str) -> bool:
        found = _SIZE.fullmatch(text)
        if found is None:
            op = _OP.fullmatch(text)
            if op is None or (collective_in(op.group(1)) is None and op.group(1) not in _BETWEEN_TWO):
                return False
            self._next_op(one, line, op)
            return True
        words = found.group(2).split()
        names = one.headings[2:]
        if len(words) != len(names) or not one.table.title:
            return False
        numbers = [quantity(word) for word in words]
        if not all(number is not None and number.unit is None for number in numbers):
            return False
        cells = dict(zip(names, numbers, strict=True))
        sizes = Sizes()
        size = sizes.bytes_of(found.group(1))
        if not one.table.rows:
            one.table.infer("size_bytes", "powers of 1024", "DeepSpeed prints sizes so, rounded to two places")
        one.table = add_row(one.table, Row(line.number, size, (_summary_side(cells),)), self._sink)
        return True

    def _next_op(self, one: _Open, line: Line, op: re.Match[str]) -> None:
        if one.table.rows:
            self._sink.emit(one.table)
        table = Table(LOGGER, one.line.number, op.group(0)[:200], line.job)
        table.tool = "DeepSpeed's CommsLogger"
        table.columns = {_summary_name(name): name for name in one.headings[2:]}
        table.settings["average"] = "without the lowest and highest 10 %"
        _name(table, op.group(1))
        one.table = table

    def _call(self, line: Line, found: re.Match[str]) -> None:
        rank, op, time, size, algbw, busbw = found.groups()
        op = op.split("|")[0].strip()
        key = f"{rank} {op}"
        table = self._calls.get(key)
        if table is None:
            if len(self._calls) >= 1000:
                self.finish()
            table = Table(LOGGER, line.number, f"calls of {op} on rank {rank}", line.job)
            table.tool = "DeepSpeed's CommsLogger"
            table.columns = {"time": "time (ms)", "algbw": "algbw (Gbps)", "busbw": "busbw (Gbps)"}
            table.settings["rank"] = rank
            table.infer("size_bytes", "powers of 1024", "DeepSpeed prints sizes so, rounded to two places")
            _name(table, op.split(" ")[0], "algbw")
        side = Side("", Printed(time, MILLISECONDS), Printed(algbw, GBIT_PER_SECOND), Printed(busbw, GBIT_PER_SECOND))
        self._calls[key] = add_row(table, Row(line.number, Sizes().bytes_of(size), (side,)), self._sink)

    def _close(self) -> None:
        one, self._one = self._one, None
        if one is None:
            return
        if one.table.rows:
            self._sink.emit(one.table)
        else:
            self._sink.skip(NO_ROW, one.line.number, one.line.text)


def _exact(described: int, printed: int | None) -> int | None:
    """Returns the bytes that the description gives, unless they are not those that were printed, rounded."""
    if printed is None or abs(described - printed) <= 0.01 * printed:
        return described if described < MAX_BYTES else None
    return printed


def _summary_name(heading: str) -> str:
    if heading.startswith("Avg Latency"):
        return "time"
    if heading.startswith("busbw_avg"):
        return "busbw"
    return "tput" if heading.startswith("tput_avg") else heading


def _summary_side(cells: dict[str, Quantity | None]) -> Side:
    numbers: dict[str, Printed] = {}
    for heading, number in cells.items():
        if number is not None:
            scale = MILLISECONDS if "(ms)" in heading else GBIT_PER_SECOND if "(Gbps)" in heading else 1.0
            numbers[_summary_name(heading)] = Printed(number.text, scale)
    time, busbw = numbers.pop("time", None), numbers.pop("busbw", None)
    return Side("", time, busbw=busbw, others=tuple(numbers.items()))


def _name(table: Table, op: str, rate: str = "tput") -> None:
    """Fills what an operation's name says, and how these programs compute the throughput that is called `rate`."""
    table.settings["op"] = op
    table.collective = "send_recv" if op in _BETWEEN_TWO else collective_in(op)
    if table.collective == "all_reduce":
        table.infer(rate, "2 x size / time", "these programs count the data of an all-reduce twice")
    elif table.collective in _OF_BLOCKS:
        table.infer(rate, "ranks x size / time", "these programs multiply the size of a rank's block")
        table.settings["size_means"] = "bytes of one rank's block"
