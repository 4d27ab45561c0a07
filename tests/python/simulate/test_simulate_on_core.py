"""Calls of a sweep on the core: cut as the engine cuts them, and refused where sizes do not fit.

For: on_core.py. Not for: the core's times (test_event_simulation.py), sweeps (test_simulate_sweep.py).
"""

from __future__ import annotations

import pytest

from ringtree.errors import UsageError
from ringtree.schedules.schedule import schedule
from ringtree.simulate.cluster import load_cluster
from ringtree.simulate.on_core import CORE
from ringtree.simulate.run import Simulator
from ringtree.simulate.sweep import Call

HOSTS = (0,) * 8


@pytest.mark.parametrize(("algorithm", "whole_slots"), [("ring", True), ("chain", False)])
def test_slices_are_the_engines(algorithm: str, whole_slots: bool) -> None:
    """A part of each chunk fits a slot: a ring sends it as one slice, a chain as about half as many as it has slots."""
    cluster = load_cluster("dgx-a100")
    call = Call("all_reduce", algorithm, HOSTS, 8 * 24 * 64 * 1024, 24)
    network = cluster.network(CORE.pairs(call), 1, 8, "simple")
    protocol = cluster.protocol("simple")
    by_slots, by_slices = (
        Simulator(schedule("all_reduce", algorithm, 8))
        .run(network, protocol, count=call.size_bytes // 4, item_size=4, channels=24, slice_bytes=slice_bytes)
        .events
        for slice_bytes in (protocol.slot_bytes, 0)
    )
    assert by_slots < by_slices
    assert CORE.run(call, network, protocol).events == (by_slots if whole_slots else by_slices)


def test_a_size_of_half_elements_is_refused() -> None:
    cluster = load_cluster("dgx-a100")
    call = Call("all_gather", "ring", HOSTS, 8 * 4 + 4, 1)
    network = cluster.network(CORE.pairs(call), 1, 8, "simple")
    with pytest.raises(UsageError, match="36 bytes are not whole elements of 4 bytes in 8 blocks"):
        CORE.run(call, network, cluster.protocol("simple"))
