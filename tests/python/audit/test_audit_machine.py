"""The machine that a table is held against, from what the user says where the log says nothing.

For: ringtree.audit.machine. Not for: what a hint can be (test_hardware_matching.py), limits (test_hardware_limits.py).
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from audit_support import as_text, codes, findings, make_table

from ringtree.audit import AuditRun, Setup, audit_files
from ringtree.audit.machine import Machine, machine_of
from ringtree.audit.material import Subject
from ringtree.errors import UsageError


def machine(system: str, num_ranks: int = 8, num_hosts: int = 1) -> Machine:
    table = make_table(num_ranks=num_ranks, devices=[], num_hosts=num_hosts)
    return machine_of(Subject("a.log", table, Setup(system=system)))


def test_a_named_system_is_enough() -> None:
    (topology,) = machine("p5.48xlarge").topologies
    assert "p5.48xlarge" in topology.name
    assert "H100 SXM5 80GB" in topology.name
    assert topology.num_hosts == 1


def test_a_system_that_is_sold_with_several_gpus_may_have_any() -> None:
    names = [topology.name for topology in machine("DGX A100").topologies]
    assert len(names) == 2
    assert any("40GB" in name for name in names)
    assert any("80GB" in name for name in names)


@pytest.mark.parametrize("hint", ["aws", "efa", "InfiniBand"])
def test_a_cloud_or_a_fabric_names_no_gpu(hint: str) -> None:
    assert machine(hint) == Machine(why="no GPU is named: --gpu")


def test_a_system_that_is_too_small_is_not_replaced_by_a_larger_one() -> None:
    assert machine("p4d.24xlarge", num_ranks=16) == Machine(why="p4d.24xlarge has no 16 GPUs in a host: --hosts")
    assert machine("p4d.24xlarge", num_ranks=16, num_hosts=2).topologies != ()


def test_rates_are_held_against_a_system_that_is_named() -> None:
    table = make_table(devices=[], time=lambda size: 20e-6 + size / 800e9)
    assert "limit-not-checked" in codes(table)
    found = findings(table, setup=Setup(system="p5.48xlarge"))
    (above,) = [one for one in found if one.code == "above-limit"]
    assert "p5.48xlarge" in above.arithmetic


@pytest.mark.parametrize("setup", [Setup(gpu="Quantum 9000"), Setup(system="quantum.9000xlarge")])
def test_names_that_nobody_knows_are_refused_before_anything_is_read(setup: Setup) -> None:
    with pytest.raises(UsageError, match="ringtree hardware"):
        AuditRun(setup)


@pytest.mark.parametrize(
    ("setup", "said"),
    [
        (Setup(gpu="A100"), "stated: A100; the log names NVIDIA H100 80GB HBM3"),
        (Setup(system="p4d.24xlarge"), "stated: p4d.24xlarge; the log names NVIDIA H100 80GB HBM3"),
        (Setup(num_hosts=2), "stated: 2 hosts; the log names 1 host"),
        (
            Setup(gpu="A100", num_hosts=4),
            "stated: A100; the log names NVIDIA H100 80GB HBM3; stated: 4 hosts; the log names 1 host",
        ),
    ],
)
def test_a_machine_that_is_not_the_logs_is_said_once_a_file(setup: Setup, said: str) -> None:
    other = make_table(time=lambda size: 21e-6 + size / 90e9, first_line=40)
    (found,) = [one for one in findings(make_table(), other, setup=setup) if one.code == "machine-stated-otherwise"]
    assert (found.arithmetic, found.severity.value) == (said, "info")


@pytest.mark.parametrize(
    "setup",
    [
        Setup(),
        Setup(gpu="H100", num_hosts=1),
        Setup(gpu="H100 SXM5 80GB"),
        Setup(system="p5.48xlarge"),
        Setup(system="DGX H100"),
        Setup(system="aws"),
    ],
)
def test_a_machine_that_may_be_the_logs_is_not_mentioned(setup: Setup) -> None:
    assert "machine-stated-otherwise" not in codes(make_table(), setup=setup)


def test_what_the_log_does_not_say_contradicts_nothing() -> None:
    setup = Setup(gpu="A100", system="p4d.24xlarge", num_hosts=2)
    for devices in ([], ["Quantum 9000"] * 8):
        assert "machine-stated-otherwise" not in codes(make_table(devices=devices, num_hosts=None), setup=setup)


OSU_ALL_TO_ALL = """$ mpirun -np 8 ./osu_alltoall -d cuda
# OSU MPI-CUDA All-to-All Personalized Exchange Latency Test v7.4
# Size       Avg Latency(us)
67108864              500.00
"""
IMB_ALL_TO_ALL = """
#    Intel(R) MPI Benchmarks 2021.3, MPI-1 part
# Benchmarking Alltoall
# #processes = 8
       #bytes #repetitions  t_min[usec]  t_max[usec]  t_avg[usec]
     67108864           10       500.00       500.00       500.00
