"""NICs, RDMA, GPUs and what joins them: a DGX that is as it should be, and what is said when it is not.

For: probes of devices. Not for: cores, memory, limits (test_doctor_host.py), software and variables
(test_doctor_software.py).
"""

from __future__ import annotations

from pathlib import Path

import pytest
from doctor_support import (
    H100,
    REDIRECTS,
    add_ib,
    add_interface,
    add_pci,
    bare,
    config_space,
    dgx,
    dgx_host,
    fact_of,
    host,
    listed,
    programs,
    smi_outputs,
    topo,
    write,
)

from ringtree.doctor import Verdict, examine, pci
from ringtree.doctor.probes import gpus, interfaces, topology

WARN, FAIL, OK = Verdict.WARN, Verdict.FAIL, Verdict.OK
IB = "sys/class/infiniband/mlx5_3/ports/1"
GPU2 = "sys/bus/pci/devices/0000:12:04.0"
NIC2 = "sys/bus/pci/devices/0000:12:06.0"


def test_a_dgx_has_nothing_to_mind(tmp_path: Path) -> None:
    report = examine(dgx_host(dgx(tmp_path)))
    assert report.problems == []
    assert fact_of(report, "GPUs").value == f"8 × {H100}"
    assert fact_of(report, "links between GPUs").value == "NV18 between 28 pairs"
    assert fact_of(report, "NVLinks in use").value == "18 of 18 of H100 SXM5 80GB"
    assert fact_of(report, "mlx5_7:1").value == "InfiniBand, active, 400 Gb/s"
    # 16 lanes of PCIe 5 in the catalogue: 63.015 GB/s
    assert fact_of(report, "PCIe links of RDMA devices").value == "504 Gb/s, enough for their ports"
    assert fact_of(report, "GPUDirect RDMA").value == "nvidia_peermem"
    # the downstream ports above GPU and NIC, of 8 switches
    assert fact_of(report, "ACS").value == "does not redirect at the 16 bridges between them"
    assert fact_of(report, "driver").value == "570.86.15, with CUDA up to 12.8"
    assert fact_of(report, "NICs near GPUs").value.startswith("GPU0-mlx5_0 PIX, GPU1-mlx5_1 PIX")


# What is laid over its files, what nvidia-smi prints instead, the fact, its verdict, its value, words of its reason.
Case = tuple[dict[str, str], dict[str, str], str, Verdict, str, str]
CASES: list[Case] = [
    ({f"{IB}/state": "1: DOWN"}, {}, "mlx5_3:1", WARN, "down", "7 other ports are active"),
    ({f"{IB}/rate": "200 Gb/sec (4X HDR)"}, {}, "mlx5_3:1", WARN, "200 Gb/s", "others here have 400 Gb/s"),
    ({f"{NIC2}/current_link_width": "8"}, {}, "PCIe link of mlx5_2", WARN, "252 Gb/s", "the port has 400 Gb/s"),
    ({f"{NIC2}/current_link_speed": "16.0 GT/s"}, {}, "PCIe link of mlx5_2", WARN, "252 Gb/s", "older generation"),
    ({f"{GPU2}/current_link_width": "4"}, {}, "PCIe lanes of GPU 0000:12:04.0", WARN, "4 of 16", "reseat"),
    ({}, {"listed": listed([H100] * 7)}, "GPUs", WARN, f"7 × {H100}, and 8 are on the bus", "xid"),
    ({}, {"listed": listed([H100] * 7 + ["NVIDIA A100"])}, "GPUs", WARN, "1 × NVIDIA A100", "slowest"),
    ({}, {"running": "77, python\n"}, "programs on GPUs", WARN, "python (77)", "share"),
    ({}, {"topo": topo(link=lambda a, b: "NV12" if a == 5 else "NV18")}, "NVLinks in use", WARN, "12 of 18", "GPU5"),
    ({}, {"topo": topo(link=lambda a, b: "SYS" if b == 7 else "NV18")}, "links between GPUs", WARN, "SYS", "GPU7"),
    ({}, {"topo": topo(nic=lambda a, n: "NODE")}, "NICs near GPUs", WARN, "GPU0-mlx5_0 NODE", "NCCL_NET_GDR_LEVEL"),
    (
        {"sys/class/infiniband/mlx5_3/fw_ver": "1.0"},
        {},
        "firmware of MT_0000000838",
        WARN,
        "1.0 (mlx5_3)",
        "one version",
    ),
    ({"proc/99/comm": "sleep"}, {}, "fabric manager", WARN, "does not run", "error 802"),
    (
        {},
        {"listed": listed()[:-1].replace("\nGPU 1:", "\n  MIG 1g.10gb Device  0: (UUID: MIG-5)\nGPU 1:")},
        "MIG",
        WARN,
        "1 instance",
        "nvidia-smi -mig 0",
    ),
    ({"proc/modules": "nvidia 1\n"}, {}, "GPUDirect RDMA", WARN, "neither", "modprobe nvidia_peermem"),
]


