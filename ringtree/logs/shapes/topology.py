"""What tools and NCCL say of a host's devices: kinds "topology_matrix", "nvidia_gpus", "topology", "graphs",
"ib_ports".

For: the shape of those documents. Not for: reading them, rates of links (ringtree.hardware).
"""

from __future__ import annotations

from pydantic import Field

from ringtree.logs.records import Shape


class TopologyMatrix(Shape):
    """`nvidia-smi topo -m`, or a matrix of `rocm-smi --showtopo`. links[a][b]: how device a reaches device b.

    None in `links`: the source has no such cell.
    """

    tool: str
    measure: str = Field(description='"link", and of rocm-smi "weight" or "hops"')
    devices: list[str]
    links: dict[str, dict[str, str | None]]
    gpus: list[str]
    nics: list[str]
    nic_names: dict[str, str] = Field(description='of the legend: "NIC0" -> "mlx5_0"')
    cpu_affinity: dict[str, str]
    numa_affinity: dict[str, str]
    symmetric: bool
    problems: list[str]


class NvidiaGpus(Shape):
    """The GPUs that `nvidia-smi` names, one for each row; a name may be cut ("NVIDIA A100-SXM...")."""

    devices: list[str]
    driver: str | None
    cuda: str | None = Field(description="the newest version of CUDA that the driver has")


class TopologyGpu(Shape):
    """A GPU of NCCL's topology. `nvlinks`: links to each bus id; `pci_speed`, `pci_width` of the slot it sits in."""

    bus_id: str
    dev: int | None
    rank: int | None
    sm: int | None
    gdr: bool | None
    numa: str | None
    pci_speed: str | None
    pci_width: int | None
    nvlinks: dict[str, int]
    c2c: int | None = Field(None, description="links to the CPU, of Grace systems")


class TopologyNic(Shape):
    """A network port of NCCL's topology. `speed_mbit_per_second` as in the file."""

    name: str
    dev: int | None
    bus_id: str | None
    speed_mbit_per_second: float | None
    port: int | None
    guid: str | None
    gdr: bool | None
    collnet: bool | None
    numa: str | None
    pci_speed: str | None
    pci_width: int | None


class TopologyCpu(Shape):
    """A NUMA node."""

    numa: str | None
    arch: str | None
    vendor: str | None
    family: str | None
    model: str | None
    affinity: str | None
    host_hash: str | None


class Topology(Shape):
    """NCCL_TOPO_DUMP_FILE. `shared_switches`: pairs of GPU and NIC below one PCI switch, by bus id and NIC name."""

    version: int | None
    cpus: list[TopologyCpu]
    gpus: list[TopologyGpu]
    nics: list[TopologyNic]
    shared_switches: list[tuple[str, str]]
    unknown: dict[str, int] = Field(description="elements that this reader does not know: how many")


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


class IbPort(Shape):
    """A port of `ibstat`. `rate_gbit_per_second` is the nominal rate of the whole port."""

    device: str | None
    port: int
    state: str | None
    physical_state: str | None
    rate_gbit_per_second: float | None
    link_layer: str | None
    line: int


class IbPorts(Shape):
    """`ibstat`, whole or in pieces."""

    ports: list[IbPort]
    num_active: int
