"""Clusters from what a machine printed: a matrix, NCCL's XML, its lines, and what each lacks.

For: `ringtree cluster from`. Not for: reading these formats (tests/python/logs).
"""

from __future__ import annotations

from pathlib import Path

import pytest
from logs_support import shared_data

from ringtree.errors import UsageError
from ringtree.simulate.asked import Asked, sweep_of
from ringtree.simulate.cluster import cluster_text, pairs_of_all
from ringtree.simulate.cluster.host import Mesh, Switch
from ringtree.simulate.from_log import Described, describe_log
from ringtree.simulate.from_log.found import groups_of
from ringtree.simulate.on_core import CORE
from ringtree.simulate.sweep import simulate_all

# Four GPUs, each joined to its neighbour by four links; ports below the bridges of 0, 1 and of 2, 3.
PAIRS = """\
\tGPU0\tGPU1\tGPU2\tGPU3\tNIC0\tNIC1\tCPU Affinity\tNUMA Affinity
GPU0\t X \tNV4\tSYS\tSYS\tPIX\tSYS\t0-15\t0
GPU1\tNV4\t X \tSYS\tSYS\tPIX\tSYS\t0-15\t0
GPU2\tSYS\tSYS\t X \tNV4\tSYS\tPXB\t16-31\t1
GPU3\tSYS\tSYS\tNV4\t X \tSYS\tPXB\t16-31\t1
NIC0\tPIX\tPIX\tSYS\tSYS\t X \tSYS\t\t
NIC1\tSYS\tSYS\tPXB\tPXB\tSYS\t X \t\t
"""


def all_to_all(num: int, links: int) -> str:
    heading = "".join(f"\tGPU{gpu}" for gpu in range(num)) + "\tCPU Affinity\n"
    rows = ["".join(f"\t{' X ' if a == b else f'NV{links}'}" for b in range(num)) + "\t0-15\n" for a in range(num)]
    return heading + "".join(f"GPU{a}{row}" for a, row in enumerate(rows))


XML = """<system version="1">
  <cpu numaid="0" arch="x86_64">
    <pci busid="0000:10:00.0" link_speed="16.0 GT/s PCIe" link_width="16">
      <pci busid="0000:11:00.0" link_speed="16.0 GT/s PCIe" link_width="8">
        <gpu dev="0" sm="80" rank="0" gdr="1"><nvlink target="0000:21:00.0" count="3" tclass="0x030200"/></gpu>
      </pci>
      <pci busid="0000:12:00.0"><nic><net name="mlx5_0" dev="0" speed="200000" port="1" gdr="1"/></nic></pci>
    </pci>
  </cpu>
  <cpu numaid="1" arch="x86_64">
    <pci busid="0000:21:00.0"><gpu dev="1" sm="80" rank="1"><nvlink target="0000:11:00.0" count="3"/></gpu></pci>
    <pci busid="0000:22:00.0"><nic><net name="eth0" dev="1" speed="1000" port="1" gdr="0"/></nic></pci>
  </cpu>
</system>
"""

# Two hosts of two ranks; NCCL's search found 4 rings of 20 GB/s inside and 12 between hosts.
LINES = "".join(
    f"{host}:{10 + rank}:{10 + rank} [{rank % 2}] NCCL INFO {text}\n"
    for rank in range(4)
    for host in (f"n{rank // 2}",)
    for text in (
        f"comm 0x{rank + 1}0 rank {rank} nRanks 4 nNodes 2 localRanks 2 localRank {rank % 2} MNNVL 0",
        "Pattern 4, crossNic 0, nChannels 4, bw 20.000000/12.000000, type NVL/PIX, sameChannels 1",
        "4 coll channels, 0 collnet channels, 0 nvls channels, 4 p2p channels, 2 p2p channels per peer",
        f"Channel 00/0 : {rank}[{rank % 2}] -> {(rank + 1) % 4}[{(rank + 1) % 2}] [send] via NET/IB/{rank % 2}/GDRDMA",
        f"ncclCommInitRank comm 0x{rank + 1}0 rank {rank} nranks 4 cudaDev {rank % 2} nvmlDev {rank % 2} "
        f"busId {rank % 2 + 1}000 commId 0xabc - Init COMPLETE",
    )
)


def described(tmp_path: Path, text: str, gpu: str | None = None) -> Described:
    file = tmp_path / "of-host.txt"
    file.write_text(text, encoding="utf-8")
    return describe_log(file, gpu)


def test_a_matrix_of_pairs(tmp_path: Path) -> None:
    found = described(tmp_path, PAIRS, "A100-SXM4-80GB")
    host = found.cluster.host
    assert isinstance(host.links, Mesh)
    assert host.bus is not None
    assert host.nics is not None
    assert host.links.links == [[0, 4, 0, 0], [4, 0, 0, 0], [0, 0, 0, 4], [0, 0, 4, 0]]
    assert host.links.useful_rate == pytest.approx(20e9)  # one link of 25, of which NCCL counts on 20
    assert (host.bus.bridges, host.bus.sockets) == ([0, 0, 1, 1], [0, 1])
    assert (host.nics.count, host.nics.of_rank) == (2, [0, 0, 1, 1])
    assert host.nics.rate.assumed
    assert "the rate of a port: 100 Gb/s assumed" in found.missing
    assert found.cluster.network(pairs_of_all(8), 2).route(0, 2)[0] == "host 0 GPU 0 PCIe out"


def test_more_links_than_a_gpu_has_mean_a_switch(tmp_path: Path) -> None:
    links = described(tmp_path, all_to_all(8, 12)).cluster.host.links
    assert isinstance(links, Switch)
    assert (links.rate.si, links.rate.assumed) == (300e9, True)  # 12 links; of which kind is not known
    known = described(tmp_path, all_to_all(8, 18), "H100 SXM5 80GB").cluster.host.links
    assert known is not None
    assert (known.rate.si, known.rate.assumed) == (450e9, False)