@pytest.mark.parametrize(("files", "outputs", "name", "verdict", "value", "why"), CASES)
def test_a_dgx_that_is_not_so(
    tmp_path: Path, files: dict[str, str], outputs: dict[str, str], name: str, verdict: Verdict, value: str, why: str
) -> None:
    report = examine(dgx_host(write(dgx(tmp_path), files), outputs))
    fact = fact_of(report, name)
    assert fact.verdict is verdict
    assert value in fact.value
    assert why in fact.why
    assert name in [one.name for one in report.problems]


def test_the_server_of_mps_is_no_program_that_computes(tmp_path: Path) -> None:
    server = "77, nvidia-cuda-mps-server\n"
    report = examine(dgx_host(dgx(tmp_path), {"running": server}))
    assert report.problems == []
    assert "nvidia-cuda-mps-server (77)" in fact_of(report, "MPS").value
    beside = examine(dgx_host(tmp_path, {"running": server + "78, python\n"}))
    assert fact_of(beside, "programs on GPUs").value == "python (78)"


def test_dma_buf_needs_the_open_module_and_a_recent_kernel(tmp_path: Path) -> None:
    opened = "NVRM version: NVIDIA UNIX Open Kernel Module for x86_64  570.86.15\n"
    root = write(dgx(tmp_path), {"proc/modules": "nvidia 1\n", "proc/driver/nvidia/version": opened})
    assert fact_of(examine(dgx_host(root)), "GPUDirect RDMA").value == "dma-buf (open kernel module)"
    write(root, {"proc/sys/kernel/osrelease": "5.4.0\n"})
    assert fact_of(examine(dgx_host(root)), "GPUDirect RDMA").verdict is WARN


def test_acs_that_redirects_is_named_with_its_bridge(tmp_path: Path) -> None:
    fact = fact_of(examine(dgx_host(dgx(tmp_path, acs=REDIRECTS))), "ACS")
    assert fact.verdict is WARN
    assert fact.value == "redirects at 0000:10:03.0, 0000:10:05.0, 0000:11:03.0 and 13 more"
    assert "setpci -s 0000:10:03.0" in fact.why


def test_acs_above_the_switch_does_not_matter(tmp_path: Path) -> None:
    root = dgx(tmp_path)
    for number in range(16, 24):
        for above in ("01.0", "02.0"):
            write(root, {f"sys/bus/pci/devices/0000:{number:02x}:{above}/config": config_space(REDIRECTS)})
    assert fact_of(examine(dgx_host(root)), "ACS").verdict is OK


def test_acs_is_not_known_to_who_sees_the_beginning_only(tmp_path: Path) -> None:
    root = dgx(tmp_path)
    write(root, {"sys/bus/pci/devices/0000:10:03.0/config": config_space(REDIRECTS, size=64)})
    fact = fact_of(examine(dgx_host(root)), "ACS")
    assert (fact.known, fact.verdict) == (False, None)
    assert "only root sees ACS" in fact.value


@pytest.mark.parametrize(("acs", "expected"), [(REDIRECTS, ["0000:10:03.0"]), (0b0001, []), (None, [])])
def test_the_register_is_found_behind_other_capabilities(tmp_path: Path, acs: int | None, expected: list[str]) -> None:
    root = write(tmp_path, {"sys/bus/pci/devices/0000:10:03.0/config": config_space(acs)})
    assert pci.redirecting(host(root), ["0000:10:03.0"]) == expected


@pytest.mark.parametrize(("kind", "verdict", "value"), [("DMA-FQ", WARN, "translates (DMA-FQ) for 1 of 16 devices"),
                                                        ("identity", OK, "passes through")])  # fmt: skip
def test_iommu(tmp_path: Path, kind: str, verdict: Verdict, value: str) -> None:
    root = write(dgx(tmp_path), {f"{GPU2}/iommu_group/type": f"{kind}\n"})
    fact = fact_of(examine(dgx_host(root)), "IOMMU")
    assert (fact.verdict, fact.value) == (verdict, value)


