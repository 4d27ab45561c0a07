"""Lines of NCCL's Inspector (2.28.3 and later): a JSON object for each collective that a rank ran.

For: rows with time and bandwidth as NCCL measured them on the GPU. Not for: its Prometheus files.

What it calls the message's size is the call's count: of one rank's part for all_gather and reduce_scatter, while its
bandwidths count all parts. `Row.size_bytes` is all parts, as everywhere.
"""

from __future__ import annotations

import json
from typing import Any

from ringtree.logs.groups import Groups
from ringtree.logs.json_stream import text
from ringtree.logs.lines import Line
from ringtree.logs.reading import Context, Sink
from ringtree.logs.records import GB_PER_SECOND, MICROSECONDS, NOT_STATED, Format, Printed, Row, Side, Table
from ringtree.nccl.names import collective
from ringtree.traits import BLOCKED

_NOT_ONE = "a record of NCCL's Inspector that is cut or lacks a field"
_HEADER = ("id", "rank", "n_ranks", "nnodes")
_COLUMNS = {"time": "coll_exec_time_us", "algbw": "coll_algobw_gbs", "busbw": "coll_busbw_gbs"}


class InspectorReader:
    """A LineReader; a table for each rank and collective of a communicator."""

    def __init__(self, context: Context, sink: Sink) -> None:
        self._sink = sink
        self._groups = Groups(sink)

    def feed(self, line: Line) -> bool:
        """Takes a line that is a record. Those of sends and receives are counted: they are none of a collective."""
        if '_perf"' not in line.text or '"header"' not in line.text or not line.text.lstrip().startswith("{"):
            return False
        try:
            record = json.loads(line.text, parse_int=str, parse_float=str, parse_constant=str)
            self._record(record, line)
        except (ValueError, KeyError, TypeError, RecursionError):
            self._sink.skip(_NOT_ONE, line.number, line.text)
        return True

    def finish(self) -> None:
        """Emits all tables."""
        self._groups.flush()

    def _record(self, record: dict[str, Any], line: Line) -> None:
        header, perf = record["header"], record.get("coll_perf")
        if perf is None:
            self._sink.skip("sends and receives of NCCL's Inspector", line.number, line.text)
            return
        key = tuple(str(value)[:100] for value in (*(header[name] for name in _HEADER), perf["coll"]))
        num_ranks, _, name = int(key[2]), int(key[3]), collective(key[4])
        size = int(perf["coll_msg_size_bytes"])
        time, algbw, busbw = (_printed(perf[column]) for column in _COLUMNS.values())
        side = Side(
            NOT_STATED, Printed(time, MICROSECONDS), Printed(algbw, GB_PER_SECOND), Printed(busbw, GB_PER_SECOND)
        )
        size *= num_ranks if name in BLOCKED else 1  # printed of one rank's part
        self._groups.add(key, Row(line.number, size, (side,)), lambda: _table(key, record.get("metadata"), line.job))


def _table(key: tuple[str, ...], metadata: object, job: str) -> Table:
    """Begins the table of a communicator, rank, number of ranks and of hosts, and collective."""
    said = metadata if isinstance(metadata, dict) else {}
    version, host, name = text(said.get("inspector_output_format_version"), 20), text(said.get("hostname"), 100), key[4]
    table = Table(
        format=Format("nccl-inspector"),
        first_line=0,
        title=f"{name} of rank {key[1]} in {key[0]}",
        job=job,
        collective=collective(name),
        num_ranks=int(key[2]),
        num_hosts=int(key[3]),
        tool="nccl-inspector",
        tool_version=version,
        library="nccl",
        hosts=[host] if host is not None else [],
        settings={"communicator": key[0], "rank": key[1]},
        columns=dict(_COLUMNS),
    )
    if table.collective in BLOCKED:
        table.infer("size_bytes", f"{key[2]} times what is printed", "the Inspector prints one rank's part")
    return table


def _printed(value: object) -> str:
    """Returns a number as it was printed. Raises ValueError if it is none."""
    if not isinstance(value, str) or not 0 <= float(value) < 1e18:
        raise ValueError("no number")
    return value
