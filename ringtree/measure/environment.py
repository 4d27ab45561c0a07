"""The environment of a run: which machine, which versions, which settings.

For: provenance, recorded once a run, and whether two of them may share a run. Not for: reading /proc and /sys
(host_files.py), or for secrets: of the environment's variables only those on the allow-list are kept, and of those none
that looks like a secret.
"""

from __future__ import annotations

import os
import platform
import subprocess
import sys
from collections.abc import Callable
from importlib import metadata
from pathlib import Path

from ringtree.comm.cpuinfo import ROOT, cpu_model
from ringtree.errors import RingtreeError
from ringtree.gpu.driver import device_count, device_memory, device_name, driver_version
from ringtree.gpu.nccl import nccl_version
from ringtree.measure import host_files
from ringtree.measure.host_files import CpuTimes
from ringtree.results import ON_GPU, Boundary, Launcher, Provenance
from ringtree.storable import is_secret, printable, storable_command
from ringtree.units import count, format_size

__all__ = [
    "CpuTimes",
    "allowed",
    "available_memory",
    "capture",
    "difference",
    "lacks_memory",
    "memory_for",
    "usable_cores",
    "version_of",
]

# Settings that change what is measured. Values of other variables (tokens, addresses, user names) are never stored.
ALLOWED_PREFIXES = (
    "FI_",
    "GLOO_",
    "GOMP_",
    "I_MPI_",
    "KMP_",
    "MKL_",
    "MPICH_",
    "NCCL_",
    "OMPI_MCA_",
    "OMP_",
    "OPENBLAS_",
    "RINGTREE_",
    "TORCH_NCCL_",
    "UCX_",
)
ALLOWED_NAMES = (
    "CUDA_VISIBLE_DEVICES",
    "GLIBC_TUNABLES",  # from which size memcpy goes past the caches
    "LD_PRELOAD",
    "MALLOC_ARENA_MAX",
    "PYTHONHASHSEED",
    "SLURM_CPUS_PER_TASK",
    "SLURM_CPU_BIND",
    "SLURM_CPU_FREQ_REQ",
    "SLURM_DISTRIBUTION",
    "SLURM_JOB_ID",
    "SLURM_JOB_NODELIST",
    "SLURM_JOB_NUM_NODES",
    "SLURM_JOB_PARTITION",
    "SLURM_NTASKS",
    "SLURM_NTASKS_PER_NODE",
    "TORCH_DISTRIBUTED_DEBUG",
)
# What Open MPI's launcher tells its ranks through the same prefix: contact addresses, a transport key, directories.
_NO_SETTINGS = ("OMPI_MCA_ess_", "OMPI_MCA_initial_", "OMPI_MCA_orte_", "OMPI_MCA_pmix_", "OMPI_MCA_prte_")

# Versions that change what is measured; those of the packages that only look at it afterwards do not.
_MEASURING = ("ringtree", "numpy", "torch")
_OF_GPUS = ("nccl", "cuda")
_LOOKING = ("scipy", "duckdb")
# What of the checkout takes part in measuring: a page that is edited between two launches changes none of them.
_CODE = ("CMakeLists.txt", "cmake", "core", "include", "ringtree", "ringtree_autoload", "workers")
GIT_SECONDS = 60.0  # a commit that is not found in time would count as another one
# Variables that name a job and change nothing in it.
_JOB_NAMES = ("RINGTREE_JOB", "SLURM_JOB_ID", "SLURM_JOB_NODELIST")


def capture(
    emulated: bool,
    rank_defaults: dict[str, str],
    root: Path = ROOT,
    launcher: Launcher | None = None,
    cores: list[int] | None = None,
    on_gpu: bool = False,
    nccl: str | None = None,
) -> Provenance:
    """Returns the provenance of a run that starts now; `rank_defaults`: what ranks get unless it is set; `launcher`:
    what started the processes, if one did;
    `cores`: that ranks on this host may use, by default this process's; `on_gpu`: ranks work on GPUs;
    `nccl`: the release that they call, where it is not that of the library which ringtree finds.

    `root`: the directory that holds proc/ and sys/. What can't be read is None, 0 or empty; never raises.
    """
    affinity = sorted(os.sched_getaffinity(0)) if cores is None else cores
    versions = {name: version_of(name) for name in (*_MEASURING, *_LOOKING)}
    gpus, of_gpus = _gpus() if on_gpu else ([], {})
    if nccl is not None:
        of_gpus["nccl"] = nccl
    return Provenance(
        host_name=platform.node(),
        cpu_model=cpu_model(root) or platform.processor() or platform.machine(),
        num_cpus=os.cpu_count() or 1,
        affinity=affinity,
        kernel=platform.release(),
        memory_bytes=host_files.memory(root).get("MemTotal", 0),
        load_average=host_files.load_average(root),
        governor=host_files.governor(affinity, root),
        cgroup_cpus=host_files.cgroup_cpus(root),
        virtual=host_files.virtual(root),
        gpus=gpus,
        versions={"python": platform.python_version(), **versions, **of_gpus},
        git_commit=commit_of(),
        command=storable_command(sys.argv),
        environment=allowed({**rank_defaults, **os.environ}),
        emulated=emulated,
        launcher=launcher,
    )


