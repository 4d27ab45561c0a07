"""Which readers there are, in the order in which they are asked.

For: adding a reader: one line here. Not for: what they do.
"""

from __future__ import annotations

from ringtree.logs.flight_recorder import FlightRecorderReader
from ringtree.logs.ib_ports import IbPortsReader
from ringtree.logs.inspector import InspectorReader
from ringtree.logs.kineto import KinetoReader
from ringtree.logs.nccl_info import NcclInfoReader
from ringtree.logs.nccl_xml import GraphsReader, TopologyReader
from ringtree.logs.nccltests import NcclTestsReader
from ringtree.logs.reading import FileReader, LineReaderFactory
from ringtree.logs.topology_matrix import TopologyMatrixReader

FILE_READERS: tuple[FileReader, ...] = (TopologyReader(), GraphsReader(), KinetoReader(), FlightRecorderReader())
LINE_READERS: tuple[LineReaderFactory, ...] = (
    NcclTestsReader,
    NcclInfoReader,
    TopologyMatrixReader,
    IbPortsReader,
    InspectorReader,
)
