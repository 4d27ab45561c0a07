"""Matrices of perftest: what each network adapter reaches to each other one, as CSV.

For: a header of adapters (mlx5_0, Local_mlx5_1, …) and a line for each. Not for: perftest's own output.

The file has neither unit nor measure; the file's name may say which of perftest's programs it was.
"""

from __future__ import annotations

import re
from math import isfinite
from typing import Any, BinaryIO

from ringtree.logs.data_lines import cells_of, data_lines, first_lines
from ringtree.logs.reading import Context, Sink, UnreadableFileError
from ringtree.logs.records import Document

_ADAPTER = re.compile(
    r"(?:[A-Za-z][\w.-]{0,30}[_:-])?(?:mlx[45]|hfi1|irdma|bnxt_re|rdmap|efa|roce\w{0,8}|ib|cxi|hns|mana)_?\d{1,3}(?:s\d+)?",
    re.IGNORECASE,
)
_MAX_ADAPTERS = 1024
_MIN_ADAPTERS = 2
NOT_A_ROW = "a line of a matrix of adapters that is no row of it"


class NicMatrix:
    """A document with the names and a list of rows."""

    format = "nic_matrix"

    def sniff(self, head: str) -> bool:
        """A first line of adapters, after one cell for the names of the lines."""
        lines = first_lines(head, 1)
        return bool(lines) and _adapters(lines[0]) is not None

    def read(self, source: BinaryIO, context: Context, sink: Sink) -> None:
        """Reads all lines. Raises UnreadableFileError if none is a row."""
        local = Sink(sink.emit)
        lines = data_lines(source, local)
        first_number, first = next(lines, (0, ""))
        columns = _adapters(first)
        if columns is None:
            raise UnreadableFileError("its first line has no adapters")
        names: list[str] = []
        values: list[list[float | None]] = []
        last = first_number
        num_missing = 0
        for number, line in lines:
            row = _row(line, len(columns))
            if row is None or len(names) >= _MAX_ADAPTERS:
                local.skip(NOT_A_ROW, number, line)
                continue
            names.append(row[0])
            values.append(row[1])
            num_missing += sum(value is None for value in row[1])
            last = number
        if not names:
            raise UnreadableFileError("no line begins with an adapter")
        data: dict[str, Any] = {"clients": names, "servers": columns, "values": values, "num_missing": num_missing}
        document = Document("nic_matrix", "nic_matrix", first_number, data, last_line=last)
        _measure(document, context.name)
        sink.merge(local)
        sink.emit(document)


def _adapters(line: str) -> list[str] | None:
    cells = cells_of(line, ",")
    if cells is None or not _MIN_ADAPTERS < len(cells) <= _MAX_ADAPTERS:
        return None
    names = [cell.strip() for cell in cells[1:]]
    return names if all(_ADAPTER.fullmatch(name) is not None for name in names) else None


def _row(line: str, count: int) -> tuple[str, list[float | None]] | None:
    cells = cells_of(line, ",")
    if cells is None or len(cells) != count + 1 or _ADAPTER.fullmatch(cells[0].strip()) is None:
        return None
    return cells[0].strip(), [_value(cell) for cell in cells[1:]]


def _value(cell: str) -> float | None:
    """Returns a measured number; none is negative (the script that writes such files has -1 for a failure)."""
    try:
        value = float(cell)
    except ValueError:
        return None
    return value if isfinite(value) and value >= 0 else None


def _measure(document: Document, name: str) -> None:
    base = name.replace("\\", "/").rpartition("/")[2].lower()
    latency, bandwidth = "lat" in re.split(r"[^a-z]+", base), "bw" in re.split(r"[^a-z]+", base)
    if latency == bandwidth:
        document.data["measure"] = document.data["unit"] = None
    elif latency:
        document.data["measure"], document.data["unit"] = "latency", "us"
        document.infer("measure", "latency in us", "the file's name; perftest prints us")
    else:
        document.data["measure"], document.data["unit"] = "bandwidth", "MiB/s"
        document.infer(
            "measure", "bandwidth in MiB/s", "the file's name; perftest prints MB/s of 2^20 bytes unless asked"
        )
