"""Gloo's own benchmark: Device, Algorithm, Options, then elements, min, p50, p99, max, and a bandwidth.

For: all versions of its output, with and without a column of sizes. Not for: benchmarks of Gloo through PyTorch.

Times are of single iterations of all threads on rank 0. Its GB/s are of 2^30 bytes. Old versions print elements only;
their size is concluded where the bandwidth permits one number of bytes an element.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from ringtree.logs.groups import add_row
from ringtree.logs.lines import Line
from ringtree.logs.quantities import is_number
from ringtree.logs.reading import Context, Sink
from ringtree.logs.records import MICROSECONDS, Printed, Row, Side, Table
from ringtree.logs.words import collective_in

FORMAT = "gloo_benchmark"
NO_ROW = "a table of Gloo's benchmark without a row: the run ended before its first one"
_GIBI = float(1 << 30)
_MAX_FOREIGN = 500

_HEADING = re.compile(
    r"size \(B\)|elements|(?:min|p50|p99|max) \((?:us|ns)\)|(?:avg|bandwidth) \(GB/s\)|samples|iterations"
)
_PREAMBLE = re.compile(r"(?:^|\s)(Devices?|Algorithm|Options):\s+(\S.{0,300})")
_NAME = re.compile(r"\s*([A-Z][A-Z0-9]{2,20}(?:_[A-Z0-9]+){0,6})\s*")
_OPTION = re.compile(r"(\w{1,20})=([\w.-]{1,40})")
_COLLECTIVE = re.compile(
    r"(?:cuda_)?(?:new_)?(allreduce|allgather|alltoall|barrier|broadcast|reduce_scatter|reduce|scatter|gather|sendrecv)(?:_(\w+))?"
)


@dataclass
class _Open:
    table: Table
    heading: Line
    headings: list[str]
    element_bytes: int | None = None
    num_foreign: int = 0
    num_rows: int = 0


class GlooBenchmarkReader:
    """What stood before the table, and the open table."""

    def __init__(self, context: Context, sink: Sink) -> None:
        self._context, self._sink = context, sink
        self._said: dict[str, str] = {}
        self._one: _Open | None = None
        self._between_rules = False

    def feed(self, line: Line) -> bool:
        """Takes the preamble, headings and rows."""
        text = line.text
        one = self._one
        if one is None and not self._between_rules and not ("s)" in text or ":  " in text or "====" in text):
            return False
        if one is not None and one.heading.job == line.job and self._row(one, line):
            one.num_foreign = 0
            return True
        if "(us)" in text or "(ns)" in text:
            return self._begin(line)
        if text.startswith("====") and not text.strip("= "):
            self._close()
            self._between_rules = True
            return True
        if ":  " in text and (found := _PREAMBLE.search(text)) is not None:
            if found.group(1) != "Options" or "processes=" in text:
                self._said["Device" if found.group(1) == "Devices" else found.group(1)] = found.group(2).strip()
                self._between_rules = False
                return True
        elif self._between_rules and (found := _NAME.fullmatch(text)) is not None:
            self._said = {"Algorithm": found.group(1).lower()}
            return True
        elif self._between_rules and text.strip() in ("BENCHMARK RESULTS", "VERIFY ERRORS"):
            return True
        if one is not None:
            one.num_foreign += 1
            if one.num_foreign > _MAX_FOREIGN:
                self._close()
        return False

    def finish(self) -> None:
        """Ends an open table."""
        self._close()

    def _begin(self, line: Line) -> bool:
        headings = _HEADING.findall(line.text)
        if not {"elements", "p50 (us)"} <= set(headings) and not {"elements", "p50 (ns)"} <= set(headings):
            return False
        self._close()
        table = Table(FORMAT, line.number, self._said.get("Algorithm", ""), line.job)
        table.tool, table.library = "Gloo's benchmark", "gloo"
        table.environment = dict(self._context.environment)
        _describe(table, self._said)
        self._said = {}
        one_thread = table.settings.get("threads") == "1"
        table.columns = {_name(text, one_thread): text for text in headings if text not in ("size (B)", "elements")}
        if "avg (GB/s)" in headings or "bandwidth (GB/s)" in headings:
            table.infer("unit of GB/s", "2^30 bytes/s", "the program divides by 1024^3")
        self._one = _Open(table, line, headings)
        self._between_rules = False
        return True

    def _row(self, one: _Open, line: Line) -> bool:
        words = line.text.split()
        if len(words) != len(one.headings):
            return False
        if not all(is_number(word) for word in words):
            return False
        cells = dict(zip(one.headings, words, strict=True))
        size, count = cells.pop("size (B)", None), cells.pop("elements")
        if not count.isdigit() or len(count) > 18 or (size is not None and (not size.isdigit() or len(size) > 18)):
            return False
        one_thread = one.table.settings.get("threads") == "1"
        numbers = {_name(text, one_thread): Printed(word, _unit(text)) for text, word in cells.items()}
        time, algbw = numbers.pop("time", None), numbers.pop("algbw", None)
        side = Side("", time, algbw, others=tuple(numbers.items()))
        row = Row(line.number, int(size) if size is not None else None, (side,), int(count))
        one.table = add_row(one.table, row, self._sink)
        one.num_rows += 1
        return True

    def _close(self) -> None:
        one, self._one = self._one, None
        if one is None:
            return
        if one.num_rows == 0:
            self._sink.skip(NO_ROW, one.heading.number, one.heading.text)
            return
        _conclude_sizes(one.table)
        self._sink.emit(one.table)


def _name(text: str, one_thread: bool) -> str:
    if text.startswith("p50"):
        return "time"
    if text.endswith("(GB/s)"):
        return "algbw" if one_thread else "bandwidth"
    return text.partition(" ")[0]


def _unit(text: str) -> float:
    if text.endswith("(GB/s)"):
        return _GIBI
    return 1e-9 if text.endswith("(ns)") else MICROSECONDS if text.endswith("(us)") else 1.0


def _describe(table: Table, said: dict[str, str]) -> None:
    algorithm = said.get("Algorithm", "")
    if (found := _COLLECTIVE.fullmatch(algorithm)) is not None:
        table.collective = collective_in(found.group(1))
        if found.group(2) and found.group(2) != "v":
            table.algorithm = found.group(2)
    if algorithm:
        table.settings["benchmark"] = algorithm
    if "Device" in said:
        table.settings["device"] = said["Device"]
    options = dict(_OPTION.findall(said.get("Options", "")))
    ranks = options.pop("processes", "")
    if ranks.isdigit() and len(ranks) < 8:
        table.num_ranks = int(ranks)
    table.settings.update(options)


def _conclude_sizes(table: Table) -> None:
    """Old versions do not print bytes: the bandwidth lies between those of the slowest and the fastest iteration."""
    if any(row.size_bytes is not None for row in table.rows):
        return
    possible = {1, 2, 4, 8}
    for row in table.rows:
        possible &= _element_sizes(row)
    if len(possible) != 1:
        table.infer("size_bytes", "not stated", "the output counts elements and does not say their size")
        return
    size = possible.pop()
    table.infer("size_bytes", f"elements x {size}", "elements of no other size fit the bandwidths and times")
    table.rows = [Row(row.line, row.count * size, row.sides, row.count) for row in table.rows if row.count is not None]


def _element_sizes(row: Row) -> set[int]:
    """Returns the bytes of an element that a row permits, within what it was rounded to."""
    numbers = dict(row.sides[0].others)
    algbw, low, high = row.sides[0].algbw, numbers.get("min"), numbers.get("max")
    if algbw is None or low is None or high is None or row.count is None:
        return {1, 2, 4, 8}
    least = (algbw.value - algbw.resolution / 2) * low.value
    most = (algbw.value + algbw.resolution / 2) * (high.value + high.resolution)
    return {size for size in (1, 2, 4, 8) if least <= row.count * size <= most}