def test_a_gpu_whose_node_has_no_nic(tmp_path: Path) -> None:
    fact = fact_of(examine(dgx_host(dgx(tmp_path, nics=4))), "NUMA nodes of GPUs and NICs")
    assert fact.verdict is WARN
    assert fact.value == "GPU 0000:14:04.0, 0000:15:04.0, 0000:16:04.0, 0000:17:04.0 on node 1, RDMA devices on 0"


def test_a_mask_without_the_cores_of_some_gpus_hinders(tmp_path: Path) -> None:
    report = examine(dgx_host(dgx(tmp_path), affinity=(0, 1)))
    fact = fact_of(report, "cores near GPUs")
    assert (fact.verdict, fact.value) == (FAIL, "none allowed for GPU4, GPU5, GPU6, GPU7")
    assert "(4-7)" in fact.why


def test_a_container_can_not_see_the_fabric_manager(tmp_path: Path) -> None:
    fact = fact_of(
        examine(dgx_host(write(dgx(tmp_path), {"proc/99/comm": "sleep", ".dockerenv": ""}))), "fabric manager"
    )
    assert (fact.known, fact.verdict) == (False, None)


def test_parts_of_gpus_do_not_end_the_list(tmp_path: Path) -> None:
    text = listed().replace("\nGPU", "\n  MIG 1g.10gb Device  0: (UUID: MIG-5)\nGPU")
    report = examine(dgx_host(dgx(tmp_path), {"listed": text}))
    assert fact_of(report, "GPUs").value == f"8 × {H100}"
    assert fact_of(report, "MIG").value == "7 instances"


def test_no_port_at_all_hinders(tmp_path: Path) -> None:
    down = {f"sys/class/infiniband/mlx5_{number}/ports/1/state": "1: DOWN\n" for number in range(8)}
    report = examine(dgx_host(write(dgx(tmp_path), down)))
    assert [fact.name for fact in report.problems] == ["RDMA ports"]
    assert report.verdict is FAIL


def test_devices_that_may_not_be_opened_hinder(tmp_path: Path) -> None:
    root = dgx(tmp_path)
    for file in (root / "dev/infiniband").iterdir():
        file.unlink()
    assert fact_of(examine(dgx_host(root)), "/dev/infiniband").verdict is FAIL


def test_a_mesh_counts_all_links_of_a_gpu_together(tmp_path: Path) -> None:
    """Four H100 without a switch: 6 links to each of three others are the 18 that there are."""
    whole, cut = (topo(4, 0, link=lambda a, b, less=less: "NV5" if (less, a) == (1, 2) else "NV6") for less in (0, 1))
    names = listed(["NVIDIA H100 80GB HBM3"] * 4)

    def links(text: str) -> str:
        facts = topology.links(host(bare(tmp_path), run=programs(smi_outputs(listed=names, topo=text))))
        return fact_of(list(facts), "NVLinks in use").value

    assert links(whole) == "18 of 18 of H100 SXM5 80GB"
    assert links(cut) == "17 of 18 of H100 SXM5 80GB"


V100 = "Tesla V100-SXM2-16GB"
# DGX-1: of each of 8 GPUs two neighbours by two links, two by one, and three that it reaches by way of others
CUBE = {(0, 1): 1, (0, 2): 1, (0, 3): 2, (0, 4): 2, (1, 2): 2, (1, 3): 1, (1, 5): 2, (2, 3): 2, (2, 6): 1, (3, 7): 1,
        (4, 5): 1, (4, 6): 1, (4, 7): 2, (5, 6): 2, (5, 7): 1, (6, 7): 2}  # fmt: skip


def test_a_cube_mesh_is_whole_though_not_every_pair_is_joined(tmp_path: Path) -> None:
    def between(a: int, b: int) -> str:
        return f"NV{CUBE[a, b]}" if (a, b) in CUBE else "SYS"

    outputs = smi_outputs(topo=topo(8, 0, link=between), listed=listed([V100] * 8))
    facts = list(topology.links(host(bare(tmp_path), run=programs(outputs))))
    assert [fact.verdict for fact in facts] == [OK, OK]
    assert fact_of(facts, "NVLinks in use").value == "6 of 6 of V100 SXM2 16GB"


