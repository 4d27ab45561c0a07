"""NCCL_GRAPH_DUMP_FILE: the rings and trees that NCCL's search found inside a host.

For: what was found. Not for: rings between hosts (ringtree.logs.nccl_info), the topology (topology.py).
"""

from __future__ import annotations

from typing import BinaryIO

from ringtree.logs.nccl_names import PATTERNS
from ringtree.logs.nccl_xml.elements import Element, parse
from ringtree.logs.reading import Context, Sink
from ringtree.logs.records import Document
from ringtree.logs.shapes.topology import GraphChannel, TopologyGraph, TopologyGraphs

_NVLS = 3  # the id of a graph whose channels name one GPU each


class GraphsReader:
    """A FileReader."""

    format = "nccl-graph-xml"

    def sniff(self, head: str) -> bool:
        """Says whether the file begins with <graphs>."""
        return head.startswith("<graphs") or (head.startswith("<?xml") and "<graphs" in head[:1000])

    def read(self, source: BinaryIO, context: Context, sink: Sink) -> None:
        """Emits one document."""
        root = parse(source, "graphs")
        graphs = [_graph(element) for element in root.named("graph")]
        shape = TopologyGraphs(version=root.integer("version"), graphs=graphs)
        sink.emit(Document(self.format, "graphs", 0, shape.plain(), f"{len(graphs)} graphs of NCCL's search"))


def _graph(element: Element) -> TopologyGraph:
    channels = [_channel(channel) for channel in element.named("channel")]
    pattern, num_channels = element.integer("pattern"), element.integer("nchannels")
    return TopologyGraph(
        id=element.integer("id"),
        pattern=pattern,
        pattern_name=PATTERNS.get(pattern) if pattern is not None else None,
        cross_nic=element.integer("crossnic"),
        num_channels=num_channels,
        speed_intra_gb_per_second=element.number("speedintra"),
        speed_inter_gb_per_second=element.number("speedinter"),
        latency_inter_us=element.number("latencyinter"),
        type_intra=element.text("typeintra"),
        type_inter=element.text("typeinter"),
        same_channels=element.integer("samechannels"),
        channels=channels,
        problems=_problems(element.integer("id"), num_channels, channels),
    )


def _channel(element: Element) -> GraphChannel:
    gpus = [gpu.integer("dev") for gpu in element.named("gpu")]
    ranks = [gpu.integer("rank") for gpu in element.named("gpu")]
    return GraphChannel(
        gpus=[gpu for gpu in gpus if gpu is not None],
        ranks=[rank for rank in ranks if rank is not None],
        nets=[net.text("dev") or "" for net in element.named("net")],
    )


def _problems(identity: int | None, num_channels: int | None, channels: list[GraphChannel]) -> list[str]:
    problems = []
    if num_channels is not None and num_channels != len(channels):
        problems.append(f"nchannels is {num_channels}, and {len(channels)} channels follow")
    twice = [at for at, channel in enumerate(channels) if len(set(channel.gpus)) < len(channel.gpus)]
    problems += [f"channel {at} names a GPU twice" for at in twice[:5]]
    sets = {frozenset(channel.gpus) for channel in channels}
    if identity != _NVLS and len(sets) > 1:
        problems.append("the channels pass different GPUs")
    return problems
