"""The kernel, whether this is a container, and who may read another process's memory.

For: what the system permits. Not for: limits (limits.py, cgroup.py), what drivers of devices permit (gdr.py).
"""

from __future__ import annotations

from collections.abc import Iterator

from ringtree.doctor.host import Host
from ringtree.doctor.records import Fact, not_known, ok, told, warn

_PTRACE = "proc/sys/kernel/yama/ptrace_scope"
_SCOPES = {
    "0": "any process of the same user",
    "1": "parents, and processes that were named",
    "2": "root",
    "3": "nobody",
}


def kernel(host: Host) -> Iterator[Fact]:
    """Its version."""
    release = host.text("proc/sys/kernel/osrelease")
    source = "/proc/sys/kernel/osrelease"
    yield told("kernel", release, source) if release else not_known("kernel", "not readable", source)


def container(host: Host) -> Iterator[Fact]:
    """Whether this process is in a container."""
    kinds = signs_of_container(host)
    source = "/.dockerenv, /run/.containerenv, KUBERNETES_SERVICE_HOST, container"
    why = "what is not passed to it (GPUs, /dev/infiniband, /dev/shm, capabilities) appears to be missing"
    yield told("container", ", ".join(kinds) or "no sign of one", source, why if kinds else "")


def signs_of_container(host: Host) -> list[str]:
    """Returns what kinds of container there are signs of."""
    signs = {
        "docker": host.exists(".dockerenv"),
        "podman": host.exists("run/.containerenv"),
        "Kubernetes": "KUBERNETES_SERVICE_HOST" in host.environment,
        host.environment.get("container", ""): bool(host.environment.get("container")),
    }
    return [kind for kind, there in signs.items() if there]


def ptrace(host: Host) -> Iterator[Fact]:
    """Whether ranks may copy straight from each other's memory (process_vm_readv), as MPI libraries like to."""
    scope = host.text(_PTRACE)
    if not host.exists("proc/sys/kernel"):
        yield not_known("ptrace scope", "no /proc/sys/kernel", f"/{_PTRACE}")
    elif not scope:
        yield ok("ptrace scope", "not restricted (no Yama)", f"/{_PTRACE}")
    elif scope == "0":
        yield ok("ptrace scope", f"0: {_SCOPES['0']}", f"/{_PTRACE}")
    else:
        why = (
            "MPI libraries copy large messages once by process_vm_readv where they may, else twice through shared "
            "memory, so their times for large sizes depend on it: sysctl kernel.yama.ptrace_scope=0 to let them; "
            "ringtree's engine does not use it"
        )
        yield warn("ptrace scope", f"{scope}: {_SCOPES.get(scope, 'not known')}", f"/{_PTRACE}", why)
