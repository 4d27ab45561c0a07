"""Limits against arithmetic done by hand, with the reasoning of each figure.

For: what NCCL's algorithms may reach, `highest`, errors. Not for: ringtree's own schedules (test_hardware_traffic.py),
real logs (test_hardware_logs.py).
"""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from ringtree import hardware
from ringtree.errors import UsageError
from ringtree.hardware import Limit, Topology, highest
from ringtree.nccl import limit, why_not

GB = 1e9
# 8 H100 on an NVSwitch that reduces: 18 links × 25 GB/s each way.
ONE_HOST = Topology(num_hosts=1, ranks_per_host=8, intra_rate=450 * GB, nvls=True)
# Two of them with 8 NICs of 400 Gb/s: 400 GB/s each way.
TWO_HOSTS = Topology(
    num_hosts=2, ranks_per_host=8, intra_rate=450 * GB, nvls=True, network_rate=400 * GB, network_reduces=False
)
EIGHT_HOSTS = TWO_HOSTS.model_copy(update={"num_hosts": 8})


def share(found: Limit, link: str) -> float:
    (use,) = [use for use in found.uses if use.traffic.link == link]
    return use.traffic.share


def test_a_ring_sends_twice_almost_all_of_the_size_through_every_link() -> None:
    """n = 8: reduce-scatter and all-gather pass 7 of 8 parts each, 14/8 = 1.75 sizes over each hop. 450 / 1.75 = 257.1
    GB/s, times the bus factor 1.75: the link's 450. That is what busbw was made for."""
    found = limit("all_reduce", "Ring", ONE_HOST)
    assert share(found, "intra") == 1.75
    assert found.algbw == pytest.approx(450 * GB / 1.75)
    assert found.busbw == pytest.approx(450 * GB)
    assert found.binding == "intra"


def test_rings_over_hosts_are_bound_by_all_nics_of_a_host() -> None:
    """n = 16: each hop carries 2·15/16 = 1.875 of a ring's data. The rings together carry the size once around, and
    leave each host once: 1.875 sizes through the NICs of a host, so busbw ≤ its 400 GB/s, however many rings there are.
    Inside, 7 of a host's 8 hops are between its ranks: 1.875 · 7/8 = 1.640625 a rank, 450 / 1.640625 · 1.875 = 514."""
    found = limit("all_reduce", "Ring", TWO_HOSTS)
    assert share(found, "network") == 1.875
    assert share(found, "intra") == pytest.approx(1.640625)
    assert found.busbw == pytest.approx(400 * GB)
    assert found.binding == "network"


def test_a_tree_over_two_hosts_sends_the_size_only_once_between_them() -> None:
    """Two binary trees carry half of the size each. Two hosts are parent and child in both. In the tree where a host is
    the child it sends S/2 up; where it is the parent it sends S/2 down: S in each direction. So algbw ≤ 400 GB/s and
    busbw ≤ 1.875 · 400 = 750 by the network, above the NICs' 400. Inside, the chain up and down costs
    2·7/8 = 1.75 sizes a rank: 450 / 1.75 · 1.875 = 482 binds first; 450 GB/s has been measured (OCI, 2 × 8 H100)."""
    found = limit("all_reduce", "Tree", TWO_HOSTS)
    assert share(found, "network") == 1.0
    assert share(found, "intra") == 1.75
    assert found.busbw == pytest.approx(450 / 1.75 * 1.875 * GB)
    one_a_host = Topology(num_hosts=2, ranks_per_host=1, network_rate=50 * GB)
    assert limit("all_reduce", "Tree", one_a_host).busbw == pytest.approx(50 * GB)  # 2(n-1)/n is 1 with two ranks


