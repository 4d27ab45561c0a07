"""Parts between hosts: network namespaces of this machine, as the tests make them (tests/python/support).

For: making hosts and starting ranks on them; the engine's workers and Open MPI across hosts. Not for: what is measured
(parts.py), or finding the libraries (ringtree.arms).

Open MPI's mpirun reaches other hosts by ssh, which namespaces lack: its agent here is a script that enters the
namespace. Every host gets a name of its own (a UTS namespace), so that Open MPI tells hosts apart as on a cluster and
ranks of different hosts cannot find each other's shared memory.
"""

from __future__ import annotations

import os
import shlex
import tempfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from bench.parts import Part
from ringtree.arms import Program
from ringtree.arms.mpi_libraries import MpiProgram
from ringtree.arms.native_engine import EngineProgram
from ringtree.arms.program import is_crowded, operands
from ringtree.errors import RingtreeError, UsageError
from ringtree.measure.giving_up import given_up
from ringtree.measure.launch import run_sets, worker_sets
from ringtree.measure.messages import ProgressReport
from ringtree.measure.plan import PlannedLaunch
from ringtree.measure.probe import Handoff, usable_cores
from ringtree.measure.recording import LaunchBy
from ringtree.measure.worker_set import Deadlines
from ringtree.results import Cell, Plan

if TYPE_CHECKING:
    from hosts_support import Hosts

INTERFACE = "eth0"
# By major version: the framework that starts daemons takes its settings by another option and under another name, and
# so is shared memory called.
_DAEMONS = {4: ("--mca", "plm_rsh_agent"), 5: ("--prtemca", "plm_ssh_agent")}
_SHARED_MEMORY = {4: "vader", 5: "sm"}
YIELDING = ("--mca", "mpi_yield_when_idle", "1")
_PATIENCE, _LEAST_PATIENCE = 10.0, 300.0  # times what was asked for; seconds


def require_hosts() -> None:
    """Raises UsageError if this process cannot make hosts, as most users cannot."""
    try:
        from hosts_support import why_no_hosts
    except ModuleNotFoundError as error:
        raise UsageError("PYTHONPATH must hold tests/python/support, as `make bench-hosts` sets it") from error
    why = why_no_hosts()
    if why:
        raise UsageError(f"no hosts can be made here, which takes root and network namespaces: {why}")


