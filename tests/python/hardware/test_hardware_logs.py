"""The collected logs: each GPU and system that they name is in the catalogue or is listed here with the reason why not,
and no honest measurement among them exceeds what `highest` permits.

For: that the catalogue covers what people run, and that limits do not cry wolf. Not for: reading logs properly
(ringtree.logs): rows are picked out by their shape."""

from __future__ import annotations

import re
from typing import NamedTuple

import pytest
from logs_support import log_index, shared_data

from ringtree.hardware import (
    Topology,
    highest,
    load_catalogue,
    match_gpu,
    match_system,
    topology_of,
    topology_of_gpu,
)
from ringtree.nccl import limit


class Where(NamedTuple):
    """What the index calls `hardware`: the GPU as a driver or person writes it and the one system that `hints` lead to;
    or the reason why there is none."""

    gpu: str | None
    gpus_per_host: int | None = None
    hints: str = ""
    system: str | None = None
    reason: str = ""


BOARD = "what leaves the host is not stated, so only the board is known"
CARDS = "cards in a PC or server that has no name; topology_of_gpu gives the bar"

HARDWARE = {
    "8x NVIDIA A100-SXM4-80GB, NV12 all-to-all (NVSwitch), 1 node": Where(
        "NVIDIA A100-SXM4-80GB", 8, "HGX A100 8-GPU", "HGX A100 8-GPU"
    ),
    "8x NVIDIA A100-SXM4-40GB (Modal cloud)": Where("NVIDIA A100-SXM4-40GB", 8, "HGX A100 8-GPU", "HGX A100 8-GPU"),
    "2x NVIDIA L40S PCIe (Stanford FarmShare node oat-04), no NVLink": Where("NVIDIA L40S", reason=CARDS),
    "4x NVIDIA L40S PCIe (Stanford FarmShare node oat-04), no NVLink": Where("NVIDIA L40S", reason=CARDS),
    "Alps/Clariden: GH200 superchips, 4 per node, NVLink within node, Slingshot-11 1x200Gb/s NIC per GPU (CXI via "
    "aws-ofi-nccl 1.13.0)": Where("NVIDIA GH200 120GB", 4, "Alps/Clariden", "Alps GH200"),
    "Polaris: 4x A100-SXM4-40GB per node (NVLink all-to-all), 2x Slingshot-11 200Gb/s NIC per node": Where(
        "NVIDIA A100-SXM4-40GB", 4, "Polaris", "Polaris"
    ),
    "Sophia (ALCF): DGX A100 40GB x8 per node, HDR IB": Where("NVIDIA A100-SXM4-40GB", 8, "Sophia (ALCF)", "Sophia"),
    "8x H100 80GB SXM per node, InfiniBand (rate not stated; 17-node H100 cluster)": Where(
        "H100 80GB SXM", 8, "HGX H100 8-GPU", "HGX H100 8-GPU", BOARD
    ),
    "SURF Snellius: 4x H100 SXM (no NVSwitch, NVLink mesh) per node, 4x HDR200 IB (+1 RoCE 25G) per node": Where(
        "H100 SXM 94GB", 4, "SURF Snellius", "Snellius H100"
    ),
    "A100-PCIE-40GB; nodes n013/n014/n015 with Dolphin PCIe fabric (SmartIO / external GPUs) + Mellanox IB NIC": Where(
        "A100-PCIE-40GB", reason="a fabric of PCIe cables that is nowhere else; topology_of_gpu gives the bar"
    ),
    "2x AWS p5.48xlarge (8x H100 SXM, 32x100G EFA = 3200 Gb/s per node), EKS": Where(
        "NVIDIA H100 80GB HBM3", 8, "p5.48xlarge", "p5.48xlarge"
    ),
    "8x A100-SXM4-40GB (NDv4 class)": Where("A100-SXM4-40GB", 8, "NDv4", "Standard_ND96asr_v4"),
    "Azure NDv4: 8x A100-40GB SXM, 8x HDR200 IB per node": Where("A100-SXM4-40GB", 8, "NDv4", "Standard_ND96asr_v4"),
    "2x AWS p3dn.24xlarge (8x V100-SXM2-32GB, 100 Gb/s EFA per node)": Where(
        "Tesla V100-SXM2-32GB", 8, "p3dn.24xlarge", "p3dn.24xlarge"
    ),
    "2x 8-GPU nodes (see doc; DGX-1/V100 class), RoCE SR-IOV": Where(
        None, reason="neither the GPU's memory nor the rate of the RoCE ports is stated"
    ),
    "8x HGX H100 nodes, 8x NDR400 IB, SHARP manifest": Where(
        "NVIDIA H100 80GB HBM3", 8, "CoreWeave", "CoreWeave HGX H100"
    ),
    "GB200 NVL72 x2 racks + Quantum IB": Where("NVIDIA GB200", 4, "GB200 NVL72", "GB200 NVL72"),
    "Alps: 2 nodes x4 GH200, Slingshot-11": Where("NVIDIA GH200 120GB", 4, "Alps", "Alps GH200"),
    "2x GCP GPU VMs (H200 A3 Ultra / see README)": Where("NVIDIA H200", 8, "a3-ultragpu-8g", "a3-ultragpu-8g"),
    "GCP a3-ultragpu-8g (8x H200)": Where("NVIDIA H200", 8, "a3-ultragpu-8g", "a3-ultragpu-8g"),
    "2x AWS p5.48xlarge (8x H100, 32x100G EFA)": Where("NVIDIA H100 80GB HBM3", 8, "p5.48xlarge", "p5.48xlarge"),
    "1x AWS p5.48xlarge 8x H100 NVSwitch (rank count inferred from busbw/algbw=1.75)": Where(
        "NVIDIA H100 80GB HBM3", 8, "p5.48xlarge", "p5.48xlarge"
    ),
    "2x OCI BM.GPU.H100.8 (16x200G RoCE)": Where("NVIDIA H100 80GB HBM3", 8, "BM.GPU.H100.8", "BM.GPU.H100.8"),
    "2x RTX 2080 Ti PCIe3 x16 PIX, P2P unavailable": Where("NVIDIA GeForce RTX 2080 Ti", reason=CARDS),
    "2x nodes with 4x H100 80GB, 400 Gb/s RoCE NIC claimed": Where(
        "NVIDIA H100 80GB HBM3", 4, "HGX H100 4-GPU", "HGX H100 4-GPU", BOARD
    ),
    "2x Tesla P100-PCIE-16GB (cross-socket)": Where("Tesla P100-PCIE-16GB", reason=CARDS),
    "1x P100": Where(None, reason="SXM2 or PCIe is not stated; one rank sends nothing anyway"),
    "2x8 H100 (Nebius), 8x IB with SHARP plugin": Where(
        "NVIDIA H100 80GB HBM3", 8, "HGX H100 8-GPU", "HGX H100 8-GPU", BOARD
    ),
    "A100-SXM4-80GB HGX": Where("A100-SXM4-80GB", 8, "HGX A100 8-GPU", "HGX A100 8-GPU"),
    "8x B200 HGX": Where("NVIDIA B200", 8, "HGX B200 8-GPU", "HGX B200 8-GPU"),
    "8x H100-80GB HGX": Where("NVIDIA H100 80GB HBM3", 8, "HGX H100 8-GPU", "HGX H100 8-GPU"),
    "8x L40S PCIe": Where("NVIDIA L40S", reason=CARDS),
    "8x MI300X, xGMI mesh": Where(
        "AMD Instinct MI300X VF", 8, "Instinct platform (MI300X)", "Instinct platform (MI300X)"
    ),
    "simulated 8x MI300X": Where(None, reason="a simulation: no hardware"),
    "Azure ND MI300X v5, 8x NDR400 IB per node, 2 nodes": Where(
        "AMD Instinct MI300X VF", 8, "ND MI300X v5", "Standard_ND96isr_MI300X_v5"
    ),
    "8x H200 (p5en?)": Where("NVIDIA H200", 8, "HGX H200 8-GPU", "HGX H200 8-GPU"),
    "8x H200": Where("NVIDIA H200", 8, "HGX H200 8-GPU", "HGX H200 8-GPU"),
    "8x A100 NV12": Where(None, reason="40 or 80 GB is not stated; the links are alike"),
    "2 GPUs NV2 bridge": Where(None, reason="the GPU is not stated"),
    "4x p5en.48xlarge 8x H200": Where("NVIDIA H200", 8, "p5en.48xlarge", "p5en.48xlarge"),
    "claimed GB300 NVL72 18 nodes": Where("NVIDIA GB300", 4, "GB300 NVL72", "GB300 NVL72"),
    "2x OCI BM.GPU.B4.8 (8x A100-40GB, RoCE)": Where("A100-SXM4-40GB", 8, "BM.GPU.B4.8", "BM.GPU.B4.8"),
    "AWS multi-node inference cluster (P5 per doc)": Where("NVIDIA H100 80GB HBM3", 8, "p5.48xlarge", "p5.48xlarge"),
    "8x B300 SXM6 NV18": Where("NVIDIA B300 SXM6 AC", 8, "HGX B300 8-GPU", "HGX B300 8-GPU"),
    "1x RTX 5090, 2 MPI ranks sharing one GPU, NCCL_NET=Socket loopback": Where(
        "NVIDIA GeForce RTX 5090", reason="two ranks on one GPU: no link between GPUs is used"
    ),
    "ABCI 2.0 Compute Node (A): 8x A100-SXM4-40GB, 4x HDR200 IB per node": Where(
        "A100-SXM4-40GB", 8, "ABCI 2.0", "ABCI 2.0 compute node (A)"
    ),
    "Alps GH200, Slingshot-11": Where("NVIDIA GH200 120GB", 4, "Alps", "Alps GH200"),
    "H100 cluster, 3 nodes x 8 (24 ranks, factor 1.917)": Where(
        "NVIDIA H100 80GB HBM3", 8, "HGX H100 8-GPU", "HGX H100 8-GPU", BOARD
    ),
    "2x RTX 2080 Ti NVLink bridge": Where("NVIDIA GeForce RTX 2080 Ti", reason=CARDS),
    "8 GPUs NVSwitch (H100 class)": Where("NVIDIA H100 80GB HBM3", 8, "HGX H100 8-GPU", "HGX H100 8-GPU"),
    "2x GCP V100 node x1 GPU, TCP sockets (ens12)": Where(None, reason="neither the V100's form nor the VM is stated"),
    "4x AWS p3dn.24xlarge (8x V100-32GB, 100G EFA), July 2019": Where(
        "Tesla V100-SXM2-32GB", 8, "p3dn.24xlarge", "p3dn.24xlarge"
    ),
    "2x RTX 4070 Ti SUPER PCIe": Where("NVIDIA GeForce RTX 4070 Ti SUPER", reason=CARDS),
    "multi-node; factor 1.9166 => 24 ranks; maintainers: 24 GB/s per 200G NIC x4 = 96 GB/s target": Where(
        None, reason="no GPU is stated"
    ),
    "2 of 8x H100 NVSwitch": Where("NVIDIA H100 80GB HBM3", 2, "HGX H100 8-GPU", "HGX H100 8-GPU"),
    "Dell C4140 4x V100 NV2 mesh, 1 mlx5 NIC (NUMA-interleaved CPU list)": Where(
        None, 4, "C4140", "Dell C4140 (V100)", "16 or 32 GB is not stated"
    ),
    "3 nodes x 8 H100": Where("NVIDIA H100 80GB HBM3", 8, "HGX H100 8-GPU", "HGX H100 8-GPU", BOARD),
    "53 nodes x 8 GPUs (424)": Where(None, reason="no GPU is stated"),
    "4x A100-PCIE-40GB (LSU Rostam toranj1)": Where("A100-PCIE-40GB", reason=CARDS),
}


