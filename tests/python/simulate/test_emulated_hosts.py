"""Emulated clusters as descriptions: the simulator says what the sliced recurrence of core/model says.

For: what hosts send being limited by one card, and what they receive not. Not for: how cards take turns where several
links want one, which the two model differently.
"""

from __future__ import annotations

import pytest

from ringtree.schedules import model
from ringtree.schedules.emulation import Emulation
from ringtree.schedules.schedule import schedule
from ringtree.simulate.cluster.emulated_hosts import emulated_cluster
from ringtree.simulate.on_core import CORE
from ringtree.simulate.sweep import Call

CLUSTER = Emulation(hosts=4, ranks_per_host=2, alpha=1e-3, beta=20e6)
HOSTS = tuple(rank // 2 for rank in range(8))


@pytest.mark.parametrize("algorithm", ["ring", "chain", "one_shot"])
@pytest.mark.parametrize("size", [1 << 10, 1 << 16, 1 << 19, 1 << 20])
def test_as_the_recurrence_says(algorithm: str, size: int) -> None:
    cluster = emulated_cluster(CLUSTER, "2026-11-25")
    call = Call("all_reduce", algorithm, HOSTS, size, 1)
    found = CORE.run(call, cluster.network(CORE.pairs(call), 4, 2), cluster.protocol("simple"))
    expected = model.time_on_cluster(schedule("all_reduce", algorithm, 8, hosts=HOSTS), size // 4, 4, CLUSTER)
    assert found.seconds == pytest.approx(expected, rel=1e-3)


def test_what_a_host_receives_is_not_limited() -> None:
    network = emulated_cluster(CLUSTER, "2026-11-25").network([(0, 2), (4, 2)], nodes=4)
    assert network.route(0, 2) == ["host 0 port 0 out"]
    assert network.route(4, 2) == ["host 2 port 0 out"]