@pytest.mark.parametrize(("hosts", "sizes"), [(2, 1.0), (3, 1.5), (4, 2.0), (5, 2.0), (8, 2.0), (13, 2.0), (64, 2.0)])
def test_a_tree_over_many_hosts_sends_twice_the_size_through_the_busiest(hosts: int, sizes: float) -> None:
    """3 hosts: 0 is the root, 2 its child, 1 the child of 2; the second tree is that shifted by one: 1, 0, 2.
    Neighbours: host 0 has 1 + 2, host 1 has 1 + 1, host 2 has 2 + 1. Three times S/2. From 4 hosts on some host has
    three neighbours in one tree (a parent and two children) and one in the other: four times S/2."""
    found = limit("all_reduce", "Tree", TWO_HOSTS.model_copy(update={"num_hosts": hosts}))
    assert share(found, "network") == sizes


def test_a_switch_that_adds_up_halves_what_a_rank_sends() -> None:
    """NVLS: a rank's data goes up to the switch once and the sum comes down once. algbw ≤ 450 GB/s, so
    busbw ≤ 1.75 · 450 = 787.5: far above the link's rate, and honest. 480 is what NVIDIA gives and people measure for 8
    H100, 836 for 8 B300 (limit 1575)."""
    found = limit("all_reduce", "NVLS", ONE_HOST)
    assert share(found, "intra") == 1.0
    assert found.busbw == pytest.approx(787.5 * GB)
    assert found.efficiency(480 * GB) == pytest.approx(480 / 787.5)
    b300 = ONE_HOST.model_copy(update={"intra_rate": 900 * GB})
    assert limit("all_reduce", "NVLS", b300).efficiency(836 * GB) == pytest.approx(836 / 1575)


def test_nvls_between_hosts() -> None:
    """NVLSTree: NVLS inside, the trees' S between two hosts and 2·S between eight. NVLS itself needs a network that
    adds up: S through it whatever the number of hosts, so 2·63/64 · 400 = 787.5."""
    assert limit("all_reduce", "NVLSTree", TWO_HOSTS).busbw == pytest.approx(1.875 * 400 * GB)
    assert limit("all_reduce", "NVLSTree", EIGHT_HOSTS).busbw == pytest.approx(2 * 63 / 64 * 200 * GB)
    sharp = EIGHT_HOSTS.model_copy(update={"network_reduces": True})
    assert limit("all_reduce", "NVLS", sharp).busbw == pytest.approx(2 * 63 / 64 * 400 * GB)
    assert limit("all_reduce", "CollNetDirect", sharp).busbw == pytest.approx(450 / 1.75 * 2 * 63 / 64 * GB)


@pytest.mark.parametrize("collective", ["all_gather", "reduce_scatter"])
def test_all_gather_and_reduce_scatter(collective: str) -> None:
    """All blocks but its own reach a rank: 7/8 on one host, busbw ≤ 450 by ring, NVLS and anything. On a ring over
    hosts 15/16 of the size leave a host: busbw ≤ 400. A host lacks only the other's half, so PAT's limit is 15/16 /
    (1/2) · 400 = 750 by the network; 7/8 of the size reach a rank from inside: 15/16 / (7/8) · 450 = 482."""
    for algorithm in ("Ring", "NVLS"):
        assert limit(collective, algorithm, ONE_HOST).busbw == pytest.approx(450 * GB)
    assert highest(collective, ONE_HOST).busbw == pytest.approx(450 * GB)
    assert limit(collective, "Ring", TWO_HOSTS).busbw == pytest.approx(400 * GB)
    assert limit(collective, "PAT", TWO_HOSTS).busbw == pytest.approx(15 / 16 / (7 / 8) * 450 * GB)
    one_a_host = Topology(num_hosts=4, ranks_per_host=1, network_rate=50 * GB)
    assert limit(collective, "PAT", one_a_host).busbw == pytest.approx(50 * GB)
    assert limit(collective, "Ring", one_a_host).busbw == pytest.approx(50 * GB)


