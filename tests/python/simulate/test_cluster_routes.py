"""Links and routes of each kind of host, held against times worked out on paper.

For: which links a message takes, their rates and latencies. Not for: many flows at once, which the simulator shares.
"""

from __future__ import annotations

import pytest

from ringtree.errors import UsageError
from ringtree.simulate.cluster import Network, load_cluster, pairs_of_all, presets
from ringtree.simulate.cluster.host import Switch


def flow(network: Network, source: int, target: int, num_bytes: float) -> float:
    """Seconds of one message alone: the latencies of its route, and its bytes at the slowest link."""
    places = [network.link_names.index(name) for name in network.route(source, target)]
    return float(network.link_latency[places].sum() + num_bytes / network.link_rate[places].min())


# On paper: what one flow of so many bytes takes. Rates are GB/s of the hardware catalogue, times what NCCL counts on.
ONE_FLOW = [
    # 12 NVLinks of 25, of which NCCL counts on 20: 240 MB at 240 GB/s take 1 ms, and a hop 3.4 µs.
    ("dgx-a100", 1, (0, 5), 240e6, 1e-3 + 3.4e-6),
    # Two of the V100's links, 20 each: 40 MB at 40 GB/s.
    ("dgx-v100", 1, (0, 3), 40e6, 1e-3 + 3.4e-6),
    # 0 and 5 of a V100 have no link: PCIe 3 at 12, across the sockets at 10; a hop of PCIe counts 5.7 µs.
    ("dgx-v100", 1, (0, 5), 10e6, 1e-3 + 5.7e-6),
    # Below one bridge PCIe 4 reaches twice what NCCL counts on for PCIe 3, 24; between sockets 16.
    ("a100-pcie-8", 1, (0, 1), 24e6, 1e-3 + 5.7e-6),
    ("a100-pcie-8", 1, (0, 7), 16e6, 1e-3 + 5.7e-6),
    # Eight ports of 200 Gb/s, 25 GB/s, of which 24 are reached; channels take turns: 192. A hop counts 14 µs.
    ("dgx-a100", 2, (0, 8), 192e6, 1e-3 + 14e-6),
    # One port of 100 Gb/s for four GPUs without NVLink each: 12 by way of the slot; 14 µs in all.
    ("g5.48xlarge", 2, (0, 8), 12e6, 1e-3 + 14e-6),
    # Two sockets of memory, assumed: 20 GB/s between them, 0.1 µs and 0.2 µs; a core moves 8 GB/s.
    ("cpu-64-2-sockets", 1, (0, 63), 8e6, 1e-3 + 0.3e-6),
    # A tray of NVL72 reaches the next one by the switch: 18 links of 50, of which NCCL counts on 40.1: 721.8.
    ("gb200-nvl72", 2, (0, 4), 721.8e6, 1e-3 + 3.4e-6),
]


@pytest.mark.parametrize(("name", "nodes", "pair", "num_bytes", "seconds"), ONE_FLOW)
def test_one_flow_takes_what_paper_says(
    name: str, nodes: int, pair: tuple[int, int], num_bytes: float, seconds: float
) -> None:
    network = load_cluster(name).network([pair], nodes)
    assert flow(network, *pair, num_bytes) == pytest.approx(seconds, rel=1e-4)  # shares have four digits


def test_protocols_differ_in_the_latency_of_a_hop() -> None:
    cluster = load_cluster("dgx-a100")
    found = [cluster.network([(0, 1), (0, 8)], 2, protocol=name) for name in ("ll", "ll128", "simple")]
    assert [network.link_latency.max() for network in found] == pytest.approx([2.7e-6, 4e-6, 14e-6])
    assert [network.launch_cost for network in found] == pytest.approx([6.6e-6, 14e-6, 8.4e-6])


def test_ports_of_a_pcie_host_are_reached_through_the_slot_and_cost_what_a_hop_of_the_network_does() -> None:
    network = load_cluster("g6e.48xlarge").network([(2, 10)], 2)
    assert network.route(2, 10) == [
        "host 0 GPU 2 PCIe out",
        "host 0 port 0 out",
        "host 1 port 0 in",
        "host 1 GPU 2 PCIe in",
    ]
    assert network.link_latency.sum() == pytest.approx(14e-6)  # all of NCCL's hop, none of it twice


def test_hosts_below_one_leaf_do_not_take_the_spine() -> None:
    cluster = load_cluster("dgx-h100")
    assert cluster.fabric is not None
    leaf = cluster.fabric.leaf_hosts
    near, far = (8 * (leaf - 1), 8 * leaf)
    network = cluster.network([(0, near), (0, far)], leaf + 1)
    assert network.route(0, near) == ["host 0 all ports out", f"host {leaf - 1} all ports in"]
    assert network.route(0, far)[1:3] == ["leaf 0 up", "leaf 1 down"]
    up = network.link_names.index("leaf 0 up")
    assert network.link_rate[up] == pytest.approx(leaf * 8 * 50e9 * 0.96)  # as many uplinks as ports


def test_every_preset_joins_every_pair_and_has_rates_and_sources() -> None:
    for preset in presets():
        cluster = preset.make()
        over_hosts = cluster.host.nics is not None or (
            isinstance(cluster.host.links, Switch) and cluster.host.links.domain_hosts > 1
        )
        nodes = 2 if over_hosts else 1
        ranks = min(cluster.host.ranks, 16)
        pairs = pairs_of_all(nodes * ranks)
        network = cluster.network(pairs, nodes, ranks)
        assert len(network.pair_src) == len(pairs), preset.name
        assert (network.link_rate > 0).all(), preset.name
        assert (network.link_latency >= 0).all(), preset.name
        assert (network.route_offsets[1:] > network.route_offsets[:-1]).all(), preset.name
        assert len(set(network.link_names)) == len(network.link_rate), preset.name


def test_a_pair_that_nothing_joins_is_one_clear_line() -> None:
    with pytest.raises(UsageError) as caught:
        load_cluster("hgx-h200").network([(0, 1), (7, 8)], 2)
    assert str(caught.value).startswith("hgx-h200-8-gpu: rank 7 (host 0) has no way to rank 8 (host 1)")
    assert "\n" not in str(caught.value)


def test_route_of_a_pair_that_was_not_asked_for() -> None:
    with pytest.raises(KeyError):
        load_cluster("cpu-2").network([(0, 1)], 1).route(1, 0)


def test_cores_limit_what_a_rank_sends_and_receives_together() -> None:
    base = load_cluster("cpu-2")
    assert base.host.memory is not None
    core = base.host.memory.rate.model_copy(update={"value": 6.0})
    memory = base.host.memory.model_copy(update={"core": core, "cores": 2})
    four = base.host.model_copy(update={"ranks": 4, "memory": memory.model_copy(update={"sockets": [0] * 4})})
    cluster = base.model_copy(update={"host": four.model_copy(update={"nics": None})})
    network = cluster.network([(0, 1), (1, 0)], nodes=1)
    assert network.route(0, 1)[1:] == ["host 0 core of rank 0", "host 0 core of rank 1", "host 0 all cores"]
    # Four ranks on two cores: all of them together write and read at 2 × 6 GB/s.
    assert network.link_rate[network.link_names.index("host 0 all cores")] == 12e9
    # Two ranks keep a core each.
    assert "host 0 all cores" not in cluster.network([(0, 1)], nodes=1, ranks_per_node=2).link_names
