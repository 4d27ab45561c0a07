"""Schedules that know hosts, from Python: hosts= of ringtree.schedule, --hosts of the commands, lists of names."""

from __future__ import annotations

import json

import pytest
from typer.testing import CliRunner

import ringtree
from ringtree import units
from ringtree.cli import app
from ringtree.errors import UsageError

COMPOSED = "hierarchical_ring"


def peers_elsewhere(schedule: ringtree.Schedule, hosts: list[int]) -> set[tuple[int, int]]:
    """Every (rank, peer) with a message between hosts."""
    return {
        (rank, peer)
        for rank in range(schedule.num_ranks)
        for step in schedule.program(rank)
        for peer in step.send_to
        if hosts[peer] != hosts[rank]
    }


@pytest.mark.parametrize("collective", ["all_reduce", "reduce_scatter", "all_gather"])
@pytest.mark.parametrize("hosts", [[0, 0, 1, 1], [0, 1, 0, 1, 1], [0, 1, 2]])
def test_a_composition_is_made_for_any_hosts_and_proved(collective: str, hosts: list[int]) -> None:
    schedule = ringtree.schedule(collective, COMPOSED, ranks=len(hosts), hosts=hosts)
    ringtree.verify(schedule)
    pairs = peers_elsewhere(schedule, hosts)
    assert pairs
    owners = [[rank for rank, on in enumerate(hosts) if on == host] for host in range(max(hosts) + 1)]
    for rank, peer in pairs:
        assert owners[hosts[rank]].index(rank) == owners[hosts[peer]].index(peer)


def test_without_hosts_all_ranks_share_one() -> None:
    one = ringtree.schedule("all_reduce", COMPOSED, ranks=4)
    assert one.program(2) == ringtree.schedule("all_reduce", COMPOSED, ranks=4, hosts=[0] * 4).program(2)
    assert one.program(2) != ringtree.schedule("all_reduce", COMPOSED, ranks=4, hosts=[0, 0, 1, 1]).program(2)


def test_flat_algorithms_ignore_hosts() -> None:
    flat = ringtree.schedule("all_reduce", "ring", ranks=4)
    assert ringtree.schedule("all_reduce", "ring", ranks=4, hosts=[0, 1, 0, 1]).program(1) == flat.program(1)


@pytest.mark.parametrize(
    ("hosts", "expected"), [([0, 0, 1], "4"), ([0, 2, 1, 1], "rank 1 is on host 2"), ([], "at least one rank")]
)
def test_wrong_hosts_are_named(hosts: list[int], expected: str) -> None:
    with pytest.raises(UsageError, match=expected):
        ringtree.schedule("all_reduce", COMPOSED, ranks=4, hosts=hosts)


def test_names_and_tables_of_one_host_leave_out_what_needs_several() -> None:
    several = [row.name for row in ringtree.algorithms.table() if row.for_several_hosts]
    assert COMPOSED in several
    assert not set(several) & set(ringtree.algorithms.names("all_reduce"))
    assert set(several) <= {
        name for of in ringtree.algorithms.COLLECTIVES for name in ringtree.algorithms.names(of, several_hosts=True)
    }
    assert not set(several) & {algorithm for _, algorithm, _, _ in ringtree.support()}
    assert not set(several) & {row["algorithm"] for row in json.loads(invoke("algorithms", "--json"))["algorithms"]}


def invoke(*arguments: str) -> str:
    result = CliRunner().invoke(app, arguments)
    assert result.exit_code == 0, result.output
    return result.stdout


def test_verify_on_hosts_proves_all_that_run_there() -> None:
    record = json.loads(invoke("verify", "--hosts", "2,1", "--collective", "all_gather", "--json"))
    assert record["num_failed"] == 0
    names = {check["algorithm"] for check in record["checks"]}
    assert names == set(ringtree.algorithms.names("all_gather", several_hosts=True))
    assert {check["num_ranks"] for check in record["checks"]} == {3}


def test_algorithms_on_hosts_counts_for_them() -> None:
    rows = json.loads(invoke("algorithms", "--hosts", "2x4", "--json"))["algorithms"]
    (ring,) = [row for row in rows if (row["collective"], row["algorithm"]) == ("all_reduce", COMPOSED)]
    assert ring["num_ranks"] == 8
    assert ring["hops"] == 1 + 2 * (2 - 1) + 1  # to the owner, around the ring of hosts, from the owner


def test_hosts_are_parsed() -> None:
    assert units.parse_hosts("2x3") == [0, 0, 0, 1, 1, 1]
    assert units.parse_hosts("2,1") == [0, 0, 1]
    for text in ("", "2x", "0x3", "2,0", "3"):
        with pytest.raises(UsageError, match="names no hosts"):
            units.parse_hosts(text)
