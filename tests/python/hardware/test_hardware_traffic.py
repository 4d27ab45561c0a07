"""Bytes counted in schedules against closed forms, against the model that times schedules, and `highest` against all of
them.

For: that no limit lies below what a schedule reaches. Not for: NCCL's closed forms by hand (test_hardware_limits.py).
"""

from __future__ import annotations

import pytest

import ringtree
from ringtree import Emulation, nccl
from ringtree.errors import UsageError
from ringtree.hardware import Topology, highest, limit, schedule_limit
from ringtree.hardware.schedule_traffic import count
from ringtree.nccl.names import KERNELS
from ringtree.schedules.model import time_on_cluster
from ringtree.schedules.schedule import Schedule, schedule
from ringtree.stats.bandwidth import bus_factor

GB = 1e9
COLLECTIVES = ("all_reduce", "reduce_scatter", "all_gather", "broadcast", "reduce", "gather", "scatter", "all_to_all")


def counted(collective: str, algorithm: str, topology: Topology) -> dict[str, float]:
    hosts = [rank // topology.ranks_per_host for rank in range(topology.num_ranks)]
    made = schedule(collective, algorithm, topology.num_ranks, hosts=hosts)
    return {each.link: each.share for each in count(made, topology)}


def one_host(n: int) -> Topology:
    return Topology(num_hosts=1, ranks_per_host=n, nvls=False)


@pytest.mark.parametrize("n", range(2, 17))
def test_ring(n: int) -> None:
    """Each rank passes n-1 of n parts in a reduce-scatter or all-gather, both in an all_reduce; a broadcast passes the
    whole through every rank but the last."""
    assert counted("all_reduce", "ring", one_host(n)) == {"intra": pytest.approx(2 * (n - 1) / n)}
    for collective in ("reduce_scatter", "all_gather"):
        assert counted(collective, "ring", one_host(n)) == {"intra": pytest.approx((n - 1) / n)}
    for collective in ("broadcast", "reduce"):
        assert counted(collective, "ring", one_host(n)) == {"intra": 1.0}


@pytest.mark.parametrize("n", range(2, 17))
def test_tree(n: int) -> None:
    """In heap order rank i has the children 2i+1 and 2i+2. A rank sends the whole to each neighbour, up or down, once:
    as many sizes as the busiest has neighbours."""
    neighbours = max((i > 0) + (2 * i + 1 < n) + (2 * i + 2 < n) for i in range(n))
    assert counted("all_reduce", "tree", one_host(n)) == {"intra": float(neighbours)}
    assert neighbours == {2: 1, 3: 2, 4: 2}.get(n, 3)


@pytest.mark.parametrize("n", range(2, 17))
def test_halving_doubling(n: int) -> None:
    """2(P-1)/P for the largest power of two P ≤ n, and where ranks are left over a size more for those that serve them:
    half of it comes and goes twice."""
    power = 1 << (n.bit_length() - 1)
    sizes = 2 * (power - 1) / power + (n > power)
    assert counted("all_reduce", "halving_doubling", one_host(n)) == {"intra": pytest.approx(sizes)}


@pytest.mark.parametrize("n", range(2, 17))
def test_direct(n: int) -> None:
    """Every byte in one hop: n-1 blocks of 1/n at each rank, or at the root, which broadcasts n-1 copies."""
    for collective in ("all_to_all", "all_gather", "reduce_scatter", "gather", "scatter"):
        assert counted(collective, "direct", one_host(n)) == {"intra": pytest.approx((n - 1) / n)}
    assert counted("broadcast", "direct", one_host(n)) == {"intra": n - 1.0}
    between = counted("all_to_all", "direct", Topology(num_hosts=2, ranks_per_host=n))
    assert between["network"] == pytest.approx(n * n / (2 * n))


def test_a_multicast_leaves_a_rank_once_where_the_switch_multicasts() -> None:
    with_switch = Topology(num_hosts=1, ranks_per_host=8, nvls=True)
    assert counted("broadcast", "direct", with_switch) == {"intra": 1.0}


def test_pairs_of_a_mesh_are_counted_where_they_have_links_of_their_own() -> None:
    """One ring uses one of a rank's links, so 8 ranks in a mesh have 1.75 sizes on it; direct spreads: 1/8 on each."""
    mesh = Topology(num_hosts=1, ranks_per_host=8, intra_rate=448 * GB, pair_rate=64 * GB, nvls=False)
    found = limit("all_reduce", "ring", mesh)
    assert (found.busbw, found.binding) == (pytest.approx(64 * GB), "pair")
    assert counted("all_to_all", "direct", mesh)["pair"] == pytest.approx(1 / 8)
    assert limit("all_to_all", "direct", mesh).busbw == pytest.approx(448 * GB)


TOPOLOGIES = [(1, 2), (1, 3), (1, 8), (2, 1), (2, 2), (2, 8), (3, 1), (3, 4), (4, 2), (8, 1), (5, 3), (16, 1)]


@pytest.mark.parametrize(("hosts", "each"), TOPOLOGIES)
def test_no_algorithm_exceeds_the_highest(hosts: int, each: int) -> None:
    """Over fast and slow networks and meshes, whatever adds up and whatever does not."""
    for intra, network in [(450, 400), (32, 400), (450, 3), (64, 50)]:
        for adds_up in (True, False, None):
            place = Topology(
                num_hosts=hosts,
                ranks_per_host=each,
                intra_rate=intra * GB,
                network_rate=network * GB,
                nvls=adds_up,
                network_reduces=adds_up,
            )
            for collective in COLLECTIVES:
                bar = highest(collective, place).busbw
                assert bar is not None
                theirs = [name for name in KERNELS if nccl.why_not(collective, name, place) is None]
                found = [nccl.limit(collective, name, place) for name in theirs]
                own = ringtree.algorithms.names(collective, several_hosts=True)
                for reached in [*found, *(limit(collective, name, place) for name in own)]:
                    assert reached.busbw is not None
                    assert reached.busbw <= bar * (1 + 1e-12), reached


@pytest.mark.parametrize(("hosts", "each"), [(2, 1), (2, 2), (3, 1), (2, 4), (4, 2), (3, 3), (8, 1), (4, 4)])
def test_the_model_of_a_cluster_reaches_no_more_than_the_limit(hosts: int, each: int) -> None:
    """The sliced recurrence times each schedule on links that cost nothing but bytes out of a host. What it finds is
    below the limit and near it. It has no queue at the receiving end: where more comes into a host than leaves any, it
    may be faster than a real network, so those schedules are compared by what leaves."""
    rate = 1e8
    place = Topology(num_hosts=hosts, ranks_per_host=each, network_rate=rate)
    cluster = Emulation(hosts, each, 0.0, rate)
    items = hosts * each * 60_000
    for collective in COLLECTIVES:
        for name in ringtree.algorithms.names(collective, several_hosts=True):
            numbers = [rank // each for rank in range(place.num_ranks)]
            made = schedule(collective, name, place.num_ranks, hosts=numbers)
            out = leaving(made, each)
            if not out:
                continue
            blocks = collective in ("reduce_scatter", "all_gather", "gather", "scatter", "all_to_all")
            elements = items // place.num_ranks if blocks else items
            seconds = time_on_cluster(made, elements, 4, cluster)
            algbw = 4 * items / seconds
            ceiling = rate / out
            assert algbw <= ceiling * (1 + 1e-6), (collective, name)
            found = limit(collective, name, place)
            assert found.algbw is not None
            assert found.algbw <= ceiling * (1 + 1e-9)
            assert found.busbw == pytest.approx(found.algbw * bus_factor(collective, place.num_ranks))
            if found.algbw == pytest.approx(ceiling):  # what leaves binds: the model may not exceed the limit either
                assert algbw <= found.algbw * (1 + 1e-6)


def leaving(made: Schedule, each: int) -> float:
    """Sizes that leave the busiest host, added up here a second time, without what comes in."""
    unit = (made.num_ranks if made.collective == "all_to_all" else 1) / made.num_chunks
    out: dict[int, float] = {}
    for rank in range(made.num_ranks):
        for step in made.program(rank):
            far = sum(reader // each != rank // each for reader in step.send_to)
            out[rank // each] = out.get(rank // each, 0.0) + far * len(step.chunks) * unit
    return max(out.values())


def test_a_schedule_of_your_own_has_limits_too() -> None:
    own = schedule("all_reduce", "chain", 4)
    found = schedule_limit(own, Topology(num_hosts=1, ranks_per_host=4, intra_rate=100 * GB, nvls=False))
    assert found.algbw == pytest.approx(50 * GB)  # the middle of the chain sends the whole up and down
    with pytest.raises(UsageError, match="the schedule is for 4 ranks"):
        schedule_limit(own, one_host(5))


def test_more_ranks_than_can_be_counted_are_an_error_not_a_guess() -> None:
    with pytest.raises(UsageError, match="at most 512"):
        limit("all_reduce", "ring", Topology(num_hosts=270, ranks_per_host=8))
    assert nccl.limit("all_reduce", "Ring", Topology(num_hosts=270, ranks_per_host=8, network_rate=GB)).busbw == GB
