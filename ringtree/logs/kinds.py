"""The facts that are not tables of timings: what Document.data holds, by Document.kind.

For: whoever uses documents; their JSON schemas. Not for: reading files: each shape stands beside its reader.
"""

from ringtree.logs.flight_recorder import FlightRecorder
from ringtree.logs.ib_ports import IbPorts
from ringtree.logs.kineto import TraceCollectives
from ringtree.logs.nccl_info.shapes import NcclCommunicator, NcclWarnings
from ringtree.logs.nccl_xml.graphs import TopologyGraphs
from ringtree.logs.nccl_xml.topology import Topology
from ringtree.logs.nvidia_smi import NvidiaGpus
from ringtree.logs.records import Shape
from ringtree.logs.topology_matrix import TopologyMatrix

KINDS: dict[str, type[Shape]] = {
    "nccl_communicator": NcclCommunicator,
    "nccl_warnings": NcclWarnings,
    "topology_matrix": TopologyMatrix,
    "nvidia_gpus": NvidiaGpus,
    "topology": Topology,
    "graphs": TopologyGraphs,
    "ib_ports": IbPorts,
    "trace_collectives": TraceCollectives,
    "flight_recorder": FlightRecorder,
}
