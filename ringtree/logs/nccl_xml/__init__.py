"""Reading the XML files that NCCL dumps.

For: NCCL_TOPO_DUMP_FILE and NCCL_GRAPH_DUMP_FILE. Not for: MSCCL's plans, which are XML, too.
"""

from ringtree.logs.nccl_xml.graphs import GraphsReader
from ringtree.logs.nccl_xml.topology import TopologyReader

__all__ = ["GraphsReader", "TopologyReader"]