@contextmanager
def made_hosts(part: Part) -> Iterator[Hosts]:
    """The hosts of a part, their links shaped as it says. Raises OSError."""
    from hosts_support import Hosts

    with Hosts(part.hosts, part.ranks // part.hosts) as hosts:
        for host in range(part.hosts if part.shaping else 0):
            hosts.run(host, "tc", "qdisc", "add", "dev", INTERFACE, "root", "tbf", *str(part.shaping).split())
        yield hosts


def run_on_ranks(hosts: Hosts, words: Sequence[str], seconds: float) -> None:
    """Runs Python with `words`, which were to take `seconds`, as every rank. Raises RingtreeError if one fails, or
    TimeoutExpired."""
    from hosts_support import run_python_on

    for rank, process in enumerate(run_python_on(hosts, words, max(_LEAST_PATIENCE, _PATIENCE * seconds))):
        if process.returncode != 0:
            why = (process.stderr.strip().splitlines() or ["it said nothing"])[-1]
            raise RingtreeError(f"rank {rank} ended with {process.returncode}: {why}")


@contextmanager
def starter(hosts: Hosts) -> Iterator[LaunchBy]:
    """What runs a launch of native arms across hosts, in place of ringtree.measure.launch.run_launch."""
    with tempfile.TemporaryDirectory(prefix="bench-hosts-", ignore_cleanup_errors=True) as folder:

        def run(
            plan: Plan, launch: PlannedLaunch, on_progress: Callable[[ProgressReport], None], **said: Any
        ) -> tuple[list[int], list[Cell]]:
            cores = usable_cores()
            across = partial(AcrossHosts, hosts, Path(folder))
            sets = worker_sets(plan, launch, launch.arms, cores, Deadlines(), across)
            return run_sets(plan, launch, sets, on_progress, given_up(said["before"]), Handoff(cores))

        yield run


@dataclass(frozen=True)
class AcrossHosts:
    """The program that starts the ranks of `local` on hosts. `folder`: where scripts may be written."""

    hosts: Hosts
    folder: Path
    local: Program

    @property
    def name(self) -> str:
        return self.local.name

    def environment(self) -> dict[str, str]:
        return dict(self.hosts.environment())

    def command(self, num_ranks: int, socket: Path, pin: Sequence[int]) -> list[str]:
        """A shell that starts all of the engine's ranks and waits for them, or mpirun on host 0."""
        if isinstance(self.local, EngineProgram):
            return self._engine(self.local, num_ranks, operands(socket, pin))
        assert isinstance(self.local, MpiProgram), "parts between hosts have no other native arms"
        agent = self.folder / self.local.name / "agent"
        agent.parent.mkdir(exist_ok=True)
        write_agent(agent, self.hosts)
        words = [*self._mpirun(self.local, agent), *(YIELDING if is_crowded(num_ranks, pin) else ())]
        words += ["-n", str(num_ranks), str(self.local.worker()), *operands(socket, pin)]
        return [str(agent), self.hosts.address(0), shlex.join(words)]

    def _engine(self, local: EngineProgram, num_ranks: int, more: Sequence[str]) -> list[str]:
        """One worker a rank, which meet in a store on host 0."""
        from hosts_support import on_host, rank_variables

        store = self.hosts.store()
        worker = [str(local.worker), "--store", store, *more, *local.rules()]
        lines = []
        for rank in range(num_ranks):
            variables = [f"{name}={value}" for name, value in rank_variables(self.hosts, rank, store).items()]
            lines.append(f"{shlex.join(on_host(self.hosts, self.hosts.host_of(rank), 'env', *variables, *worker))} &")
        return ["sh", "-c", "\n".join([*lines, "wait"])]

    def _mpirun(self, local: MpiProgram, agent: Path) -> list[str]:
        """Daemons by the agent; TCP between hosts, inside a host shared memory, as it would choose itself."""
        each, (option, name) = self.hosts.ranks_per_host, _DAEMONS[local.major or 5]
        transports = "tcp,self" if each == 1 else f"tcp,self,{_SHARED_MEMORY[local.major or 5]}"
        at = ",".join(f"{self.hosts.address(host)}:{each}" for host in range(self.hosts.count))
        words = [local.found().launcher, "--host", at, option, name, str(agent), option, "oob_tcp_if_include"]
        words += [INTERFACE, "--leave-session-attached", "--map-by", f"ppr:{each}:node", "--bind-to", "none"]
        words += ["--mca", "pml", "ob1", "--mca", "btl", transports, "--mca", "btl_tcp_if_include", INTERFACE]
        return words + (["--allow-run-as-root"] if os.geteuid() == 0 else [])


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


def tune(parts: Sequence[Part], budget: float, say: Callable[[str], None]) -> None:
    """Runs `ringtree tune` of all_reduce on the hosts of `parts` over bare links, in `budget` seconds in all, into the
    profile that `auto` chooses by. Raises RingtreeError."""
    require_hosts()
    shapes = list({(part.hosts, part.ranks): part for part in parts if part.shaping is None}.values())
    seconds = budget / len(shapes)
    for part in shapes:
        say(f"tuning {part.hosts} hosts of {part.ranks // part.hosts}: about {seconds:.0f} s")
        with made_hosts(part) as hosts:
            run_on_ranks(hosts, ["-m", "ringtree", "tune", "--sizes", "8:16M", "--budget", f"{seconds:.0f}s"], seconds)
