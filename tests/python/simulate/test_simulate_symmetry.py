"""What is simulated once stands for all that is alike: described clusters with and without symmetry, bit for bit.

For: symmetry of run.py on the networks that descriptions make. Not for: how classes are found (tests/core/simulate).
"""

from __future__ import annotations

import numpy as np
import pytest

from ringtree.schedules.schedule import schedule
from ringtree.simulate.cluster import load_cluster
from ringtree.simulate.run import Simulator

CHANNELS = 16


@pytest.mark.parametrize(
    ("cluster_name", "algorithm", "nodes"),
    [
        ("dgx-h100", "double_tree", 4),
        ("dgx-h100", "hierarchical_tree", 2),
        ("dgx-a100", "ring", 4),
        ("a100-pcie-8", "double_tree", 1),
    ],
)
@pytest.mark.parametrize("uneven", [0, 7])  # elements more, which not all channels get
def test_one_of_each_does_what_all_do(cluster_name: str, algorithm: str, nodes: int, uneven: int) -> None:
    cluster = load_cluster(cluster_name)
    hosts = tuple(rank // 8 for rank in range(8 * nodes))
    simulator = Simulator(schedule("all_reduce", algorithm, len(hosts), hosts=hosts))
    network = cluster.network(list(zip(*simulator.pairs(), strict=True)), nodes, 8, "simple")
    protocol = cluster.protocol("simple")
    some, everything = (
        simulator.run(
            network, protocol, count=(1 << 20) + uneven, item_size=4, channels=CHANNELS, symmetry=with_symmetry
        )
        for with_symmetry in (True, False)
    )
    assert some.lanes < everything.lanes
    assert everything.lanes % CHANNELS == 0
    assert some.seconds == everything.seconds
    assert some.limit == everything.limit
    assert np.array_equal(some.per_rank_seconds, everything.per_rank_seconds)
    assert np.array_equal(some.link_bytes, everything.link_bytes)
