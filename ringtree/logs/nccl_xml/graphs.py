"""NCCL_GRAPH_DUMP_FILE: the rings and trees that NCCL's search found inside a host.

For: what was found. Not for: rings between hosts (ringtree.logs.nccl_info), the topology (topology.py).
"""

from __future__ import annotations

from ringtree.logs.nccl_xml.elements import Element
from ringtree.logs.records import Shape
from ringtree.nccl.names import PATTERNS

_NAMES = {
    "cross_nic": "crossnic",
    "num_channels": "nchannels",
    "speed_intra_gb_per_second": "speedintra",
    "speed_inter_gb_per_second": "speedinter",
    "latency_inter_us": "latencyinter",
    "type_intra": "typeintra",
    "type_inter": "typeinter",
    "same_channels": "samechannels",
}
_NVLS = 3  # the id of a graph whose channels name one GPU each


class GraphChannel(Shape):
    """What a channel passes inside one host, in order: GPUs by their number, NICs at the ends."""

    gpus: list[int]
    ranks: list[int]
    nets: list[str]


class TopologyGraph(Shape):
    """A search result of NCCL_GRAPH_DUMP_FILE. id: 0 ring, 1 tree, 2 CollNet, 3 NVLS, 4 CollNet direct."""

    id: int | None
    pattern: int | None
    pattern_name: str | None
    cross_nic: int | None
    num_channels: int | None
    speed_intra_gb_per_second: float | None
    speed_inter_gb_per_second: float | None
    latency_inter_us: float | None
    type_intra: str | None
    type_inter: str | None
    same_channels: int | None
    channels: list[GraphChannel]
    problems: list[str]


class TopologyGraphs(Shape):
    """NCCL_GRAPH_DUMP_FILE."""

    version: int | None
    graphs: list[TopologyGraph]


def read_graphs(root: Element) -> tuple[TopologyGraphs, str]:
    """Returns what <graphs> holds, and a title for it."""
    graphs = [_graph(element) for element in root.named("graph")]
    return TopologyGraphs(version=root.integer("version"), graphs=graphs), f"{len(graphs)} graphs of NCCL's search"


def _graph(element: Element) -> TopologyGraph:
    channels = [_channel(channel) for channel in element.named("channel")]
    pattern = element.integer("pattern")
    return element.read(
        TopologyGraph,
        _NAMES,
        pattern_name=PATTERNS.get(pattern) if pattern is not None else None,
        channels=channels,
        problems=_problems(element.integer("id"), element.integer("nchannels"), channels),
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
