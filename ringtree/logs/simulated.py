"""Times that ns3-msccl simulated: Config and Max_Duration_ns, tab-separated.

For: its result files. Not for: measured times; every table says that it is simulated.

A config is called ag_ring_ll_1_1_on_128B: collective, algorithm, protocol, channels, instances, size.
"""

from __future__ import annotations

import re
from typing import BinaryIO

from ringtree.logs.data_lines import data_lines, first_lines
from ringtree.logs.groups import Groups
from ringtree.logs.reading import Context, Sink, UnreadableFileError
from ringtree.logs.records import Printed, Row, Side, Table

_HEADING = re.compile(r"Config[\t,]\s*Max_Duration_ns\s*")
_ROW = re.compile(r"([A-Za-z][\w.-]{0,100}?)(?:_on_(\d{1,18})B)?[\t,]\s*(\d{1,24}(?:\.\d{1,9})?)\s*", re.ASCII)
_CONFIG = re.compile(r"([a-z0-9]+)_(\w+?)_(ll128|ll|simple)_(\w+?)_(\w+)", re.IGNORECASE)
_COLLECTIVES = {
    "ag": "all_gather",
    "ar": "all_reduce",
    "rs": "reduce_scatter",
    "a2a": "all_to_all",
    "bc": "broadcast",
}
_MACHINE = re.compile(r"(?<!\d)(\d{1,4})x(\d{1,4})(?=-)")
NOT_A_RESULT = "a line of a simulator's file that is no result"


class Simulated:
    """One table for each config, its sizes as rows."""

    format = "ns3_msccl"

    def sniff(self, head: str) -> bool:
        """Its heading is unmistakable."""
        lines = first_lines(head, 1)
        return bool(lines) and _HEADING.fullmatch(lines[0]) is not None

    def read(self, source: BinaryIO, context: Context, sink: Sink) -> None:
        """Reads all lines. Raises UnreadableFileError if none is a result."""
        local = Sink(sink.emit)
        groups = Groups(local)
        lines = data_lines(source, local)
        next(lines, None)
        for number, line in lines:
            found = _ROW.fullmatch(line)
            if found is None:
                local.skip(NOT_A_RESULT, number, line)
                continue
            config, size, time = found.groups()
            row = Row(number, int(size) if size else None, (Side("", Printed(time, 1e-9)),))
            groups.add(config, row, lambda config=config: _begin(config, context.name))  # type: ignore[misc]
        if groups.num_rows == 0:
            raise UnreadableFileError("no line is a config with its time")
        groups.flush()
        sink.merge(local)


def _begin(config: str, name: str) -> Table:
    table = Table("ns3_msccl", 0, title=f"simulated: {config}")
    table.tool = "ns3-msccl"
    table.settings = {"simulated": "yes", "config": config}
    table.columns = {"time": "Max_Duration_ns"}
    found = _CONFIG.fullmatch(config)
    if found is not None:
        collective, algorithm, protocol, channels, instances = found.groups()
        table.collective = _COLLECTIVES.get(collective.lower())
        table.algorithm, table.protocol = algorithm.lower(), protocol.lower()
        table.settings["channels"], table.settings["instances"] = channels, instances
        table.infer("collective, algorithm, protocol", config, "the parts of the config's name")
    machine = _MACHINE.search(name.replace("\\", "/").rpartition("/")[2])
    if machine is not None:
        hosts, each = int(machine.group(1)), int(machine.group(2))
        table.num_hosts, table.num_ranks = hosts, hosts * each
        table.infer("num_ranks", table.num_ranks, f"the file's name has {machine.group(0)}: hosts x GPUs")
    return table