def test_links_that_a_gpu_can_have_are_a_mesh(tmp_path: Path) -> None:
    assert isinstance(described(tmp_path, all_to_all(4, 6)).cluster.host.links, Mesh)


def test_nccls_xml(tmp_path: Path) -> None:
    found = described(tmp_path, XML)
    host = found.cluster.host
    assert isinstance(host.links, Mesh)
    assert host.bus is not None
    assert host.nics is not None
    assert host.links.links == [[0, 3], [3, 0]]
    assert host.links.rate.si == 25e9  # all GPUs of sm_80 in the catalogue have NVLink 3
    assert host.bus.rate.si == pytest.approx(31.508e9 / 2)  # 8 lanes of generation 4
    assert host.nics.count == 1  # of the ports one has GPUDirect
    assert (host.nics.rate.si, host.nics.rate.source) == (25e9, "of-host.txt")
    assert host.nics.of_rank == [0, 0]


def test_lines_of_nccl(tmp_path: Path) -> None:
    found = described(tmp_path, LINES)
    host = found.cluster.host
    assert (host.ranks, found.cluster.channel.count) == (2, 4)
    assert isinstance(host.links, Switch)
    assert host.links.rate.si == pytest.approx(4 * 20e9)
    assert host.nics is not None
    assert (host.nics.count, host.nics.rate.si) == (2, pytest.approx(4 * 12e9 / 2))
    assert found.found == ["a communicator of 4 ranks on 2 hosts"]


def test_what_is_nothing_of_this_is_refused(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"of-host\.txt has none of .*NCCL_DEBUG=INFO"):
        described(tmp_path, "nothing\n")
    with pytest.raises(UsageError, match="--gpu: the hardware catalogue has no 'A1000'"):
        described(tmp_path, PAIRS, "A1000")
    with pytest.raises(UsageError, match="--gpu: 'H100' may be H100 SXM5 80GB"):
        described(tmp_path, PAIRS, "H100")


def test_groups() -> None:
    assert groups_of(5, [(0, 2), (3, 4), (2, 4)]) == [0, 1, 0, 0, 0]
    assert groups_of(3, []) == [0, 1, 2]


@pytest.mark.parametrize(
    ("number", "ranks", "kind"),
    [
        (171, 8, Switch),
        (245, 4, Mesh),
        (173, 2, Mesh),
        (9, 1, Switch),
        (71, 8, Switch),
    ],
)
def test_collected_logs(number: int, ranks: int, kind: type) -> None:
    (file,) = (shared_data() / "logs").glob(f"{number:03}-*")
    cluster = describe_log(file).cluster
    assert cluster.host.ranks == ranks
    assert isinstance(cluster.host.links, kind)


def pcie_tree(num: int) -> str:
    """Two GPUs below a bridge, four below a socket, as boxes with eight cards mostly are."""
    words = ["PIX", "NODE", "SYS"]
    heading = "".join(f"\tGPU{gpu}" for gpu in range(num)) + "\tCPU Affinity\tNUMA Affinity\n"
    rows = []
    for a in range(num):
        ways = [" X " if a == b else words[(a // 2 != b // 2) + (a // 4 != b // 4)] for b in range(num)]
        rows.append(f"GPU{a}\t" + "\t".join(ways) + f"\t0-63\t{a // 4}\n")
    return heading + "".join(rows)


@pytest.mark.parametrize(
    ("matrix", "gpu", "preset"),
    [(all_to_all(8, 12), "A100-SXM4-40GB", "dgx-a100"), (pcie_tree(8), "A100-PCIE-80GB", "a100-pcie-8")],
)
def test_eight_a100_from_their_matrix_are_simulated_as_their_preset(
    tmp_path: Path, matrix: str, gpu: str, preset: str
) -> None:
    """What docs/simulate.md says of tree on NVLink and ring on PCIe holds for both machines' own `topo -m`: the tree
    below a size, the ring above, and the same times."""
    file = tmp_path / "ours.toml"
    file.write_text(cluster_text(described(tmp_path, matrix, gpu).cluster))
    ours, theirs = (
        simulate_all(sweep_of(Asked(cluster, algorithm="ring,double_tree", sizes="64K,1M,16M,256M")), CORE)[0]
        for cluster in (str(file), preset)
    )
    assert [one.seconds for one in ours.points] == [one.seconds for one in theirs.points]
    assert [(one.first, one.second) for one in ours.crossings] == [("double_tree", "ring")]


def test_ranks_that_share_one_gpu_tell_of_no_link(tmp_path: Path) -> None:
    shared = "".join(
        f"n0:1{rank}:1{rank} [0] NCCL INFO {text}\n"
        for rank in range(2)
        for text in (
            f"comm 0x{rank + 1}0 rank {rank} nRanks 2 nNodes 1 localRanks 2 localRank {rank} MNNVL 0",
            "Pattern 4, crossNic 0, nChannels 32, bw 60.000000/60.000000, type LOC/PIX, sameChannels 1",
            f"ncclCommInitRank comm 0x{rank + 1}0 rank {rank} nranks 2 cudaDev 0 nvmlDev 0 busId 60 commId 0xabc "
            "- Init COMPLETE",
        )
    )
    found = described(tmp_path, shared)
    assert found.cluster.host.links is None
    assert found.found[-1] == "a communicator of 2 ranks on 1 host"
    assert "its ranks share one GPU: what NCCL's search found is no link between GPUs" in found.found
