"""The readers of the XML files that NCCL dumps: one way to read, two roots.

For: NCCL_TOPO_DUMP_FILE and NCCL_GRAPH_DUMP_FILE. Not for: what their elements say (topology.py, graphs.py), MSCCL's
plans, which are XML, too.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import BinaryIO

from ringtree.logs.nccl_xml.elements import Element, begins, parse
from ringtree.logs.nccl_xml.graphs import read_graphs
from ringtree.logs.nccl_xml.topology import read_topology
from ringtree.logs.reading import Context, Sink
from ringtree.logs.records import Document, Format, Shape


@dataclass
class XmlReader:
    """A FileReader of files whose outermost element is `root`; emits one document."""

    format: Format
    root: str
    kind: str
    content: Callable[[Element], tuple[Shape, str]]

    def sniff(self, head: str) -> bool:
        """Says whether the file begins with the root."""
        return begins(head, self.root)

    def read(self, source: BinaryIO, context: Context, sink: Sink) -> None:
        """Reads all of it."""
        shape, title = self.content(parse(source, self.root))
        sink.emit(Document(self.format, self.kind, 0, shape.plain(), title))


TOPOLOGY = XmlReader(Format("nccl-topology-xml"), "system", "topology", read_topology)
GRAPHS = XmlReader(Format("nccl-graph-xml"), "graphs", "graphs", read_graphs)
