"""What if a rail, a link or the uplinks are worse: the words, and what they do to rates and routes.

For: `--what-if`. Not for: whole clusters (test_cluster_routes.py).
"""

from __future__ import annotations

import pytest

from ringtree.errors import UsageError
from ringtree.simulate.cluster import Network, cluster_text, load_cluster, parse_cluster_text
from ringtree.simulate.cluster.what_if import degraded


def network(name: str, wish: str, pair: tuple[int, int], nodes: int = 1) -> Network:
    return degraded(load_cluster(name), [wish]).network([pair], nodes)


def rate(network: Network, name: str) -> float:
    return float(network.link_rate[network.link_names.index(name)])


@pytest.mark.parametrize("wish", ["rail 7 down", "rail=7 down", "  RAIL  7  down "])
def test_a_rail_that_is_down_takes_its_part_of_all_ports(wish: str) -> None:
    # 7 of 8 ports of 50 GB/s, of which 48 are reached.
    assert rate(network("dgx-h100", wish, (0, 8), 2), "host 0 all ports out") == pytest.approx(7 * 48e9)


def test_of_one_host_alone() -> None:
    found = network("dgx-h100", "host 1 rail 7 at 50%", (0, 8), 2)
    assert rate(found, "host 0 all ports out") == pytest.approx(8 * 48e9)
    assert rate(found, "host 1 all ports in") == pytest.approx(7.5 * 48e9)


def test_a_rank_whose_port_is_down_uses_the_next_one() -> None:
    text = cluster_text(load_cluster("dgx-h100")).replace("spread = true", "spread = false")
    cluster = degraded(parse_cluster_text(text, "own ports"), ["rail 1 down"])
    found = cluster.network([(1, 9), (3, 11)], 2)
    assert found.route(1, 9)[1:3] == ["host 0 port 2 out", "host 1 port 2 in"]
    assert found.route(3, 11)[1:3] == ["host 0 port 3 out", "host 1 port 3 in"]


def test_oversubscription_divides_the_uplinks() -> None:
    far = 8 * 32
    whole = load_cluster("dgx-h100").network([(0, far)], 33)
    half = network("dgx-h100", "oversubscription 2", (0, far), 33)
    assert rate(half, "leaf 0 up") == pytest.approx(rate(whole, "leaf 0 up") / 2)
    assert rate(network("dgx-h100", "oversubscription=4:1", (0, far), 33), "leaf 0 up") == pytest.approx(
        rate(whole, "leaf 0 up") / 4
    )


def test_nvlink_of_a_pair_slower_or_down() -> None:
    assert rate(network("dgx-v100", "nvlink 0-3 at 50%", (3, 0)), "host 0 NVLink 3→0") == pytest.approx(20e9)
    assert network("dgx-v100", "nvlink 3-0 down", (0, 3)).route(0, 3)[0] == "host 0 GPU 0 PCIe out"


def test_a_port_of_the_switch_that_is_down_leaves_pcie() -> None:
    assert network("dgx-a100", "nvlink 3 down", (3, 0)).route(3, 0)[0] == "host 0 GPU 3 PCIe out"


def test_pcie_of_a_rank() -> None:
    found = network("a100-pcie-8", "pcie 2 at 25%", (2, 3))
    assert rate(found, "host 0 GPU 2 PCIe out") == pytest.approx(6e9, rel=1e-4)


def test_several_at_once_and_in_a_file() -> None:
    cluster = degraded(load_cluster("dgx-h100"), ["rail 0 down", "rail 1 at 50%", "oversubscription 2"])
    assert [str(fault) for fault in cluster.faults] == ["rail 0 down", "rail 1 at 50%"]
    again = parse_cluster_text(cluster_text(cluster), "again")
    assert again == cluster
    assert rate(again.network([(0, 8)], 2), "host 0 all ports out") == pytest.approx(6.5 * 48e9)


def test_nothing_left_is_a_clear_line() -> None:
    wishes = [f"rail {rail} down" for rail in range(8)]
    with pytest.raises(UsageError, match=r"rank 0 \(host 0\) has no way to rank 8 \(host 1\)"):
        degraded(load_cluster("dgx-h100"), wishes).network([(0, 8)], 2)


@pytest.mark.parametrize(
    ("name", "wish", "words"),
    [
        ("dgx-h100", "rail 8 down", "dgx-h100 has 8 rails, counted from 0"),
        ("dgx-h100", "rail 3 at 50", "write a number with %"),
        ("dgx-h100", "rail 3 at 100%", "what is left of a link is a share below 100%"),
        ("dgx-h100", "nvlink 0-1 down", "has a switch, each rank one port to it: write nvlink RANK"),
        ("dgx-h100", "pcie 8 down", "dgx-h100 has 8 ranks a host, counted from 0"),
        ("dgx-v100", "nvlink 0-7 down", "no link joins 0 and 7"),
        ("dgx-v100", "nvlink 0 down", "NVLink joins pairs on dgx-1-v100: write nvlink A-B"),
        ("a100-pcie-8", "nvlink 0-1 down", "a100-pcie-8 has no NVLink"),
        ("a100-pcie-8", "rail 0 down", "a100-pcie-8 has no network ports"),
        ("a100-pcie-8", "oversubscription 2", "a100-pcie-8 has no [fabric]"),
        ("cpu-2", "pcie 0 down", "cpu-2 has no PCIe between its ranks"),
        ("dgx-h100", "oversubscription 0.5", "invalid oversubscription '0.5'"),
        ("dgx-h100", "sharks", 'is not understood: write "rail 7 down"'),
    ],
)
def test_words_that_mean_nothing_here(name: str, wish: str, words: str) -> None:
    with pytest.raises(UsageError) as caught:
        degraded(load_cluster(name), [wish])
    assert words in str(caught.value)
    assert "\n" not in str(caught.value)