def test_two_bridged_pairs_are_apart(tmp_path: Path) -> None:
    text = topo(4, 0, link=lambda a, b: "NV12" if a // 2 == b // 2 else "SYS")
    outputs = smi_outputs(topo=text, listed=listed(["NVIDIA A100-PCIE-40GB"] * 4))
    fact = fact_of(list(topology.links(host(bare(tmp_path), run=programs(outputs)))), "links between GPUs")
    assert fact.verdict is WARN
    assert "from GPU0 to GPU2, GPU3" in fact.why


def test_gpus_over_both_processors_without_nvlink(tmp_path: Path) -> None:
    text = topo(4, 0, link=lambda a, b: "NODE" if a // 2 == b // 2 else "SYS")
    facts = list(
        topology.links(host(bare(tmp_path), run=programs(smi_outputs(topo=text, listed=listed(["Tesla T4"] * 4)))))
    )
    (fact,) = facts
    # 6 pairs: 2 within a half, 4 across
    assert (fact.verdict, fact.value) == (WARN, "SYS between 4 pairs, NODE between 2 pairs")


@pytest.mark.parametrize(
    ("chosen", "verdict", "value"), [("0,1", WARN, "'0,1': 2 of 8 GPUs"), ("0,1,2,3,4,5,6,7", OK, "0,1,2,3,4,5,6,7"),
                                     ("", WARN, "'': 0 of 8 GPUs"), ("0,-1,1", WARN, "'0,-1,1': 1 of 8 GPUs")]
)  # fmt: skip
def test_gpus_that_are_hidden(tmp_path: Path, chosen: str, verdict: Verdict, value: str) -> None:
    facts = list(gpus.gpus(dgx_host(dgx(tmp_path), environment={"CUDA_VISIBLE_DEVICES": chosen})))
    fact = fact_of(facts, "CUDA_VISIBLE_DEVICES")
    assert (fact.verdict, fact.value) == (verdict, value)


def test_a_sandbox_that_hides_the_bus_still_has_the_drivers_gpus(tmp_path: Path) -> None:
    report = examine(dgx_host(bare(tmp_path)))
    assert fact_of(report, "GPUs").verdict is OK
    assert fact_of(report, "driver").value == "570.86.15, with CUDA up to 12.8"
    assert "ACS" not in [fact.name for part in report.sections for fact in part.facts]


def test_gpus_that_nobody_hands_on(tmp_path: Path) -> None:
    (fact,) = gpus.gpus(host(dgx(tmp_path)))
    assert (fact.verdict, fact.value) == (WARN, "8 of NVIDIA on the bus, but nvidia-smi is not on PATH")
    assert "--gpus all" in fact.why


@pytest.mark.parametrize(
    ("speed", "mtu", "verdict", "value"),
    [
        ("100000", "1500", WARN, "up, 100 Gb/s, MTU 1500, NUMA node 0"),
        ("100000", "9000", OK, "up, 100 Gb/s, MTU 9000, NUMA node 0"),
        ("10000", "1500", OK, "up, 10 Gb/s, MTU 1500, NUMA node 0"),
        ("-1", "1500", OK, "up, rate not reported, MTU 1500, NUMA node 0"),
    ],
)
def test_interfaces(tmp_path: Path, speed: str, mtu: str, verdict: Verdict, value: str) -> None:
    root = bare(tmp_path)
    add_interface(root, "eth0", add_pci(root, ["0000:00:01.0"], "0000:01:00.0"), speed, mtu)
    facts = list(interfaces.interfaces(host(root)))
    assert (fact_of(facts, "eth0").verdict, fact_of(facts, "eth0").value) == (verdict, value)
    assert fact_of(facts, "without a device").value == "lo"


@pytest.mark.parametrize(
    ("variable", "value", "fail"),
    [
        ("NCCL_SOCKET_IFNAME", "eth", False),
        ("NCCL_SOCKET_IFNAME", "=eth", True),
        ("NCCL_SOCKET_IFNAME", "ib0,eth0", False),
        ("NCCL_SOCKET_IFNAME", "^docker", False),
        ("NCCL_SOCKET_IFNAME", "ib", True),
        ("GLOO_SOCKET_IFNAME", "eth", True),
        ("GLOO_SOCKET_IFNAME", "eth0", False),
    ],
)
def test_interfaces_that_variables_name(tmp_path: Path, variable: str, value: str, fail: bool) -> None:
    root = bare(tmp_path)
    add_interface(root, "eth0", add_pci(root, ["0000:00:01.0"], "0000:01:00.0"))
    facts = list(interfaces.chosen(host(root, environment={variable: value})))
    assert [fact.verdict for fact in facts] == ([FAIL] if fail else [])


def test_ports_beside_each_other_of_another_network_say_how_to_leave_them_out(tmp_path: Path) -> None:
    root = dgx(tmp_path)
    add_ib(root, "mlx5_9", add_pci(root, ["0000:80:01.0"], "0000:81:00.0"), rate="25 Gb/sec (1X EDR)")
    fact = fact_of(examine(dgx_host(root)), "mlx5_9:1")
    assert fact.verdict is WARN
    assert "NCCL_IB_HCA" in fact.why
