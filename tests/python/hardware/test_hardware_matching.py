"""Names to entries: what is certain is found, what is not gives candidates, and nothing is guessed.

For: ringtree.hardware.matching and topologies of systems. Not for: the collected logs (test_hardware_logs.py).
"""

from __future__ import annotations

import pytest

from ringtree.errors import UsageError
from ringtree.hardware import Topology, load_catalogue, topology_of, topology_of_gpu
from ringtree.hardware.matching import is_known_hint, match_gpu, match_system, named_systems


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("NVIDIA H100 80GB HBM3", "H100 SXM5 80GB"),
        ("NVIDIA H100 PCIe", "H100 PCIe"),
        ("H100 NVL", "H100 NVL"),
        ("NVIDIA H200", "H200 SXM"),
        ("NVIDIA A100-SXM4-40GB", "A100 SXM4 40GB"),
        ("A100-SXM4-80GB", "A100 SXM4 80GB"),
        ("NVIDIA A100 80GB PCIe", "A100 PCIe 80GB"),
        ("NVIDIA A100-PCIE-40GB", "A100 PCIe 40GB"),
        ("Tesla V100-SXM2-32GB", "V100 SXM2 32GB"),
        ("Tesla P100-PCIE-16GB", "P100 PCIe 16GB"),
        ("NVIDIA GH200 120GB", "GH200 96GB"),
        ("NVIDIA GB200", "GB200"),
        ("NVIDIA B300 SXM6 AC", "B300 SXM"),
        ("NVIDIA GeForce RTX 4070 Ti SUPER", "RTX 4070 Ti SUPER"),
        ("NVIDIA L40S", "L40S"),
        ("AMD Instinct MI300X", "MI300X"),
        ("AMD Instinct MI300X VF", "MI300X"),
        ("AMD Instinct(TM) MI250X", "MI250X"),
        ("gfx90a", None),
        ("gfx942", None),
        ("NVIDIA H100", None),
        ("H100", None),
        ("A100 40GB", None),
        ("RTX 4070 Ti", None),
        ("NVIDIA H100 80GB HBM3 MIG 1g.10gb", None),
        ("NVIDIA L40G", None),
        ("a GPU", None),
        ("", None),
    ],
)
def test_gpus(text: str, name: str | None) -> None:
    found = match_gpu(text).gpu
    assert (found and found.name) == name


def test_what_is_ambiguous_gives_candidates() -> None:
    def names(text: str) -> list[str]:
        return sorted(gpu.name for gpu in match_gpu(text).candidates)

    assert names("NVIDIA H100") == ["H100 NVL", "H100 PCIe", "H100 SXM5 80GB", "H100 SXM5 94GB"]
    assert names("gfx942") == ["MI300A", "MI300X", "MI325X"]
    assert names("H100 80GB") == ["H100 PCIe", "H100 SXM5 80GB"]
    assert names("V100 SXM2") == ["V100 SXM2 16GB", "V100 SXM2 32GB"]
    assert names("RTX 4070 Ti") == []


def test_no_name_means_two_gpus() -> None:
    """Also not one that is given to a new entry by mistake."""
    for gpu in load_catalogue().gpus.values():
        for name in [gpu.name, *gpu.names]:
            assert match_gpu(name).gpu == gpu, name


def test_systems() -> None:
    h100 = match_gpu("NVIDIA H100 80GB HBM3").gpu

    def names(gpus: int | None = None, hints: str = "") -> list[str]:
        return [system.name for system in match_system(h100, gpus, hints)]

    assert names(8, "2x AWS p5.48xlarge, EKS") == ["p5.48xlarge"]
    assert names(8, "AWS") == ["p5.48xlarge"]
    assert names(8, "Azure ND H100 v5") == ["Standard_ND96isr_H100_v5"]
    assert {"DGX H100", "HGX H100 8-GPU"} <= set(names(8, "infiniband"))
    assert "p5.48xlarge" not in names(8, "infiniband")
    assert names(4)[0] == "HGX H100 4-GPU"
    assert "DGX H100" in names(4)  # four of eight GPUs may have been used
    assert names(16) == []
    assert [system.name for system in match_system(None, None, "polaris-login-01")] == ["Polaris"]
    assert "p5.48xlarge" in names()