# All processes entering MPI_Finalize
"""


@pytest.mark.parametrize("text", [OSU_ALL_TO_ALL, IMB_ALL_TO_ALL])
def test_sizes_of_an_mpi_all_to_all_are_for_each_peer(text: str, tmp_path: Path) -> None:
    # 64 MB to each of 8 ranks: a buffer of 512 MB, of which 7/8 leave a GPU: 469.8 MB / 500 µs = 939.5 GB/s. That is
    # above the 450 GB/s of an H100's links. Taken for the total, 64 MB would be 117.4 GB/s, and nothing was wrong.
    log = tmp_path / "a.log"
    log.write_text(text)
    (report,) = audit_files([log], Setup(system="p5.48xlarge")).files
    (above,) = [one for one in report.findings if one.code == "above-limit"]
    assert "939.5" in above.arithmetic


def topology_log(links: str, gbps: float, gpu: str = "") -> str:
    """`nvidia-smi topo -m` of 8 GPUs, then an all-reduce of 1 GB by 8 ranks at this algbw; it may name the GPU."""
    heading = "\t" + "\t".join(f"GPU{i}" for i in range(8)) + "\tCPU Affinity\tNUMA Affinity"
    rows = [f"GPU{i}\t" + "\t".join(" X " if i == k else links for k in range(8)) + "\t0-55\t0" for i in range(8)]
    table = make_table(sizes=[1 << 30], time=lambda size: size / gbps / 1e9, devices=[])
    text = as_text(table)
    kept = [line for line in text.splitlines() if gpu or "device" not in line]
    return "\n".join([heading, *rows, "", *kept]).replace("NVIDIA H100 80GB HBM3", gpu) + "\n"


def found_in(tmp_path: Path, text: str, **said: Any) -> dict[str, str]:
    log = tmp_path / "a.log"
    log.write_text(text)
    (report,) = audit_files([log], Setup(num_ranks=8, **said)).files
    return {one.code: one.arithmetic for one in report.findings}


def test_a_topology_tells_the_machine_where_nothing_names_it(tmp_path: Path) -> None:
    # 12 NVLinks are at most those of an H100 PCIe or NVL: 12 x 25 GB/s = 300 GB/s each way. An all-reduce at an algbw
    # of 320 GB/s needs at least 320 GB/s out of every GPU. 18 NVLinks may be a B200's, 18 x 50 GB/s = 900 GB/s.
    above = found_in(tmp_path, topology_log("NV12", 320))["above-limit"]
    assert "by the NVLinks of the topology in line 1" in above
    assert "300 GB/s" in above
    many = found_in(tmp_path, topology_log("NV18", 320))
    assert "above-limit" not in many
    assert "limit-not-checked" not in many


def test_a_topology_counts_less_than_a_gpu_that_is_named(tmp_path: Path) -> None:
    assert "above-limit" not in found_in(tmp_path, topology_log("NV12", 320, gpu="NVIDIA H100 80GB HBM3"))
    assert "above-limit" not in found_in(tmp_path, topology_log("NV12", 320), gpu="H100")
    assert "limit-not-checked" in found_in(tmp_path, topology_log("PHB", 320))


def test_a_topology_counts_where_the_gpu_is_one_that_nobody_knows(tmp_path: Path) -> None:
    above = found_in(tmp_path, topology_log("NV12", 320, gpu="NVIDIA Mystery X1"))["above-limit"]
    assert "by the NVLinks of the topology in line 1" in above
    assert "limit-not-checked" not in found_in(tmp_path, topology_log("NV18", 320, gpu="NVIDIA Mystery X1"))
    assert "limit-not-checked" in found_in(tmp_path, topology_log("PHB", 320, gpu="NVIDIA Mystery X1"))


@pytest.mark.parametrize("name", ["NVIDIA A100-SXM4-80GB", "NVIDIA A100-SXM..."])
def test_nvidia_smi_tells_the_machine_where_the_table_does_not(name: str, tmp_path: Path) -> None:
    # An A100's 12 links carry 300 GB/s each way, and its switch does not reduce: 300 GB/s / 1.75 = 171.4 GB/s of algbw.
    listed = "".join(f"GPU {gpu}: {name} (UUID: GPU-{gpu})\n" for gpu in range(8))
    above = found_in(tmp_path, listed + "\n" + topology_log("PHB", 180))["above-limit"]
    assert "by nvidia-smi in line 1" in above
    assert "above-limit" not in found_in(tmp_path, listed + "\n" + topology_log("PHB", 160))
    # The table's own name goes before it.
    assert "above-limit" not in found_in(
        tmp_path, listed + "\n" + topology_log("PHB", 180, gpu="NVIDIA H100 80GB HBM3")
    )