def test_all_to_all_between_hosts() -> None:
    """A rank sends 1/16 of its size to each rank, 8 of them on the other host; a host sends 8 · 8/16 = 4 sizes. algbw ≤
    100 GB/s, busbw ≤ 15/16 · 100 = 93.75."""
    for found in (limit("all_to_all", "P2P", TWO_HOSTS), highest("all_to_all", TWO_HOSTS)):
        assert share(found, "network") == 4.0
        assert found.busbw == pytest.approx(93.75 * GB)


def test_rooted_collectives() -> None:
    """broadcast and reduce move the whole size over every hop. gather and scatter: the root has 15 blocks of 1/16, 7 of
    ranks of its host and 8 of the other's."""
    for collective in ("broadcast", "reduce"):
        assert limit(collective, "Ring", TWO_HOSTS).busbw == pytest.approx(400 * GB)
        assert limit(collective, "Ring", ONE_HOST).busbw == pytest.approx(450 * GB)
    for collective in ("gather", "scatter"):
        found = limit(collective, "P2P", TWO_HOSTS)
        assert (share(found, "intra"), share(found, "network")) == (7 / 16, 8 / 16)
    assert limit("send_recv", "P2P", TWO_HOSTS).busbw == pytest.approx(400 * GB)


def test_highest_is_what_no_algorithm_exceeds() -> None:
    """Two hosts, 8 ranks each. Between hosts an all_reduce needs 2·(2-1)/2 = 1 size: 400 GB/s. A rank needs one size
    over its links and its share of the NICs, 450 + 400/8 = 500 GB/s. So algbw ≤ 400, busbw ≤ 750. Eight hosts whose
    network does not add up: 2·7/8 = 1.75 sizes, 400 / 1.75 · 2·63/64 = 450; with one that may: 787.5."""
    assert highest("all_reduce", ONE_HOST).busbw == pytest.approx(787.5 * GB)
    assert highest("all_reduce", TWO_HOSTS).busbw == pytest.approx(750 * GB)
    assert highest("all_reduce", EIGHT_HOSTS).busbw == pytest.approx(450 * GB)
    unknown = EIGHT_HOSTS.model_copy(update={"network_reduces": None})
    assert highest("all_reduce", unknown).busbw == pytest.approx(2 * 63 / 64 * 400 * GB)
    a100 = Topology(num_hosts=1, ranks_per_host=8, intra_rate=300 * GB, nvls=False)
    assert highest("all_reduce", a100).busbw == pytest.approx(300 * GB)  # nothing adds up on the way: the ring's limit
    assert highest("broadcast", TWO_HOSTS).busbw == pytest.approx(400 * GB)


def test_a_mesh_gives_a_rank_one_link_to_each_of_the_others_that_take_part() -> None:
    """8 MI300X: 7 links of 64 GB/s, 448. Two of them share one link: 64."""
    whole = Topology(num_hosts=1, ranks_per_host=8, intra_rate=448 * GB, pair_rate=64 * GB, nvls=False)
    assert limit("all_reduce", "Ring", whole).busbw == pytest.approx(448 * GB)
    two = whole.model_copy(update={"ranks_per_host": 2})
    assert limit("all_reduce", "Ring", two).busbw == pytest.approx(64 * GB)
    assert highest("all_gather", two).busbw == pytest.approx(64 * GB)


def test_what_is_not_known_does_not_limit_and_is_said() -> None:
    found = limit("all_reduce", "Ring", Topology(num_hosts=2, ranks_per_host=8, network_rate=400 * GB))
    assert found.busbw == pytest.approx(400 * GB)
    assert found.unknown == ("intra",)
    assert "rate inside the host not known, so not counted" in found.arithmetic
    nothing = highest("all_reduce", Topology(num_hosts=2, ranks_per_host=8))
    assert (nothing.algbw, nothing.busbw, nothing.binding) == (None, None, None)
    assert nothing.unknown == ("rank", "network")
    assert nothing.efficiency(1.0) is None


