"""All-reduce benchmarks in PyTorch that print sentences: ml-engineering's first versions and what grew out of them.

For: "data size: 6.0 GB" with "tput_avg (Gbps): … busbw_avg (Gbps): …", with durations of each trial, or "The average
bandwidth of all_reduce with a 4.0GB payload". Not for: later versions, which print Markdown (tables/markdown.py).

Their throughput is 2 x size / time, twice nccl-tests' algbw: it stands in `others` as "tput".
"""

from __future__ import annotations

import re

from ringtree.logs.groups import add_row
from ringtree.logs.lines import Line
from ringtree.logs.reading import Context, Sink
from ringtree.logs.records import GB_PER_SECOND, GBIT_PER_SECOND, Format, Printed, Row, Side, Table

FORMAT = Format("all_reduce_bench")
NO_ROW = "an all-reduce benchmark without a result: the run ended before it"

_N = r"(\d{1,30}(?:\.\d{1,30})?)"
_DATA_SIZE = re.compile(rf"\bdata size: {_N} GB\s*$", re.ASCII)
_AVERAGES = re.compile(rf"\btput_avg \(Gbps\): {_N}(?: busbw_avg \(Gbps\): {_N})?\s*$", re.ASCII)
_DURATION = re.compile(rf"\s*duration: {_N} sec\s*$", re.ASCII)
_THROUGHPUT = re.compile(rf"\s*algo throughput: (?:{_N} bps, )?{_N} Gbps\s*$", re.ASCII)
_BUSBW = re.compile(rf"\s*busbw: {_N}\s+Gbps\s*$", re.ASCII)
_SENTENCE = re.compile(
    rf"The average bandwidth of all_reduce with a {_N}GB payload \((\d{{1,6}}) trials, (\d{{1,7}}) ranks\):", re.ASCII
)
_RATE = re.compile(rf"\s*(algbw|busbw): {_N} GBps \({_N} Gbps\)\s*$", re.ASCII)
_SHELL = re.compile(r"(?:^|\s)(NUM_GPUS|NUM_NODES|WORLD_SIZE|NNODES)=(\d{1,7})(?=\s|$)")


class AllReduceBenchReader:
    """An open table, which begins with the size of the data."""

    def __init__(self, context: Context, sink: Sink) -> None:
        self._context, self._sink = context, sink
        self._shell: dict[str, int] = {}
        self._table: Table | None = None
        self._first: Line | None = None
        self._size: int | None = None
        self._pending: dict[str, Printed] = {}

    def feed(self, line: Line) -> bool:
        """Takes the lines of these programs, and the number of GPUs that a job script echoed before them."""
        text = line.text
        if "=" in text and ("NUM_" in text or "WORLD_SIZE" in text or "NNODES" in text):
            for name, value in _SHELL.findall(text[:500]):
                self._shell[name] = int(value)
        if ": " not in text and "payload (" not in text:
            return False
        if (found := _DATA_SIZE.search(text)) is not None:
            self._begin(line, found.group(1))
            return True
        if (found := _SENTENCE.search(text)) is not None:
            self._begin(line, found.group(1))
            if self._table is not None:
                self._table.settings["iterations"] = found.group(2)
                self._table.num_ranks = int(found.group(3))
                self._table.inferences = []
            return True
        return self._table is not None and self._part(self._table, line, text)

    def finish(self) -> None:
        """Ends an open table."""
        table, self._table = self._table, None
        if table is None or self._first is None:
            return
        self._give_pending(table, self._first.number)
        if table.rows:
            self._sink.emit(table)
        else:
            self._sink.skip(NO_ROW, self._first.number, self._first.text)

    def _begin(self, line: Line, gigabytes: str) -> None:
        size = _bytes(gigabytes)
        if self._table is not None and size == self._size and self._first is not None and not self._table.rows:
            return  # every rank says it
        self.finish()
        table = Table(FORMAT, line.number, line.text.strip()[:200], line.job)
        table.tool = "an all-reduce benchmark in PyTorch that grew out of J. Rasley's"
        table.conclude("collective", "all_reduce", "that is what programs that print this sentence measure")
        table.environment = dict(self._context.environment)
        for what, names in (("num_ranks", ("NUM_GPUS", "WORLD_SIZE")), ("num_hosts", ("NUM_NODES", "NNODES"))):
            name = next((name for name in names if self._shell.get(name)), "")
            table.conclude(what, self._shell.get(name), f"{name} was echoed before")
        self._table, self._first, self._size, self._pending = table, line, size, {}

    def _part(self, table: Table, line: Line, text: str) -> bool:
        if (found := _AVERAGES.search(text)) is not None:
            numbers = {"tput": Printed(found.group(1), GBIT_PER_SECOND)}
            if found.group(2):
                numbers["busbw"] = Printed(found.group(2), GBIT_PER_SECOND)
            table.columns |= {"tput": "tput_avg (Gbps)", "busbw": "busbw_avg (Gbps)"}
            self._give(table, line.number, numbers)
        elif (found := _DURATION.match(text)) is not None:
            self._give_pending(table, line.number)
            table.columns["time"] = "duration"
            self._pending["time"] = Printed(found.group(1), 1.0)
        elif (found := _THROUGHPUT.match(text)) is not None:
            table.columns["tput"] = "algo throughput"
            self._pending["tput"] = Printed(found.group(2), GBIT_PER_SECOND)
        elif (found := _BUSBW.match(text)) is not None:
            table.columns["busbw"] = "busbw"
            self._pending["busbw"] = Printed(found.group(1), GBIT_PER_SECOND)
            self._give_pending(table, line.number)
        elif (found := _RATE.match(text)) is not None:
            table.columns[found.group(1)] = found.group(1)
            self._pending[found.group(1)] = Printed(found.group(2), GB_PER_SECOND)
            if len(self._pending) > 1:
                self._give_pending(table, line.number)
        else:
            return False
        return True

    def _give_pending(self, table: Table, number: int) -> None:
        numbers, self._pending = self._pending, {}
        if numbers:
            self._give(table, number, numbers)

    def _give(self, table: Table, number: int, numbers: dict[str, Printed]) -> None:
        if "tput" in numbers and not any(one.what == "tput" for one in table.inferences):
            table.infer("tput", "2 x size / time", "these programs count the data of an all-reduce twice")
        tput = numbers.get("tput")
        others = (("tput", tput),) if tput is not None else ()
        side = Side("", numbers.get("time"), numbers.get("algbw"), numbers.get("busbw"), others=others)
        self._table = add_row(table, Row(number, self._size, (side,)), self._sink)


def _bytes(gigabytes: str) -> int | None:
    size = float(gigabytes) * 1e9
    return round(size) if size < 1 << 62 else None
