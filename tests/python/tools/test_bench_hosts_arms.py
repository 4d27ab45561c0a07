"""How native arms are started across hosts: the commands alone; nothing is run."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest
from bench.hosts.arms import HostsEngine, HostsOpenMpi, host_arms, write_agent
from bench_hosts_support import PaperHosts

from ringtree.arms.mpi_libraries import Found, MpiProgram
from ringtree.arms.worker_building import Toolchain

SOCKET = Path("/tmp/s")


@pytest.fixture(autouse=True)
def _both_versions(monkeypatch: pytest.MonkeyPatch) -> None:
    """Whatever is installed here."""
    found = Found("mpirun", "5.0", Toolchain(("mpicc",), "Open MPI 5.0"))
    monkeypatch.setattr(MpiProgram, "found", lambda self: found)
    monkeypatch.setattr(MpiProgram, "worker", lambda self: Path("/w/worker"))


def arm(name: str, hosts: PaperHosts, folder: Path) -> HostsEngine | HostsOpenMpi:
    return host_arms(hosts, folder, ())[name]


def test_the_engine_comes_first_and_starts_every_rank_on_its_host(tmp_path: Path) -> None:
    hosts = PaperHosts(2, 2)
    assert list(host_arms(hosts, tmp_path, ())) == ["engine", "openmpi4", "openmpi5"]
    assert list(host_arms(hosts, tmp_path, {"openmpi4": "it is not here"})) == ["engine", "openmpi5"]
    *_, script = arm("engine", hosts, tmp_path).command(4, SOCKET, [0, 1])
    *lines, last = script.splitlines()
    assert last == "wait"
    assert [f"--net=/proc/1/fd/{host}" in line for host, line in zip((0, 0, 1, 1), lines, strict=True)] == [True] * 4
    for rank, line in enumerate(lines):
        assert f" RANK={rank} WORLD_SIZE=4 " in line
        assert "--store tcp://10.77.0.10:29501" in line
        assert "RINGTREE_SECRET_FILE=secret" in line
        assert "--pin 0,1" in line
        assert line.endswith(" &")


def test_every_start_has_a_store_of_its_own(tmp_path: Path) -> None:
    hosts = PaperHosts(2, 1)
    engine = arm("engine", hosts, tmp_path)
    assert engine.command(2, SOCKET, [])[-1] != engine.command(2, SOCKET, [])[-1]


@pytest.mark.parametrize(
    ("name", "agent_option", "shared"),
    [("openmpi4", "--mca plm_rsh_agent", "vader"), ("openmpi5", "--prtemca plm_ssh_agent", "sm")],
)
def test_open_mpi_goes_over_tcp_and_inside_a_host_over_shared_memory(
    tmp_path: Path, name: str, agent_option: str, shared: str
) -> None:
    agent, address, mpirun = arm(name, PaperHosts(2, 1), tmp_path).command(2, SOCKET, [0, 1])
    assert address == "10.77.0.10"
    assert f"{agent_option} {agent}" in mpirun
    assert "--mca btl tcp,self --mca" in mpirun
    assert "--host 10.77.0.10:1,10.77.0.11:1" in mpirun
    assert "mpi_yield_when_idle" not in mpirun
    crowded = arm(name, PaperHosts(2, 2), tmp_path).command(4, SOCKET, [0, 1])[-1]
    assert f"--mca btl tcp,self,{shared} " in crowded
    assert "--mca mpi_yield_when_idle 1" in crowded
    assert str(tmp_path) not in " ".join(arm(name, PaperHosts(2, 1), tmp_path).said()), "the page shows no path"


def test_the_agent_enters_the_host_of_an_address_and_refuses_others(tmp_path: Path) -> None:
    agent = tmp_path / "agent"
    write_agent(agent, PaperHosts(2, 1))
    assert "10.77.0.11) net=/proc/1/fd/1 name=host1 ;;" in agent.read_text()
    assert subprocess.run([agent, "10.77.0.99", "true"], check=False).returncode == 255
