"""What rccl-tests writes with -x FILE -Z json or -Z csv: a record for each size, place and cycle.

For: those files. Not for: what its programs print (ringtree.logs.nccltests), its -J files (nccltests_json).

The two places of a size stand in records of their own, one behind the other: they become one row with two sides.
"""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Iterator
from typing import Any, BinaryIO

from ringtree.logs.groups import Groups
from ringtree.logs.json_stream import MalformedError, members
from ringtree.logs.nccltests.deduce import Figures
from ringtree.logs.nccltests.ranks import RankLines
from ringtree.logs.quantities import is_number, whole_number
from ringtree.logs.reading import Context, Sink, UnreadableFileError
from ringtree.logs.records import (
    GB_PER_SECOND,
    IN_PLACE,
    MICROSECONDS,
    OUT_OF_PLACE,
    Fact,
    Format,
    Printed,
    Row,
    RowReason,
    Side,
    Table,
)
from ringtree.logs.words import collective_in

FORMAT = Format("rccl-tests-records", Fact.COUNT_OF_SIZE)
BROKEN = "the file breaks off, or is not a list of records from there on"
UNREADABLE = RowReason("a record of rccl-tests that lacks a field")
_MARK = "numCycle"
_PLACES = {"0": OUT_OF_PLACE, "1": IN_PLACE}
_HEAD = 4096
_MAX_LINE = 1 << 16
_MAX_TEXT = 100
_Record = dict[str, str]


class RcclTestsRecords:
    """A FileReader; a table for each collective, element type, reduction, number of ranks and cycle."""

    def sniff(self, head: str) -> bool:
        """Says whether the first record names its cycle."""
        return head.startswith(_MARK + ",") or (head[:1] in ("[", "{") and f'"{_MARK}"' in head[:_HEAD])

    def read(self, source: BinaryIO, context: Context, sink: Sink) -> None:
        """Reads the file. Raises UnreadableFileError if its first record is none."""
        groups = Groups(sink, _add_ranks)
        first: tuple[int, _Record] | None = None  # that waits for the second place of its size
        try:
            for line, record in _records(source):
                if (reason := _missing(record)) is not None:
                    if first is None and groups.num_rows == 0:
                        raise UnreadableFileError(f"its first record has no {reason}")
                    sink.skip(UNREADABLE, line, str(record))
                elif first is not None and _is_pair(first[1], record):
                    _add(groups, first[0], (first[1], record))
                    first = None
                else:
                    if first is not None:
                        _add(groups, first[0], (first[1],))
                    first = line, record
        except MalformedError as error:
            if first is None and groups.num_rows == 0:
                raise UnreadableFileError(str(error)) from error
            sink.skip(BROKEN, 0, str(error))
        if first is not None:
            _add(groups, first[0], (first[1],))
        if groups.num_rows == 0:
            raise UnreadableFileError("it has no record")
        groups.flush()


def _records(source: BinaryIO) -> Iterator[tuple[int, _Record]]:
    """Yields (line, record); line 0 in JSON. Raises MalformedError where the file is none."""
    start = source.tell()
    first = source.read(1)
    while first.isspace():
        first = source.read(1)
    source.seek(start)
    if first == b"[":
        decoder = json.JSONDecoder(parse_float=str, parse_int=str, parse_constant=str)
        for _, element in members(source, (), decoder):
            yield 0, _flat(element)
        return
    text = io.TextIOWrapper(source, "utf-8", "replace", newline="")
    lines = iter(lambda: text.readline(_MAX_LINE), "")
    try:
        if first == b"{":
            for number, line in enumerate(lines, 1):
                if line.strip():
                    yield number, _flat(_loaded(line))
        else:
            reader = csv.DictReader(lines)
            for row in reader:
                yield reader.line_num, _flat(row)
    except csv.Error as error:
        raise MalformedError(str(error)) from error
    finally:
        text.detach()  # the file is its owner's to close


def _loaded(line: str) -> Any:
    try:
        return json.loads(line, parse_float=str, parse_int=str, parse_constant=str)
    except (ValueError, RecursionError) as error:
        raise MalformedError(str(error) or "nested too deeply") from error


def _flat(element: Any) -> _Record:
    """Returns the fields that are text or were numbers; an empty record for what is none."""
    items = element.items() if isinstance(element, dict) else ()
    return {str(key): value.strip() for key, value in items if isinstance(value, str) and len(value) <= _MAX_TEXT}


def _missing(record: _Record) -> str | None:
    """Returns what a record lacks."""
    for name in ("numCycle", "name", "type", "redop", "inPlace"):
        if name not in record:
            return name
    if record["inPlace"] not in _PLACES:
        return "place"
    if whole_number(record.get("size", "")) is None:
        return "size"
    return next((name for name in ("time", "algBw", "busBw") if not is_number(record.get(name, ""))), None)


def _is_pair(first: _Record, second: _Record) -> bool:
    """Says whether the second is the first one's size again, in place."""
    figures = ("inPlace", "time", "algBw", "busBw", "wrong")
    same = all(second.get(name) == value for name, value in first.items() if name not in figures)
    return same and (first["inPlace"], second["inPlace"]) == ("0", "1")


def _add(groups: Groups, line: int, records: tuple[_Record, ...]) -> None:
    first = records[0]
    key = tuple(first.get(name) for name in ("numCycle", "name", "nodes", "ranks", "type", "redop"))
    op = first["redop"] if first["redop"] != "none" else None
    row = Row(line, whole_number(first["size"]), tuple(_side(record) for record in records), None, first["type"], op)
    groups.add(key, row, lambda: _table(first))


def _side(record: _Record) -> Side:
    wrong = record.get("wrong", "")
    return Side(
        _PLACES[record["inPlace"]],
        Printed(record["time"], MICROSECONDS),
        Printed(record["algBw"], GB_PER_SECOND),
        Printed(record["busBw"], GB_PER_SECOND),
        Printed(wrong) if is_number(wrong) else None,
    )


def _table(first: _Record) -> Table:
    table = Table(FORMAT, 0, tool="rccl-tests", columns={"time": "time", "algbw": "algBw", "busbw": "busBw"})
    table.collective = collective_in(first["name"])
    if table.collective is None:
        table.infer("collective", "unknown", f"{first['name']!r} is none that is known")
    table.num_hosts = whole_number(first.get("nodes", "")) or None
    names = ("ranks", "ranksPerNode", "gpusPerRank")
    table.settings = {"cycle": first["numCycle"], **{name: first[name] for name in names if name in first}}
    return table


def _add_ranks(table: Table) -> None:
    """The file's ranks are processes; with -g each of them drives several GPUs, which are what NCCL calls ranks."""
    processes, gpus = (whole_number(table.settings.get(name, "")) or None for name in ("ranks", "gpusPerRank"))
    stated = processes * (gpus or 1) if processes is not None else None
    if gpus is not None and gpus > 1 and stated is not None:
        table.infer("num_ranks", stated, f"{processes} processes, {gpus} GPUs of each")
    Figures(table, stated).add_ranks(RankLines())
