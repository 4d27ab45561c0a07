"""AIConfigurator's communication data, as CSV: framework,version,device,op_name,…,num_gpus,message_size,latency.

For: nccl_perf and custom_allreduce_perf. Not for: its other data (GEMM, attention), Parquet files.

message_size counts elements, latency is in milliseconds. Its collector runs nccl-tests and takes the first time of a
row, which is out of place. A file may hold the same size twice: all rows are kept.
"""

from __future__ import annotations

from operator import itemgetter
from typing import BinaryIO

from ringtree.logs.data_lines import cells_of, data_lines, first_lines
from ringtree.logs.groups import Groups
from ringtree.logs.quantities import is_number, quantity, whole_number
from ringtree.logs.reading import Context, Sink, UnreadableFileError
from ringtree.logs.records import MILLISECONDS, NOT_STATED, OUT_OF_PLACE, Fact, Format, Printed, Row, Side, Table
from ringtree.logs.words import collective_in, element_bytes

_REQUIRED = frozenset(("op_name", "num_gpus", "message_size", "latency"))
_DTYPES = ("nccl_dtype", "allreduce_dtype")
_KEY = ("framework", "version", "device", "op_name", "kernel_source", "num_gpus")
OTHER_LENGTH = "a line with another number of cells than the headings"
NO_NUMBER = "a line of AIConfigurator's without a number of elements and a latency"


class AIConfigurator:
    """Tables by everything but size and latency, in the order of their first rows."""

    format = Format("aiconfigurator", Fact.EXACT_SIZES)

    def sniff(self, head: str) -> bool:
        """Its headings are unmistakable."""
        lines = first_lines(head, 1)
        titles = set(lines[0].split(",")) if lines else set()
        return titles >= _REQUIRED and not titles.isdisjoint(_DTYPES)

    def read(self, source: BinaryIO, context: Context, sink: Sink) -> None:
        """Reads all lines. Raises UnreadableFileError if none is a row."""
        lines = data_lines(source, sink)
        _, first = next(lines, (0, ""))
        titles = first.split(",")
        place = {title: index for index, title in enumerate(titles)}
        dtype_title = next((title for title in _DTYPES if title in place), None)
        if dtype_title is None or not place.keys() >= _REQUIRED:
            raise UnreadableFileError("its first line is not AIConfigurator's")
        key_titles = (*(title for title in _KEY if title in place), dtype_title)
        key_of = itemgetter(*(place[title] for title in key_titles))
        groups = Groups(sink)
        for number, line in lines:
            cells = cells_of(line, ",")
            if cells is None or len(cells) != len(titles):
                sink.skip(OTHER_LENGTH, number, line)
                continue
            key = key_of(cells)
            facts = dict(zip(key_titles, key, strict=True))
            row = _row(number, dict(zip(titles, cells, strict=True)), facts[dtype_title])
            if row is None:
                sink.skip(NO_NUMBER, number, line)
            else:
                groups.add(key, row, lambda facts=facts, dtype=dtype_title: _begin(facts, dtype))  # type: ignore[misc]
        if groups.num_rows == 0:
            raise UnreadableFileError("no line has as many cells as the headings")
        groups.flush()


def _row(number: int, cells: dict[str, str], dtype: str) -> Row | None:
    count, latency = whole_number(cells["message_size"]), cells["latency"].strip()
    if count is None or not is_number(latency):
        return None
    power, each = quantity(cells.get("power", "")), element_bytes(dtype)
    others = (("power", Printed(power.text)),) if power is not None else ()
    size = count * each if each is not None else None
    side = Side(_place_of(cells), Printed(latency, MILLISECONDS), others=others)
    return Row(number, size, (side,), count, dtype)


def _place_of(facts: dict[str, str]) -> str:
    return OUT_OF_PLACE if facts.get("kernel_source", "").upper() == "NCCL" else NOT_STATED


def _begin(facts: dict[str, str], dtype_title: str) -> Table:
    table = Table(AIConfigurator.format, 0)
    table.tool = "AIConfigurator's collector"
    table.collective = collective_in(facts["op_name"])
    table.num_ranks = whole_number(facts["num_gpus"])
    if facts.get("device"):
        table.devices = [facts["device"]]
    table.columns = {"time": "latency"}
    table.settings = {
        title: facts[title] for title in ("framework", "kernel_source", "op_name", dtype_title) if facts.get(title)
    }
    table.title = f"{facts['op_name']} {facts[dtype_title]} on {facts['num_gpus']} GPUs"
    table.infer("unit of latency", "ms", "the collector multiplies nccl-tests' microseconds by 1e-3")
    each = element_bytes(facts[dtype_title])
    if each is None:
        table.infer(
            "size_bytes", "not known", f"message_size counts elements, and {facts[dtype_title]} is not a known type"
        )
    else:
        table.infer("size_bytes", f"message_size x {each}", f"it counts elements of type {facts[dtype_title]}")
    if _place_of(facts) == OUT_OF_PLACE:
        table.library, table.library_version = "nccl", facts.get("version") or None
        table.infer("library_version", table.library_version, "the collector writes NCCL's version there")
        table.infer("place", OUT_OF_PLACE, "the collector takes the first time of nccl-tests' row")
    elif facts.get("version"):
        table.settings["version"] = facts["version"]
    return table