def test_a_system_named_by_mistake_with_the_wrong_gpu_is_no_match() -> None:
    a100 = match_gpu("NVIDIA A100-SXM4-40GB").gpu
    assert match_system(a100, 8, "p4d.24xlarge")[0].name == "p4d.24xlarge"
    assert all(a100 is not None and a100.name in system.gpus for system in match_system(a100, 8, "p5.48xlarge"))


def topology(system: str, gpu: str, num_hosts: int, ranks_per_host: int | None = None) -> Topology:
    known = load_catalogue()
    return topology_of(known.systems[system], known.gpus[gpu], num_hosts=num_hosts, ranks_per_host=ranks_per_host)


def test_topologies() -> None:
    p5 = topology("p5.48xlarge", "H100 SXM5 80GB", 2)
    assert (p5.intra_rate, p5.network_rate, p5.nvls, p5.network_reduces) == (450e9, 400e9, True, False)
    dgx = topology("DGX H100", "H100 SXM5 80GB", 2)
    assert dgx.network_reduces is None  # InfiniBand may have SHARP
    a100 = topology("DGX A100", "A100 SXM4 40GB", 1)
    assert (a100.rank_rate, a100.nvls) == (300e9, False)
    polaris = topology("Polaris", "A100 SXM4 40GB", 8)
    assert (polaris.pair_rate, polaris.rank_rate, polaris.network_rate) == (100e9, 300e9, 50e9)
    assert topology("Polaris", "A100 SXM4 40GB", 8, 2).rank_rate == 100e9
    alps = topology("Alps GH200", "GH200 96GB", 2)
    assert (alps.pair_rate, alps.rank_rate, alps.network_rate, alps.nvls) == (150e9, 450e9, 100e9, False)
    mi300x = topology("Instinct platform (MI300X)", "MI300X", 1, 2)
    assert mi300x.rank_rate == 64e9
    l40s = topology("g6e.48xlarge", "L40S", 2)
    assert l40s.rank_rate == pytest.approx(31.508e9)
    board = topology("HGX H100 8-GPU", "H100 SXM5 80GB", 2)
    assert board.network_rate is None


def test_an_nvlink_domain_of_several_hosts_is_one() -> None:
    rack = topology("GB200 NVL72", "GB200", 18)
    assert (rack.num_hosts, rack.ranks_per_host, rack.intra_rate) == (1, 72, 900e9)
    racks = topology("GB200 NVL72", "GB200", 36)
    assert (racks.num_hosts, racks.ranks_per_host, racks.network_rate) == (2, 72, 18 * 200e9)
    with pytest.raises(UsageError, match="do not fill NVLink domains of 18 evenly"):
        topology("GB200 NVL72", "GB200", 19)


def test_a_gpu_without_its_board() -> None:
    known = load_catalogue()
    bar = topology_of_gpu(known.gpus["H100 SXM5 80GB"], ranks_per_host=8)
    assert (bar.rank_rate, bar.nvls, bar.network_rate) == (450e9, None, None)
    assert topology_of_gpu(known.gpus["A100 SXM4 40GB"], ranks_per_host=8).nvls is False
    assert topology_of_gpu(known.gpus["RTX 5090"], ranks_per_host=2).rank_rate == pytest.approx(63.015e9)


@pytest.mark.parametrize(
    ("system", "gpu", "hosts", "ranks", "said"),
    [
        ("DGX H100", "A100 SXM4 40GB", 1, 8, "has H100 SXM5 80GB, not A100"),
        ("DGX H100", "H100 SXM5 80GB", 1, 9, "has 8 GPUs a host, not 9"),
        ("DGX H100", "H100 SXM5 80GB", 0, 8, "at least one host, not 0"),
    ],
)
def test_topologies_that_there_are_not(system: str, gpu: str, hosts: int, ranks: int, said: str) -> None:
    with pytest.raises(UsageError, match=said):
        topology(system, gpu, hosts, ranks)


@pytest.mark.parametrize(
    ("hint", "names", "known"),
    [
        ("p5.48xlarge", ["p5.48xlarge"], True),
        ("two DGX A100 with HDR", ["DGX A100"], True),
        ("aws", [], True),
        ("RoCE", [], True),
        ("p5.48xlargest", [], False),
        ("", [], False),
    ],
)
def test_what_a_hint_names(hint: str, names: list[str], known: bool) -> None:
    assert [system.name for system in named_systems(hint)] == names
    assert is_known_hint(hint) is known