def test_one_rank_alone_has_no_limit() -> None:
    alone = Topology(num_hosts=1, ranks_per_host=1, intra_rate=450 * GB)
    for found in (
        highest("all_reduce", alone),
        limit("all_reduce", "Ring", alone),
        hardware.limit("all_reduce", "ring", alone),
    ):
        assert (found.algbw, found.uses) == (None, ())
        assert found.arithmetic.endswith("1 rank: no link carries anything, so nothing limits")


def test_the_arithmetic_can_be_read_in_one_line() -> None:
    assert limit("all_reduce", "RING", TWO_HOSTS).arithmetic == (
        "all_reduce by Ring, 16 ranks on 2 hosts: inside the host 1.641 × size per rank (2(n-1)/n over (r-1)/r of the "
        "hops) at 450 GB/s each way: algbw ≤ 274.3 GB/s; between hosts 1.875 × size per host (the rings leave each "
        "host once, and carry 2(n-1)/n of the size) at 400 GB/s each way: algbw ≤ 213.3 GB/s; so busbw = 1.875 × "
        "algbw ≤ 400 GB/s"
    )


@pytest.mark.parametrize(
    ("collective", "algorithm", "topology", "reason"),
    [
        ("all_gather", "Tree", ONE_HOST, "NCCL has no Tree kernel for all_gather"),
        ("all_reduce", "PAT", ONE_HOST, "NCCL has no PAT kernel for all_reduce"),
        ("all_to_all", "Ring", ONE_HOST, "NCCL has no Ring kernel for all_to_all"),
        ("all_reduce", "nvls_tree", ONE_HOST, "between hosts, and there is only one"),
        ("all_reduce", "NVLS", ONE_HOST.model_copy(update={"nvls": False}), "NVSwitch 3"),
        ("all_reduce", "NVLS", TWO_HOSTS, "SHARP"),
        ("all_reduce", "COLLNET_CHAIN", TWO_HOSTS, "SHARP"),
    ],
)
def test_why_not(collective: str, algorithm: str, topology: Topology, reason: str) -> None:
    assert reason in (why_not(collective, algorithm, topology) or "")
    with pytest.raises(UsageError, match=r"no .* here: "):
        limit(collective, algorithm, topology)


def test_what_is_not_known_of_a_machine_rules_nothing_out() -> None:
    unknown = Topology(num_hosts=2, ranks_per_host=8)
    for algorithm in ("Ring", "Tree", "NVLS", "NVLSTree", "CollNetDirect", "CollNetChain"):
        assert why_not("all_reduce", algorithm, unknown) is None


def test_names() -> None:
    """NCCL's three spellings."""
    for spelling in ("NVLSTree", "NVLS_TREE", "nvls_tree"):
        assert limit("all_reduce", spelling, TWO_HOSTS).algorithm == "NVLSTree"
    assert hardware.limit("all_reduce", "ring", ONE_HOST).library == "ringtree"
    assert limit("all_reduce", "ring", ONE_HOST).library == "nccl"
    with pytest.raises(UsageError, match="algorithm 'recursive_doubling' cannot do all_gather"):
        hardware.limit("all_gather", "recursive_doubling", ONE_HOST)
    with pytest.raises(UsageError, match="no algorithm 'fancy'; there are Tree, Ring"):
        limit("all_reduce", "fancy", ONE_HOST)
    with pytest.raises(UsageError, match="no bus factor for 'scan'"):
        highest("scan", ONE_HOST)


def test_the_examples_of_the_documentation_run(capsys: pytest.CaptureFixture[str]) -> None:
    text = (Path(__file__).parents[3] / "docs" / "hardware.md").read_text()
    (example,) = re.findall(r"^```python\n(.*?)^```", text, re.MULTILINE | re.DOTALL)
    exec(compile(example, "docs/hardware.md", "exec"), {})
    assert capsys.readouterr().out.startswith("all_reduce by Tree, 16 ranks on 2 hosts: ")
