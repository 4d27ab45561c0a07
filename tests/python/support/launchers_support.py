"""Real launchers on one machine: mpirun of Open MPI and MPICH, torchrun, and a Slurm of two nodes.

For: commands that start processes as a user would. Not for: what is started, or assertions.

mpirun and torchrun are None where they are not installed. The Slurm has daemons, key and folders of its own, ports that
were free a moment ago, and needs root, as Slurm does to start steps; it ends with its context.
"""

from __future__ import annotations

import contextlib
import functools
import importlib.util
import os
import shutil
import socket
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from hosts_support import Hosts

RINGTREE = [sys.executable, "-m", "ringtree"]
QUICK_RINGTREE = [sys.executable, str(Path(__file__).with_name("quick_ringtree.py"))]  # of times nobody looks at
PATIENCE_S = 300
# Variables of a launcher under which the tests themselves may run.
_OF_LAUNCHERS = ("SLURM_", "OMPI_", "PMI", "PALS_", "FLUX_", "JSM_", "TORCHELASTIC_", "MPI_LOCAL")
_OF_TORCH = ("RANK", "WORLD_SIZE", "LOCAL_RANK", "LOCAL_WORLD_SIZE", "MASTER_ADDR", "MASTER_PORT")
_SLURM = """\
ClusterName=ringtree
SlurmctldHost={host}({addresses[0]})
SlurmUser=root
SlurmdUser=root
AuthType=auth/munge
AuthInfo=socket={folder}/munge.socket
CredType=cred/munge
MpiDefault=none
ProctrackType=proctrack/pgid
TaskPlugin=task/none
SwitchType=switch/none
SelectType=select/cons_tres
SelectTypeParameters=CR_CPU
SlurmdParameters=config_overrides
ReturnToService=2
SlurmctldPort={ports[0]}
StateSaveLocation={folder}/state
SlurmdSpoolDir={folder}/spool.%n
SlurmctldPidFile={folder}/slurmctld.pid
SlurmdPidFile={folder}/slurmd.%n.pid
SlurmctldLogFile={folder}/slurmctld.log
SlurmdLogFile={folder}/slurmd.%n.log
NodeName=n0 NodeHostname={host} NodeAddr={addresses[0]} Port={ports[1]} CPUs=8 State=UNKNOWN
NodeName=n1 NodeHostname={host} NodeAddr={addresses[1]} Port={ports[2]} CPUs=8 State=UNKNOWN
PartitionName=all Nodes=ALL Default=YES State=UP
"""


def plain_environment() -> dict[str, str]:
    """This process's variables without those of launchers."""
    return {
        name: value
        for name, value in os.environ.items()
        if not name.startswith(_OF_LAUNCHERS) and name not in _OF_TORCH
    }


@functools.cache
def mpirun(flavour: str) -> list[str] | None:
    """The command of "openmpi" or "mpich", up to its -n; None if it is not installed."""
    name = shutil.which(f"mpirun.{flavour}") or shutil.which("mpirun")
    if name is None:
        return None
    said = subprocess.run([name, "--version"], capture_output=True, text=True, timeout=60, check=False).stdout
    if not any(word in said for word in (["HYDRA"] if flavour == "mpich" else ["Open MPI", "OpenRTE"])):
        return None
    more = ["--oversubscribe", "--allow-run-as-root"] if flavour == "openmpi" else []
    return [name, *more, "-n"]


@functools.cache
def torchrun() -> list[str] | None:
    """torchrun's command on one host, up to the number of processes; None without a PyTorch that can be imported."""
    command = [sys.executable, "-m", "torch.distributed.run"]
    if importlib.util.find_spec("torch") is None or run([*command, "--help"]).returncode != 0:
        return None
    return [*command, "--no-python", "--nproc-per-node"]


def why_no_slurm() -> str:
    """Why no Slurm can be started here; "" if it can."""
    missing = [tool for tool in ("slurmctld", "slurmd", "srun", "munged") if shutil.which(tool, path=_path()) is None]
    if missing:
        return f"not installed: {', '.join(missing)} (Debian: apt-get install slurm-wlm munge)"
    return "" if os.geteuid() == 0 else "slurmd starts steps as root only"


@dataclass(frozen=True)
class Slurm:
    """A running one. `environment`: of its commands; `on_first`: what runs them on the first node."""

    environment: dict[str, str]
    on_first: list[str]

    def run(self, *command: str, **variables: str) -> subprocess.CompletedProcess[str]:
        """Runs a command of Slurm's to its end."""
        return run([*self.on_first, *command], self.environment | variables)

    def start(self, *command: str, **variables: str) -> subprocess.Popen[str]:
        """Starts a command of Slurm's."""
        return subprocess.Popen(
            [*self.on_first, *command],
            env=self.environment | variables,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )


