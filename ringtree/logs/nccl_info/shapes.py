"""What the lines of NCCL_DEBUG say: a communicator (kind "nccl_communicator") and the warnings ("nccl_warnings").

For: the shape of those documents. Not for: reading lines (ringtree.logs.nccl_info).

Ranks, hosts, channels as in the glossary. Names of collectives, algorithms and protocols: see ringtree.nccl.names.
Sizes are bytes; a name that carries another unit says so, since NCCL's figures are kept as they were printed.
"""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from ringtree.logs.records import Shape

State = Literal["seen", "started", "complete", "destroyed", "aborted"]


class NcclRank(Shape):
    """One rank of a communicator, as far as its lines are in the file. `rank` None: they do not say which."""

    rank: int | None
    host: str
    pid: int
    device: int | None = Field(None, description="cudaDev, the process's own number of the GPU")
    bus_id: str | None = None
    local_rank: int | None = None
    state: State
    init_seconds: float | None = Field(None, description='total of "Init timings"')
    num_calls: int = Field(0, description="lines of subsystem COLL")
    last_op_count: int | None = None


class Ring(Shape):
    """The ring of one channel.

    `order` begins with rank 0. `complete`: it holds every rank of the communicator exactly once and closes. NCCL prints
    at most 20 ranks (127 characters since 2.24), so a printed order of a larger communicator never is.
    """

    channel: int
    order: list[int]
    source: Literal["printed", "neighbours"] = Field(
        description='"Channel 00/16 : 0 1 2 …" of rank 0, or the lines "Ring 00 : 1 -> 0 -> 1" of all ranks'
    )
    complete: bool
    problem: str | None = Field(None, description="why it is not complete, or what contradicts it")


class Tree(Shape):
    """The tree of one channel, from the lines of all ranks. `parents`: of each rank whose line is there; -1: none."""

    channel: int
    parents: dict[int, int]
    children: dict[int, list[int]]
    roots: list[int]
    depth: int | None = Field(None, description="edges from the root to the furthest leaf, if complete")
    complete: bool = Field(description="the lines of all ranks are there, agree with each other and make one tree")
    problem: str | None = None


class Transport(Shape):
    """Connections of one class. A connection over P2P or SHM is one line, one over the network two (send, receive)."""

    name: str = Field(description='"P2P/CUMEM", "SHM/direct", "NET/IB", "NET/AWS Libfabric", …')
    gdr: bool = Field(False, description="GPUDirect RDMA")
    direction: Literal["send", "receive"] | None = None
    num: int
    devices: dict[str, int] = Field(default_factory=dict, description="of NET: lines by the NIC's number")


class SearchedGraph(Shape):
    """A result of NCCL's search through the topology ("Pattern 4, crossNic 0, …"), and how many ranks printed it."""

    pattern: int
    pattern_name: str | None
    cross_nic: int
    num_channels: int
    bw_intra_gb_per_second: float = Field(description="of one channel, inside the host")
    bw_inter_gb_per_second: float
    type_intra: str
    type_inter: str
    same_channels: int
    num: int


class ModelledCost(Shape):
    """A cell of the table that NCCL's model prints at the beginning. 0 bandwidth: that combination is never chosen."""

    collective: str
    algorithm: str
    protocol: str
    latency_us: float
    bandwidth_gb_per_second: float


class Decision(Shape):
    """What NCCL chose for a call, and for how many calls. Rank 0 prints it.

    `printed_bytes` means what the release that printed it meant: see `per_rank`. `size_bytes` is what nccl-tests calls
    the size: all ranks' together for all_gather and reduce_scatter; None where that can't be told.
    """

    collective: str | None = Field(description="NCCL 2.20 to 2.22 do not say")
    printed_bytes: int
    per_rank: bool | None = Field(description="of all_gather and reduce_scatter: true from 2.24 on, false up to 2.23")
    size_bytes: int | None
    path: Literal["kernel", "symmetric", "copy_engine", "hierarchical_copy_engine"]
    algorithm: str | None
    protocol: str | None
    kernel: str | None = Field(None, description="of a symmetric kernel")
    channel_low: int | None = None
    channel_high: int | None = None
    num_channels: int | None = None
    modelled_us: float | None = Field(None, description="the model's estimate in the first of these lines")
    num: int


class Operation(Shape):
    """Calls of one collective with one count and type, as lines of subsystem COLL. `num`: lines of all ranks together.

    `count` is the call's argument: of each rank's part for all_gather (sent) and reduce_scatter (received).
    """

    collective: str
    count: int
    dtype: str
    op: str | None
    root: int | None
    num_ranks: int | None
    num: int


class NcclCommunicator(Shape):
    """One communicator, or (`comm_id` and `num_ranks` None) what processes printed that names none of theirs."""

    comm_id: str | None
    library: str | None
    version: str | None
    num_ranks: int | None
    num_hosts: int | None
    num_ranks_seen: int
    ranks: list[NcclRank]
    created_by: str | None
    parent: str | None = Field(None, description="comm_id of the communicator that it was split from")
    color: int | None = None
    channels: dict[str, int] = Field(description='"coll", "collnet", "nvls", "p2p", "p2p_per_peer"')
    rings: list[Ring]
    trees: list[Tree]
    transports: list[Transport]
    graphs: list[SearchedGraph]
    system_max_bw_gb_per_second: float | None
    system_total_bw_gb_per_second: float | None
    network: str | None
    network_plugin: str | None
    tuner_plugin: str | None
    nics: list[str] = Field(description='as "NET/IB : Using" names them: "[0]mlx5_0:1/IB"')
    environment: dict[str, str]
    environment_differs: dict[str, list[str]] = Field(description="variables that ranks print with several values")
    enabled: dict[str, dict[str, int]] = Field(description='of NCCL_ALGO, NCCL_PROTO: collective -> "ring" -> 0, 1, 2')
    costs: list[ModelledCost]
    decisions: list[Decision]
    operations: list[Operation]
    statements: dict[str, int] = Field(description="NVLS, CollNet, MNNVL and the like, word for word: how many lines")
    num_lines: int
    left_out: dict[str, int] = Field(description="what did not fit into memory: how many lines")


class NcclWarning(Shape):
    """Warnings from one place of NCCL's source. The first one's line and text."""

    where: str
    text: str
    num: int
    line: int
    host: str
    pid: int


class NcclWarnings(Shape):
    """All warnings of a file, and the lines by which NCCL reports an error on its way up ("init.cc:1012 -> 3")."""

    num: int
    num_error_returns: int
    warnings: list[NcclWarning]
    error_returns: list[NcclWarning]