def test_the_table_is_of_this_index() -> None:
    assert {row["hardware"] for row in log_index()} == set(HARDWARE)


@pytest.mark.parametrize("hardware", sorted(HARDWARE))
def test_what_the_logs_name_is_known_or_listed_with_a_reason(hardware: str) -> None:
    where = HARDWARE[hardware]
    assert where.reason or (where.gpu and where.system)
    gpu = None
    if where.gpu is not None:
        gpu = match_gpu(where.gpu).gpu
        assert gpu is not None, where.gpu
    if where.system is not None:
        assert match_system(gpu, where.gpus_per_host, where.hints)[0].name == where.system


def bar(hardware: str, num_hosts: int, num_ranks: int) -> Topology | None:
    """The topology that a log's ranks ran on."""
    where, known = HARDWARE[hardware], load_catalogue()
    gpu = None if where.gpu is None else match_gpu(where.gpu).gpu
    if gpu is None:
        return None
    each = num_ranks // num_hosts
    if where.system is None:
        return topology_of_gpu(gpu, ranks_per_host=each, num_hosts=num_hosts)
    return topology_of(known.systems[where.system], gpu, num_hosts=num_hosts, ranks_per_host=each)


# A row of nccl-tests: size count type [redop [root]] then time algbw busbw #wrong, twice.
ROW = re.compile(r"^\W*(?:\[[^\]]*\]:?\s*|\S+:\s+)?(\d+)\s+\d+\s+(?:float|half|bfloat16|int8|uint8|double)\s+(.*)$")
PERF = {
    "all_reduce": "all_reduce",
    "all_gather": "all_gather",
    "alltoall": "all_to_all",
    "reduce_scatter": "reduce_scatter",
    "bcast": "broadcast",
}


