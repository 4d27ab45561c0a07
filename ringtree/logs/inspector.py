"""Lines of NCCL's Inspector (2.28.3 and later): a JSON object for each collective that a rank ran.

For: rows with time and bandwidth as NCCL measured them on the GPU. Not for: its Prometheus files.

What it calls the message's size is the call's count: of one rank's part for all_gather and reduce_scatter, while its
bandwidths count all parts. `Row.size_bytes` is all parts, as everywhere.
"""

from __future__ import annotations

import json
from typing import Any

from ringtree.logs.lines import Line
from ringtree.logs.nccl_names import OF_ONE_RANK, collective
from ringtree.logs.reading import Context, Sink
from ringtree.logs.records import GB_PER_SECOND, MICROSECONDS, NOT_STATED, Printed, Row, Side, Table

_MAX_ROWS = 2000
_MAX_TABLES = 64
_NOT_ONE = "a record of NCCL's Inspector that is cut or lacks a field"
_HEADER = ("id", "rank", "n_ranks", "nnodes")
_COLUMNS = {"time": "coll_exec_time_us", "algbw": "coll_algobw_gbs", "busbw": "coll_busbw_gbs"}


class InspectorReader:
    """A LineReader; a table for each rank and collective of a communicator."""

    def __init__(self, context: Context, sink: Sink) -> None:
        self._sink = sink
        self._tables: dict[tuple[str, ...], Table] = {}

    def feed(self, line: Line) -> bool:
        """Takes a line that is a record. Those of sends and receives are counted: they are none of a collective."""
        text = line.text
        if '_perf"' not in text or '"header"' not in text or not text.lstrip().startswith("{"):
            return False
        try:
            record = json.loads(text, parse_int=str, parse_float=str, parse_constant=str)
            self._record(record, line)
        except (ValueError, KeyError, TypeError, RecursionError):
            self._sink.skip(_NOT_ONE, line.number, text)
        return True

    def finish(self) -> None:
        """Emits all tables."""
        for table in self._tables.values():
            self._sink.emit(table)
        self._tables.clear()

    def _record(self, record: dict[str, Any], line: Line) -> None:
        header, perf = record["header"], record.get("coll_perf")
        if perf is None:
            self._sink.skip("sends and receives of NCCL's Inspector", line.number, line.text)
            return
        key = tuple(str(value)[:100] for value in (*(header[name] for name in _HEADER), perf["coll"]))
        num_ranks, num_hosts = int(key[2]), int(key[3])
        name, size = collective(key[4]), int(perf["coll_msg_size_bytes"])
        time, algbw, busbw = (_printed(perf[column]) for column in _COLUMNS.values())
        side = Side(
            NOT_STATED,
            time=Printed(time, MICROSECONDS),
            algbw=Printed(algbw, GB_PER_SECOND),
            busbw=Printed(busbw, GB_PER_SECOND),
        )
        table = self._table(key, name, num_ranks, num_hosts, record.get("metadata"), line)
        if name in OF_ONE_RANK:
            size *= num_ranks
        table.rows.append(Row(line.number, size, (side,)))
        table.last_line = line.number
        if len(table.rows) >= _MAX_ROWS:
            table.continued = True
            self._sink.emit(self._tables.pop(key))

    def _table(
        self, key: tuple[str, ...], name: str | None, num_ranks: int, num_hosts: int, metadata: object, line: Line
    ) -> Table:
        table = self._tables.get(key)
        if table is not None:
            return table
        if len(self._tables) >= _MAX_TABLES:
            oldest = self._tables.pop(next(iter(self._tables)))
            oldest.continued = True
            self._sink.emit(oldest)
        said = metadata if isinstance(metadata, dict) else {}
        version = said.get("inspector_output_format_version")
        host = said.get("hostname")
        table = self._tables[key] = Table(
            format="nccl-inspector",
            first_line=line.number,
            title=f"{key[4]} of rank {key[1]} in {key[0]}",
            job=line.job,
            collective=name,
            num_ranks=num_ranks,
            num_hosts=num_hosts,
            tool="nccl-inspector",
            tool_version=version[:20] if isinstance(version, str) else None,
            library="nccl",
            hosts=[host[:100]] if isinstance(host, str) else [],
            settings={"communicator": key[0], "rank": key[1]},
            columns=dict(_COLUMNS),
        )
        if name in OF_ONE_RANK:
            table.infer("size_bytes", f"{num_ranks} times what is printed", "the Inspector prints one rank's part")
        return table


def _printed(value: object) -> str:
    """Returns a number as it was printed. Raises ValueError if it is none."""
    if not isinstance(value, str) or not 0 <= float(value) < 1e18:
        raise ValueError("no number")
    return value
