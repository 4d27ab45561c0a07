"""Parts between hosts: how native arms are started (the commands alone), and a whole part where hosts can be made."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path
from typing import cast

import pytest
from bench.across import AcrossHosts, write_agent
from bench.parts import Choices, parts_named
from bench.runner import run
from bench.stored import read_parts
from hosts_support import Hosts, why_no_hosts

from ringtree.arms.mpi_libraries import Found, MpiProgram
from ringtree.arms.native_engine import EngineProgram
from ringtree.arms.worker_building import Toolchain

SOCKET = Path("/tmp/s")
TOOLS = Path(__file__).resolve().parents[3] / "tools"


class PaperHosts:
    """Addresses and names as hosts have them, and nothing behind them."""

    def __init__(self, count: int, ranks_per_host: int) -> None:
        self.count, self.ranks_per_host, self.num_stores = count, ranks_per_host, 0

    @property
    def num_ranks(self) -> int:
        return self.count * self.ranks_per_host

    def host_of(self, rank: int) -> int:
        return rank // self.ranks_per_host

    def address(self, host: int) -> str:
        return f"10.77.0.{10 + host}"

    def store(self) -> str:
        self.num_stores += 1
        return f"tcp://{self.address(0)}:{29500 + self.num_stores}"

    def namespace(self, host: int) -> str:
        return f"/proc/1/fd/{host}"

    def environment(self) -> dict[str, str]:
        return {"RINGTREE_SECRET_FILE": "secret"}


def paper(count: int, ranks_per_host: int) -> Hosts:
    return cast(Hosts, PaperHosts(count, ranks_per_host))


@pytest.fixture(autouse=True)
def _both_versions(monkeypatch: pytest.MonkeyPatch) -> None:
    """Whatever is installed here."""
    found = Found("mpirun", "5.0", Toolchain(("mpicc",), "Open MPI 5.0"))
    monkeypatch.setattr(MpiProgram, "found", lambda self: found)
    monkeypatch.setattr(MpiProgram, "worker", lambda self: Path("/w/worker"))


def test_the_engine_starts_every_rank_on_its_host(tmp_path: Path) -> None:
    engine = AcrossHosts(paper(2, 2), tmp_path, EngineProgram())
    *lines, last = engine.command(4, SOCKET, [0, 1])[-1].splitlines()
    assert last == "wait"
    assert [f"--net=/proc/1/fd/{host}" in line for host, line in zip((0, 0, 1, 1), lines, strict=True)] == [True] * 4
    for rank, line in enumerate(lines):
        assert f" RANK={rank} WORLD_SIZE=4 " in line
        assert "--store tcp://10.77.0.10:29501" in line
        assert "RINGTREE_SECRET_FILE=secret" in line
        assert "--pin 0,1" in line
        assert line.endswith(" &")
    assert engine.command(4, SOCKET, [])[-1] != engine.command(4, SOCKET, [])[-1], "every start has a store of its own"


@pytest.mark.parametrize(
    ("major", "agent_option", "shared"), [(4, "--mca plm_rsh_agent", "vader"), (5, "--prtemca plm_ssh_agent", "sm")]
)
def test_open_mpi_goes_over_tcp_and_inside_a_host_over_shared_memory(
    tmp_path: Path, major: int, agent_option: str, shared: str
) -> None:
    one, two = (AcrossHosts(paper(2, each), tmp_path, MpiProgram("openmpi", major)) for each in (1, 2))
    agent, address, mpirun = one.command(2, SOCKET, [0, 1])
    assert address == "10.77.0.10"
    assert f"{agent_option} {agent}" in mpirun
    assert "--mca btl tcp,self --mca" in mpirun
    assert "--host 10.77.0.10:1,10.77.0.11:1" in mpirun
    assert "mpi_yield_when_idle" not in mpirun
    crowded = two.command(4, SOCKET, [0, 1])[-1]
    assert f"--mca btl tcp,self,{shared} " in crowded
    assert "--mca mpi_yield_when_idle 1" in crowded


def test_the_agent_enters_the_host_of_an_address_and_refuses_others(tmp_path: Path) -> None:
    agent = tmp_path / "agent"
    write_agent(agent, paper(2, 1))
    assert "10.77.0.11) net=/proc/1/fd/1 name=host1 ;;" in agent.read_text()
    assert subprocess.run([agent, "10.77.0.99", "true"], check=False).returncode == 255


@pytest.mark.slow
def test_a_part_is_measured_between_hosts(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    if why_no_hosts():
        pytest.skip(why_no_hosts())
    if len(os.sched_getaffinity(0)) < 2:
        pytest.skip("needs two cores")
    monkeypatch.setenv("PYTHONPATH", str(TOOLS))
    said: list[str] = []
    run(Choices(1.0, 1, 1, parts_named("crossover-4x1")), tmp_path, tmp_path, said.append)
    stored = read_parts(tmp_path)["crossover-4x1"]
    assert stored.run.plan.hosts == [0, 1, 2, 3]
    assert [cell.verified for cell in stored.launches[0].cells] == [True] * 3
    assert said == ["crossover-4x1: about 1 s"]
