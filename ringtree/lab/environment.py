"""The environment of a run: which machine, which versions, which settings.

For: provenance, recorded once a run. Not for: deciding anything, or for secrets: of the environment's variables only
those on the allow-list are kept.
"""

from __future__ import annotations

import os
import platform
import subprocess
import sys
from importlib import metadata
from pathlib import Path

from ringtree.results import Provenance

# Settings that change what is measured. Values of other variables (tokens, addresses, user names) are never stored.
ALLOWED_PREFIXES = ("GLOO_", "KMP_", "MKL_", "NCCL_", "OMP_", "RINGTREE_", "TORCH_NCCL_")
ALLOWED_NAMES = ("LD_PRELOAD", "MALLOC_ARENA_MAX", "PYTHONHASHSEED", "TORCH_DISTRIBUTED_DEBUG")
_SECRET_WORDS = ("KEY", "PASSWORD", "SECRET", "TOKEN")


def capture(emulated: bool, rank_defaults: dict[str, str]) -> Provenance:
    """Returns the provenance of a run that starts now; `rank_defaults`: what ranks get unless it is set."""
    return Provenance(
        host_name=platform.node(),
        cpu_model=_cpu_model(),
        num_cpus=os.cpu_count() or 1,
        affinity=sorted(os.sched_getaffinity(0)),
        kernel=platform.release(),
        memory_bytes=_meminfo().get("MemTotal", 0),
        load_average=list(os.getloadavg()),
        versions={
            "python": platform.python_version(),
            "ringtree": _version("ringtree"),
            "numpy": _version("numpy"),
            "torch": _version("torch"),
        },
        git_commit=_git_commit(),
        command=list(sys.argv),
        environment=allowed({**rank_defaults, **os.environ}),
        emulated=emulated,
    )


def allowed(environment: dict[str, str]) -> dict[str, str]:
    """Returns the variables that may be stored."""
    return {
        name: value
        for name, value in sorted(environment.items())
        if (name.startswith(ALLOWED_PREFIXES) or name in ALLOWED_NAMES)
        and not any(word in name.upper() for word in _SECRET_WORDS)
    }


def available_memory() -> int:
    """Returns the bytes of memory that can be used without swapping."""
    return _meminfo().get("MemAvailable", 0)


def usable_cores() -> int:
    """Returns the cores that this process may run on."""
    return len(os.sched_getaffinity(0))


def _meminfo() -> dict[str, int]:
    fields = {}
    for line in Path("/proc/meminfo").read_text().splitlines():
        name, _, rest = line.partition(":")
        fields[name] = int(rest.split()[0]) * 1024
    return fields


def _cpu_model() -> str:
    for line in Path("/proc/cpuinfo").read_text().splitlines():
        name, _, value = line.partition(":")
        if name.strip() in ("model name", "Model", "cpu model"):
            return value.strip()
    return platform.processor() or platform.machine()


def _version(package: str) -> str | None:
    try:
        return metadata.version(package)
    except metadata.PackageNotFoundError:
        return None


def _git_commit() -> str | None:
    """The commit of the checkout that this code runs from, "+dirty" if it was changed; None if it is no checkout."""
    here = Path(__file__).resolve().parent

    def git(*arguments: str) -> str | None:
        try:
            done = subprocess.run(["git", *arguments], cwd=here, capture_output=True, text=True, timeout=10)
        except (OSError, subprocess.TimeoutExpired):
            return None
        return done.stdout.strip() if done.returncode == 0 else None

    if git("ls-files", "--error-unmatch", Path(__file__).name) is None:
        return None  # installed beneath somebody else's repository, or in none
    commit = git("rev-parse", "HEAD")
    return commit and commit + ("+dirty" if git("status", "--porcelain", "--untracked-files=no") else "")
