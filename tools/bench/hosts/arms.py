"""The native arms across hosts: the engine, and Open MPI as its own launcher starts it, through a stand-in for ssh.

For: the command of each arm. Not for: finding the libraries (ringtree.arms), or what is timed.

Open MPI's mpirun reaches other hosts by ssh, which namespaces lack: its agent here is a script that enters the
namespace. Every host gets a name of its own (a UTS namespace), so that Open MPI tells hosts apart as on a cluster and
ranks of different hosts cannot find each other's shared memory.
"""

from __future__ import annotations

import os
import shlex
from collections.abc import Container, Sequence
from dataclasses import dataclass
from pathlib import Path

from bench.hosts.network import Hosts, on_host, rank_variables
from ringtree.arms.mpi_libraries import MpiProgram
from ringtree.arms.native_engine import EngineProgram, lacks
from ringtree.arms.program import is_crowded, operands

ENGINE = "engine"
OPEN_MPIS = (4, 5)  # major versions
INTERFACE = "eth0"
# By major version: the framework that starts daemons takes its settings by another option and under another name, and
# so is shared memory called.
_DAEMONS = {4: ("--mca", "plm_rsh_agent"), 5: ("--prtemca", "plm_ssh_agent")}
_SHARED_MEMORY = {4: "vader", 5: "sm"}


@dataclass(frozen=True)
class HostsEngine:
    """Ours: one worker a rank, which meet in a store on host 0."""

    hosts: Hosts
    name: str = ENGINE

    def environment(self) -> dict[str, str]:
        return self.hosts.environment()

    def command(self, num_ranks: int, socket: Path, pin: Sequence[int]) -> list[str]:
        """A shell that starts all ranks and waits for them."""
        store, local = self.hosts.store(), EngineProgram()
        worker = [str(local.worker), "--store", store, *operands(socket, pin), *local.rules()]
        lines = []
        for rank in range(num_ranks):
            variables = [f"{name}={value}" for name, value in rank_variables(self.hosts, rank, store).items()]
            lines.append(f"{shlex.join(on_host(self.hosts, self.hosts.host_of(rank), ['env', *variables, *worker]))} &")
        return ["sh", "-c", "\n".join([*lines, "wait"])]

    def said(self) -> list[str]:
        """How it was started, as the page tells it."""
        return ["engine_worker", "--store", "tcp://HOST0:PORT"]


@dataclass(frozen=True)
class HostsOpenMpi:
    """Open MPI over TCP between hosts; inside a host its shared memory, as it would choose itself."""

    local: MpiProgram
    hosts: Hosts
    agent: Path

    @property
    def name(self) -> str:
        return self.local.name

    def environment(self) -> dict[str, str]:
        return {}

    def command(self, num_ranks: int, socket: Path, pin: Sequence[int]) -> list[str]:
        """mpirun on host 0, which starts its daemons by the agent."""
        write_agent(self.agent, self.hosts)
        options = self._options(str(self.agent), is_crowded(num_ranks, pin))
        launcher, worker = self.local.found().launcher, str(self.local.worker())
        mpirun = [launcher, *options, "-n", str(num_ranks), worker, *operands(socket, pin)]
        return [str(self.agent), self.hosts.address(0), shlex.join(mpirun)]

    def said(self) -> list[str]:
        """How it was started, as the page tells it."""
        crowded = is_crowded(self.hosts.num_ranks, [])
        return ["mpirun", *self._options("AGENT", crowded), "-n", str(self.hosts.num_ranks), "worker"]

    def _options(self, agent: str, crowded: bool) -> list[str]:
        major = self.local.major or 0
        option, name = _DAEMONS[major]
        each = self.hosts.ranks_per_host
        transports = "tcp,self" if each == 1 else f"tcp,self,{_SHARED_MEMORY[major]}"
        found = ["--host", ",".join(f"{self.hosts.address(host)}:{each}" for host in range(self.hosts.count))]
        found += [option, name, agent, option, "oob_tcp_if_include", INTERFACE, "--leave-session-attached"]
        found += ["--map-by", f"ppr:{each}:node", "--bind-to", "none"]
        found += ["--mca", "pml", "ob1", "--mca", "btl", transports, "--mca", "btl_tcp_if_include", INTERFACE]
        found += ["--allow-run-as-root"] if os.geteuid() == 0 else []
        return found + (["--mca", "mpi_yield_when_idle", "1"] if crowded else [])


def write_agent(path: Path, hosts: Hosts) -> None:
    """Writes the script that runs a command on a host as ssh would: `agent ADDRESS COMMAND…`."""
    cases = [f"{hosts.address(host)}) net={hosts.namespace(host)} name=host{host} ;;" for host in range(hosts.count)]
    text = ["#!/bin/sh", "host=$1; shift", "case $host in", *cases, "*) exit 255 ;;", "esac"]
    text += [f"mkdir -p {path.parent}/$name"]
    # The command comes in words that the far shell is to read, as with ssh.
    text += [
        'exec nsenter --net=$net unshare --uts sh -c "hostname $name; '
        f'export TMPDIR={path.parent}/$name PRTE_MCA_prte_silence_shared_fs=1; $*"'
    ]
    path.write_text("\n".join(text) + "\n")
    path.chmod(0o700)


def host_arms(hosts: Hosts, folder: Path, names: Container[str]) -> dict[str, HostsEngine | HostsOpenMpi]:
    """Every native arm but those of `names`; `folder`: where scripts may be written."""
    found: dict[str, HostsEngine | HostsOpenMpi] = {ENGINE: HostsEngine(hosts)}
    for local in map(open_mpi, OPEN_MPIS):
        if local.name not in names:
            (folder / local.name).mkdir(exist_ok=True)
            found[local.name] = HostsOpenMpi(local, hosts, folder / local.name / "agent")
    return found


def open_mpi(major: int) -> MpiProgram:
    """Returns Open MPI of that version."""
    return MpiProgram("openmpi", major)


def missing_arms() -> dict[str, str]:
    """Returns native arms that can't run here, and why."""
    found = {ENGINE: lacks(), **{open_mpi(major).name: open_mpi(major).lacks() for major in OPEN_MPIS}}
    return {name: why for name, why in found.items() if why is not None}
