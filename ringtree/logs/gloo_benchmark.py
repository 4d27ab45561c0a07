"""Gloo's own benchmark: Device, Algorithm, Options, then elements, min, p50, p99, max, and a bandwidth.

For: all versions of its output, with and without a column of sizes. Not for: benchmarks of Gloo through PyTorch.

Times are of single iterations of all threads on rank 0. Its GB/s are of 2^30 bytes. Old versions print elements only;
their size is concluded where the bandwidth permits one number of bytes an element.
"""

from __future__ import annotations

import re

from ringtree.logs.lines import Line
from ringtree.logs.open_tables import OpenTable, OpenTables
from ringtree.logs.quick_rows import Cell, Column
from ringtree.logs.reading import Context, Sink
from ringtree.logs.records import Fact, Format, Row, Table
from ringtree.logs.words import collective_in

FORMAT = Format("gloo_benchmark", Fact.ONE_RUN)
NO_ROW = "a table of Gloo's benchmark without a row: the run ended before its first one"

_HEADING = re.compile(
    r"size \(B\)|elements|(?:min|p50|p99|max) \((?:us|ns)\)|(?:avg|bandwidth) \(GB/s\)|samples|iterations"
)
_UNITS = {"(GB/s)": float(1 << 30), "(us)": 1e-6, "(ns)": 1e-9}
_PREAMBLE = re.compile(r"(?:^|\s)(Devices?|Algorithm|Options):\s+(\S.{0,300})")
_NAME = re.compile(r"\s*([A-Z][A-Z0-9]{2,20}(?:_[A-Z0-9]+){0,6})\s*")
_OPTION = re.compile(r"(\w{1,20})=([\w.-]{1,40})")
_COLLECTIVE = re.compile(
    r"(?:cuda_)?(?:new_)?(allreduce|allgather|alltoall|barrier|broadcast|reduce_scatter|reduce|scatter|gather|sendrecv)(?:_(\w+))?"
)
_ELEMENT_BYTES = {1, 2, 4, 8}


class GlooBenchmarkReader(OpenTables):
    """`_said`: what stood before the table. From version 2 on rules surround the algorithm's name."""

    no_row = NO_ROW

    def __init__(self, context: Context, sink: Sink) -> None:
        super().__init__(context, sink)
        self._said: dict[str, str] = {}
        self._between_rules = False

    def _heads(self, line: Line) -> bool:
        text = line.text
        if "(us)" in text or "(ns)" in text:
            headings = _HEADING.findall(text)
            if "elements" in headings and not {"p50 (us)", "p50 (ns)"}.isdisjoint(headings):
                self._begin(_table(line, self._said), line, headings=headings)
                self._said, self._between_rules = {}, False
                return True
        elif text.startswith("====") and not text.strip("= "):
            self._close(line.job)
            self._between_rules = True
            return True
        elif ":  " in text and (found := _PREAMBLE.search(text)) is not None:
            if found.group(1) != "Options" or "processes=" in text:
                self._said[found.group(1).replace("Devices", "Device")] = found.group(2).strip()
                self._between_rules = False
                return True
        elif self._between_rules and (found := _NAME.fullmatch(text)) is not None:
            self._said = {"Algorithm": found.group(1).lower()}
            return True
        return self._between_rules and text.strip() in ("BENCHMARK RESULTS", "VERIFY ERRORS")

    def _column(self, one: OpenTable, heading: str) -> Column:
        if heading == "elements":
            return Column(Cell.COUNT)
        if heading == "size (B)":
            return Column(Cell.SIZE)
        name, _, unit = heading.partition(" ")
        if unit == "(GB/s)":  # of several threads it is that of all together
            cell = Cell.ALGBW if one.table.settings.get("threads") == "1" else Cell.OTHER
            return Column(cell, unit=_UNITS[unit], name="bandwidth")
        return Column(Cell.TIME if name == "p50" else Cell.OTHER, unit=_UNITS.get(unit, 1.0), name=name)

    def _complete(self, one: OpenTable) -> None:
        """Old versions print no bytes: the bandwidth lies between those of the slowest and the fastest iteration."""
        table = one.table
        if any(row.size_bytes is not None for row in table.rows):
            return
        possible = set.intersection(*map(_element_sizes, table.rows))
        if len(possible) != 1:
            table.infer("size_bytes", "not stated", "the output counts elements and does not say their size")
            return
        size = possible.pop()
        table.infer("size_bytes", f"elements x {size}", "elements of no other size fit the bandwidths and times")
        table.rows = [row._replace(size_bytes=row.count * size) for row in table.rows if row.count is not None]


def _table(line: Line, said: dict[str, str]) -> Table:
    algorithm = said.get("Algorithm", "")
    table = Table(FORMAT, line.number, algorithm, line.job, tool="Gloo's benchmark", library="gloo")
    if (found := _COLLECTIVE.fullmatch(algorithm)) is not None:
        table.collective = collective_in(found.group(1))
        table.algorithm = found.group(2) if found.group(2) != "v" else None
    if algorithm:
        table.settings["benchmark"] = algorithm
    if "Device" in said:
        table.settings["device"] = said["Device"]
    options = dict(_OPTION.findall(said.get("Options", "")))
    ranks = options.pop("processes", "")
    if ranks.isdigit() and len(ranks) < 8:
        table.num_ranks = int(ranks)
    table.settings.update(options)
    if "(GB/s)" in line.text:
        table.infer("unit of GB/s", "2^30 bytes/s", "the program divides by 1024^3")
    return table


def _element_sizes(row: Row) -> set[int]:
    """Returns the bytes of an element that a row permits, within what it was rounded to."""
    numbers = dict(row.sides[0].others)
    algbw, low, high = row.sides[0].algbw, numbers.get("min"), numbers.get("max")
    if algbw is None or low is None or high is None or row.count is None:
        return _ELEMENT_BYTES
    least = (algbw.value - algbw.resolution / 2) * low.value
    most = (algbw.value + algbw.resolution / 2) * (high.value + high.resolution)
    return {size for size in _ELEMENT_BYTES if least <= row.count * size <= most}
