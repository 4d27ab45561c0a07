"""The C API on several hosts: programs in network namespaces that have libringtree alone and pass the id themselves.

For: what rtGetUniqueId() makes of the environment, and what ranks are told that cannot meet. Not for: what an id says
and who holds its port (tests/core/capi), or the examples in C (tools/capi.sh).
"""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

import pytest
from hosts_support import Hosts, why_no_hosts

ROOT = Path(__file__).parents[3]
LIBRARY = ROOT / "build" / "dev" / "core" / "capi" / "libringtree.so"  # `make test-cpp` builds it

pytestmark = [
    pytest.mark.skipif(bool(why_no_hosts()), reason=f"no network namespaces: {why_no_hosts()}"),
    pytest.mark.skipif(not LIBRARY.exists(), reason=f"not built: {LIBRARY.relative_to(ROOT)} (make test-cpp)"),
]

PATIENCE_S = 60.0


def start(hosts: Hosts, rank: int, variables: Mapping[str, str], timeout_s: float) -> subprocess.Popen[str]:
    network = ("RINGTREE_", "MASTER_")
    clean = {name: value for name, value in os.environ.items() if not name.startswith(network)}
    program = [sys.executable, str(Path(__file__).parents[1] / "support" / "capi_rank.py"), str(LIBRARY)]
    arguments = [str(rank), str(hosts.num_ranks), str(timeout_s)]
    return subprocess.Popen(
        ["nsenter", f"--net={hosts.namespace(hosts.host_of(rank))}", *program, *arguments],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        env={**clean, **variables},
    )


def run(
    hosts: Hosts,
    variables: Mapping[str, str],
    of_rank_0: Mapping[str, str] | None = None,
    timeout_s: float = PATIENCE_S,
    awaited: slice = slice(None),
) -> tuple[str, list[str]]:
    """The id's text, "" if there is none, and what the awaited ranks said last. of_rank_0: variables that it has
    besides."""
    ranks: list[subprocess.Popen[str]] = []
    try:
        for rank in range(hosts.num_ranks):
            ranks.append(start(hosts, rank, {**variables, **(of_rank_0 or {} if rank == 0 else {})}, timeout_s))
        assert ranks[0].stdout is not None
        made = ranks[0].stdout.readline()
        if made.startswith("rtGetUniqueId"):
            return "", [made.strip()]
        for process in ranks:
            assert process.stdin is not None
            process.stdin.write(made)
            process.stdin.flush()
        said = [process.communicate(timeout=2 * PATIENCE_S)[0].strip() for process in ranks[awaited]]
        return bytes.fromhex(made).rstrip(b"\0").decode(), said
    finally:
        for process in ranks:
            process.kill()
            process.wait()


def sums(hosts: Hosts) -> list[str]:
    """What every rank says if all is well."""
    values = [1.0 + rank for rank in range(hosts.num_ranks)]
    return [f"sums [{sum(values)}] [{sum(values[rank % 2 :: 2])}]" for rank in range(hosts.num_ranks)]


@pytest.mark.parametrize(("count", "each"), [(2, 1), (2, 2), (3, 1)])
def test_ranks_meet_at_the_address_of_the_chosen_interface(count: int, each: int) -> None:
    with Hosts(count, each, cards=2) as hosts:
        text, said = run(hosts, {**hosts.environment(), "RINGTREE_IFNAME": "eth1"})
        assert text.startswith(f"capi-{hosts.address(0, card=1)}:")
        assert said == sums(hosts)


@pytest.mark.parametrize("ipv6", [False, True], ids=["ipv4", "ipv6"])
def test_master_addr_is_enough_beside_a_secret(ipv6: bool) -> None:
    with Hosts(2, ipv6=ipv6) as hosts:
        text, said = run(hosts, {**hosts.environment(), "MASTER_ADDR": hosts.address(0)})
        assert text.startswith("capi-[fd77::10]:" if ipv6 else "capi-10.77.0.10:")
        assert said == sums(hosts)


def test_the_network_need_only_be_said_to_rank_0() -> None:
    with Hosts(2, 2) as hosts:
        _, said = run(hosts, hosts.environment(), {"RINGTREE_IFNAME": "eth0"})
        assert said == sums(hosts)


def test_without_a_secret_there_is_no_id() -> None:
    with Hosts(2) as hosts:
        text, said = run(hosts, {"RINGTREE_IFNAME": "eth0"})
        assert text == ""
        assert "returned 5: " in said[0], "rtInvalidUsage"
        assert "RINGTREE_SECRET_FILE" in said[0]


@pytest.mark.parametrize("variables", [{}, {"MASTER_ADDR": "10.77.0.10"}, {"RINGTREE_IFNAME": "lo"}], ids=str)
def test_an_id_of_one_host_is_refused_on_another(variables: dict[str, str]) -> None:
    with Hosts(2) as hosts:
        text, said = run(hosts, {}, variables, timeout_s=1)
        assert text.startswith(("capi-local-", "capi-127.0.0.1:"))
        assert "returned 8: " in said[0], "rtTimeout: nobody came"
        assert "returned 5: the unique id was made on another host" in said[1]
        assert "RINGTREE_IFNAME" in said[1]


def test_another_secret_is_refused() -> None:
    with Hosts(2) as hosts:
        other = {"RINGTREE_SECRET_FILE": str(hosts.new_secret("other"))}
        _, said = run(hosts, hosts.environment(), {**other, "RINGTREE_IFNAME": "eth0"}, awaited=slice(1, 2))
        assert "does not know our secret" in said[0], "while rank 0 still waits"