def bus_bandwidths(text: str) -> list[float]:
    """GB/s of every row that looks like one of nccl-tests': the third figure after the words, and its like in place."""
    found = []
    for line in text.splitlines():
        if match := ROW.match(line):
            words = [word for word in match[2].split() if re.fullmatch(r"-?[\d.]+(?:e[+-]?\d+)?", word)]
            if len(words) in (7, 8, 9):  # with or without root and #wrong
                words = words[1:] if re.fullmatch(r"-?\d+", words[0]) and len(words) > 7 else words
                found += [float(words[i]) for i in (2, 6) if i < len(words)]
    return found


def honest_tables() -> list[tuple[str, str, str, int, int]]:
    rows = []
    for row in log_index():
        kind = next((name for word, name in PERF.items() if row["kind"].startswith(word)), None)
        single = "," not in row["kind"] and "several" not in row["kind"]
        if row["clean"] == "yes" and kind is not None and single and row["gpus"].isdigit() and row["nodes"].isdigit():
            rows.append((row["file"], row["hardware"], kind, int(row["nodes"]), int(row["gpus"])))
    return rows


def test_no_honest_measurement_exceeds_what_is_possible() -> None:
    """The tables that the index calls clean: every busbw of every row, against the bar of its hardware."""
    compared, nearest = 0, 0.0
    for file, hardware, collective, num_hosts, num_ranks in honest_tables():
        place = bar(hardware, num_hosts, num_ranks)
        rates = bus_bandwidths((shared_data() / "logs" / file).read_text(errors="replace"))
        if place is None or not rates or num_ranks % num_hosts:
            continue
        top = highest(collective, place)
        if top.busbw is None:
            continue
        compared += 1
        share = max(rates) * 1e9 / top.busbw
        nearest = max(nearest, share)
        assert share <= 1, (file, max(rates), top.arithmetic)
    assert compared >= 20
    assert nearest > 0.5  # the bar is one that can be come near


@pytest.mark.parametrize("number", ["022", "060", "071", "101", "103"])
def test_what_a_ring_could_not_do_was_done(number: str) -> None:
    """Two hosts by tree or NVLSTree and 8 H100 by NVLS: honest tables that a limit for rings alone would call false."""
    (row,) = [row for row in honest_tables() if row[0].startswith(number)]
    file, hardware, collective, num_hosts, num_ranks = row
    place = bar(hardware, num_hosts, num_ranks)
    assert place is not None
    most = max(bus_bandwidths((shared_data() / "logs" / file).read_text(errors="replace"))) * 1e9
    ring = limit(collective, "Ring", place).busbw
    assert ring is not None
    assert most > ring