def difference(before: Provenance, now: Provenance) -> list[str]:
    """Returns what differs so that launches made under `before` and `now` must not be in one run; empty if nothing.

    One line each, of the form "the kernel was 6.1 and is 6.8". Machine, cores and their limits, kernel, the versions
    that take part in measuring, the commit of the code, and settings count; load, command, memory and job names do not.
    Uncommitted changes are told from none, but not from other uncommitted changes.
    """
    fields = [
        ("the host", before.host_name, now.host_name),
        ("the processor", before.cpu_model, now.cpu_model),
        ("the number of CPUs", before.num_cpus, now.num_cpus),
        ("the set of GPUs", before.gpus, now.gpus),
        ("the set of usable cores", before.affinity, now.affinity),
        ("the kernel", before.kernel, now.kernel),
        ("the governor", before.governor, now.governor),
        ("the cgroup's limit of cores", before.cgroup_cpus, now.cgroup_cpus),
        ("emulation", before.emulated, now.emulated),
        *(
            (f"the version of {name}", before.versions.get(name), now.versions.get(name))
            for name in ("python", *_MEASURING, *_OF_GPUS)
        ),
        ("the commit", before.git_commit, now.git_commit),
        *_launched(before.launcher, now.launcher),
    ]
    variables = sorted({*before.environment, *now.environment} - set(_JOB_NAMES))
    fields += [(name, before.environment.get(name), now.environment.get(name)) for name in variables]
    return [f"{what} was {_shown(old)} and is {_shown(new)}" for what, old, new in fields if old != new]


def allowed(environment: dict[str, str]) -> dict[str, str]:
    """Returns the variables that may be stored: on the allow-list, and neither name nor value looks like a secret."""
    return {
        name: printable(value)
        for name, value in sorted(environment.items())
        if (name.startswith(ALLOWED_PREFIXES) or name in ALLOWED_NAMES)
        and not name.startswith(_NO_SETTINGS)
        and not is_secret(name, value)
    }


def available_memory(root: Path = ROOT) -> int:
    """Returns the bytes of memory that can be used without swapping; 0 if the kernel does not report it."""
    return host_files.memory(root).get("MemAvailable", 0)


def memory_for(boundary: Boundary | None, num_ranks: int) -> int:
    """Returns the bytes that ranks of this host may use for operands: the host's memory, or that of their GPUs, which
    they share where these are fewer."""
    if boundary not in ON_GPU:
        return available_memory()
    return device_memory() * min(num_ranks, max(1, device_count()))


def lacks_memory(needed: int, num_ranks: int, available: int) -> str | None:
    """Returns why ranks that need so many bytes together don't fit into what is free; None if they do, or if that is
    not known (0)."""
    if not 0 < available < needed:
        return None
    need = "needs" if num_ranks == 1 else "need"
    about, free = (format_size(size >> 20 << 20) for size in (needed, available))
    return f"{count(num_ranks, 'rank')} {need} about {about} of memory and {free} are free"


def measuring_versions() -> dict[str, str | None]:
    """Returns the versions that take part in measuring, which all hosts of a run must have alike."""
    return {"python": platform.python_version(), **{name: version_of(name) for name in _MEASURING}}


def _gpus() -> tuple[list[str], dict[str, str | None]]:
    """The names of this host's GPUs, and the versions of what works on them."""
    asked: list[Callable[[], str]] = [nccl_version, driver_version]
    found: list[str | None] = []
    for ask in asked:
        try:
            found.append(ask())
        except RingtreeError:
            found.append(None)
    try:
        names = [device_name(ordinal) for ordinal in range(device_count())]
    except RingtreeError:
        names = []
    return names, dict(zip(_OF_GPUS, found, strict=True))


def usable_cores() -> int:
    """Returns the number of cores that this process may run on."""
    return len(os.sched_getaffinity(0))


def _launched(before: Launcher | None, now: Launcher | None) -> list[tuple[str, object, object]]:
    """What may differ of launchers: everything but the job's id; nothing of one that has started a single process, as
    then the lab starts all ranks itself."""
    before, now = (None if one is None or one.num_processes == 1 else one for one in (before, now))
    fields = {"name": "the launcher", "num_processes": "the number of its processes", "hosts": "the set of its hosts"}
    return [(what, getattr(before, name, None), getattr(now, name, None)) for name, what in fields.items()]


def _shown(value: object) -> str:
    return "not set or not known" if value is None else str(value)


def version_of(package: str) -> str | None:
    """Returns the version of a Python package that is installed, None if it is not."""
    try:
        return metadata.version(package)
    except metadata.PackageNotFoundError:
        return None


def commit_of(file: Path = Path(__file__)) -> str | None:
    """The commit of the checkout that the package with `file` runs from, "+dirty" if code that takes part in measuring
    was changed since, "+unchecked" where Git does not say so in time; None if it is not a checkout. `file`: in a folder
    of the package's."""
    here = file.resolve().parent

    def git(*arguments: str) -> str | None:
        try:
            done = subprocess.run(["git", *arguments], cwd=here, capture_output=True, text=True, timeout=GIT_SECONDS)
        except (OSError, subprocess.SubprocessError, UnicodeDecodeError):
            return None
        return done.stdout.strip() if done.returncode == 0 else None

    if git("ls-files", "--error-unmatch", file.name) is None:
        return None  # installed beneath somebody else's repository, or in none
    commit = git("rev-parse", "HEAD")
    code = [str(here.parent.parent / name) for name in _CODE]
    changed = git("status", "--porcelain", "--untracked-files=no", "--", *code)
    return commit and commit + ("+unchecked" if changed is None else "+dirty" if changed else "")
