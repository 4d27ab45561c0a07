"""The facts that are not tables of timings: what Document.data holds, by Document.kind.

For: whoever uses documents; their JSON schemas. Not for: reading files.
"""

from ringtree.logs.records import Shape
from ringtree.logs.shapes.nccl import NcclCommunicator, NcclWarnings
from ringtree.logs.shapes.topology import IbPorts, NvidiaGpus, Topology, TopologyGraphs, TopologyMatrix
from ringtree.logs.shapes.trace import FlightRecorder, TraceCollectives

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

__all__ = ["KINDS", "Shape"]
