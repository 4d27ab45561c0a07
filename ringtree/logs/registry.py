"""Which readers there are, in the order in which they are asked.

For: adding a reader: one line here. Not for: what they do.
"""

from __future__ import annotations

from collections.abc import Callable

from ringtree.logs.aiconfigurator import AIConfigurator
from ringtree.logs.all_reduce_bench import AllReduceBenchReader
from ringtree.logs.deepspeed import DeepSpeedReader
from ringtree.logs.flight_recorder import FlightRecorderReader
from ringtree.logs.gloo_benchmark import GlooBenchmarkReader
from ringtree.logs.ib_ports import IbPortsReader
from ringtree.logs.imb import ImbReader
from ringtree.logs.inspector import InspectorReader
from ringtree.logs.kineto import KinetoReader
from ringtree.logs.nccl_info import NcclInfoReader
from ringtree.logs.nccl_xml import GRAPHS, TOPOLOGY
from ringtree.logs.nccltests import NcclTestsReader
from ringtree.logs.nccltests_json import NcclTestsJsonReader
from ringtree.logs.nvidia_smi import NvidiaSmiReader
from ringtree.logs.osu import OsuReader
from ringtree.logs.param_comms import ParamReader
from ringtree.logs.rccltests_records import RcclTestsRecords
from ringtree.logs.reading import Context, FileReader, LineReaderFactory, RowReader, Sink
from ringtree.logs.tables.csv_file import CsvFile
from ringtree.logs.tables.markdown import MarkdownReader
from ringtree.logs.topology_matrix import TopologyMatrixReader

FILE_READERS: tuple[FileReader, ...] = (
    NcclTestsJsonReader(),
    RcclTestsRecords(),
    TOPOLOGY,
    GRAPHS,
    KinetoReader(),
    FlightRecorderReader(),
    AIConfigurator(),
    CsvFile(),  # the last one: any headings
)
ROW_READERS: tuple[Callable[[Context, Sink], RowReader], ...] = (
    OsuReader,  # this and the next take lines only below their own headings: before readers of pieces of rows
    ImbReader,
    NcclTestsReader,
)
LINE_READERS: tuple[LineReaderFactory, ...] = (  # after those
    NcclInfoReader,
    TopologyMatrixReader,
    NvidiaSmiReader,
    IbPortsReader,
    InspectorReader,
    GlooBenchmarkReader,
    ParamReader,
    DeepSpeedReader,
    AllReduceBenchReader,
    MarkdownReader,  # the last one: it holds lines with pipes back
)