@contextlib.contextmanager
def slurm(hosts: Hosts | None = None) -> Iterator[Slurm]:
    """A Slurm of two nodes, n0 and n1, on this machine. `hosts`: two network namespaces, one for each node; there the
    nodes' names resolve, in an /etc/hosts of theirs. Else they are names of this machine that nothing resolves."""
    with tempfile.TemporaryDirectory(prefix="ringtree-slurm-", dir="/tmp") as name, contextlib.ExitStack() as stack:
        folder = Path(name)
        for made in ("state", "spool.n0", "spool.n1"):
            (folder / made).mkdir()
        key, socket_file = folder / "key", folder / "munge.socket"
        key.write_bytes(os.urandom(1024))
        key.chmod(0o600)
        host = socket.gethostname().split(".")[0]
        addresses = ["127.0.0.1"] * 2 if hosts is None else [hosts.address(node) for node in range(2)]
        names = "".join(f"{address} n{node}\n" for node, address in enumerate(addresses))
        (folder / "hosts").write_text(f"127.0.0.1 localhost\n{addresses[0]} {host}\n{names}")
        conf = _SLURM.format(folder=folder, host=host, ports=free_ports(3), addresses=addresses)
        (folder / "slurm.conf").write_text(conf)
        on = [[] if hosts is None else _on_node(hosts, node, folder / "hosts") for node in range(2)]
        environment = plain_environment() | {"SLURM_CONF": str(folder / "slurm.conf"), "PATH": _path()}
        munged = ["munged", "--foreground", "--force", f"--key-file={key}", f"--socket={socket_file}"]
        munged += [f"--{what}-file={folder}/munge.{what}" for what in ("pid", "log", "seed")]
        daemons = [munged, [*on[0], "slurmctld", "-D"], *([*on[i], "slurmd", "-D", "-N", f"n{i}"] for i in range(2))]
        for number, daemon in enumerate(daemons):
            stack.enter_context(_daemon(daemon, environment, folder / f"daemon{number}.out"))
        # srun waits for nodes that have not registered yet, so nothing has to be waited for here but the controller.
        ready = [*on[0], "sh", "-c", "until scontrol ping | grep -q UP; do sleep 0.1; done"]
        subprocess.run(ready, env=environment, timeout=60, check=True, capture_output=True)
        yield Slurm(environment, on[0])


def run(command: list[str], environment: dict[str, str] | None = None) -> subprocess.CompletedProcess[str]:
    """Runs a command to its end."""
    return subprocess.run(
        command,
        env=plain_environment() if environment is None else environment,
        capture_output=True,
        text=True,
        timeout=PATIENCE_S,
        check=False,
    )


def start_by_hand(
    num_processes: int,
    *command: str,
    of_last: dict[str, str] | None = None,
    prefixes: Sequence[list[str]] = (),
    **environment: str,
) -> list[subprocess.Popen[str]]:
    """Starts `ringtree <command>` as processes of one job by RANK and WORLD_SIZE, whose pids are then known. `of_last`:
    variables that only the last of them gets; `prefixes`: by process, what starts it where it belongs."""
    return [
        subprocess.Popen(
            [*(prefixes[rank] if prefixes else []), *RINGTREE, *command],
            env=variables,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        for rank, variables in enumerate(variables_by_hand(num_processes, of_last, environment))
    ]


def variables_by_hand(
    num_processes: int, of_last: Mapping[str, str] | None, environment: Mapping[str, str]
) -> list[dict[str, str]]:
    """All variables of each process of a new job, as start_by_hand() gives them."""
    (port,) = free_ports(1)
    numbers = {"WORLD_SIZE": str(num_processes), "MASTER_ADDR": "127.0.0.1", "MASTER_PORT": str(port)}
    return [
        plain_environment()
        | numbers
        | {"RANK": str(rank)}
        | environment
        | ((of_last or {}) if rank == num_processes - 1 else {})
        for rank in range(num_processes)
    ]


def _on_node(hosts: Hosts, node: int, names: Path) -> list[str]:
    """What runs a command in a node's network, and with its names."""
    resolving = ["unshare", "--mount", "sh", "-c", 'mount --bind "$0" /etc/hosts && exec "$@"', str(names)]
    return ["nsenter", f"--net={hosts.namespace(node)}", *resolving]


@contextlib.contextmanager
def _daemon(command: list[str], environment: dict[str, str], log: Path) -> Iterator[None]:
    with log.open("wb") as output:
        process = subprocess.Popen(command, env=environment, stdout=output, stderr=output, cwd=log.parent)
        try:
            yield
        finally:
            process.terminate()
            try:
                process.wait(timeout=20)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()


def _path() -> str:
    return f"{os.environ.get('PATH', '')}:/usr/sbin:/sbin"


def free_ports(count: int) -> list[int]:
    """Returns ports that were free a moment ago."""
    with contextlib.ExitStack() as stack:
        held = [stack.enter_context(socket.socket()) for _ in range(count)]
        for one in held:
            one.bind(("127.0.0.1", 0))
        return [one.getsockname()[1] for one in held]
