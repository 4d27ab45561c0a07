"""Limits of this process, which the ranks that it starts inherit.

For: locked memory, open files, processes. Not for: limits of the cgroup (cgroup.py).

How many ranks there will be is not known: one a core is taken, with 16 files for each peer and 32 threads of its own,
which is more than the engine needs and about what NCCL and Gloo may take.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from ringtree.doctor.host import Host
from ringtree.doctor.probes.cores import online_cores
from ringtree.doctor.records import Fact, fail, not_known, ok, warn
from ringtree.units import count, format_size

_SOURCE = "/proc/self/limits"
_LINE = re.compile(r"^Max (?P<name>[a-z ]+?)\s{2,}(?P<soft>\d+|unlimited)\s+(?P<hard>\d+|unlimited)", re.MULTILINE)
_CAP_IPC_LOCK = 14
_FILES_PER_RANK, _FILES_BESIDE = 16, 256
_THREADS_PER_RANK = 32


def locked_memory(host: Host) -> Iterator[Fact]:
    """Memory that may be locked, which RDMA needs."""
    limit = _limits(host).get("locked memory")
    if limit is None:
        yield not_known("locked memory (ulimit -l)", "no such line", _SOURCE)
        return
    value = "unlimited" if limit < 0 else format_size(limit)
    if limit < 0 or _may_lock(host):
        yield ok("locked memory (ulimit -l)", value if limit < 0 else f"{value}, which root may exceed", _SOURCE)
    elif host.names("sys/class/infiniband"):
        why = (
            "buffers for RDMA are locked, so NCCL and MPI fail or fall back to TCP: ulimit -l unlimited "
            "(memlock in limits.conf, LimitMEMLOCK of slurmd or the container's service, --ulimit memlock=-1 of docker)"
        )
        yield fail("locked memory (ulimit -l)", value, _SOURCE, why)
    else:
        yield ok("locked memory (ulimit -l)", f"{value}; no RDMA device here needs more", _SOURCE)


def open_files(host: Host) -> Iterator[Fact]:
    """Files and sockets that may be open."""
    yield _enough(host, "open files", "ulimit -n", _FILES_PER_RANK, "sockets to each other rank")


def processes(host: Host) -> Iterator[Fact]:
    """Processes and threads that this user may have."""
    yield _enough(host, "processes", "ulimit -u", _THREADS_PER_RANK, "threads of its own (NCCL, Gloo, OpenMP)")


def _enough(host: Host, name: str, command: str, per_rank: int, what: str) -> Fact:
    limit, ranks = _limits(host).get(name), max(len(online_cores(host)), len(host.affinity))
    label = f"{name} ({command})"
    if limit is None:
        return not_known(label, "no such line", _SOURCE)
    if 0 <= limit < per_rank * ranks + _FILES_BESIDE:
        why = (
            f"each rank has {what}: {count(ranks, 'rank')}, one a core, may need "
            f"{per_rank * ranks + _FILES_BESIDE}; {command} 65536"
        )
        return warn(label, str(limit), _SOURCE, why)
    return ok(label, "unlimited" if limit < 0 else str(limit), _SOURCE)


def _limits(host: Host) -> dict[str, int]:
    """The soft limits by name; -1: unlimited."""
    found = _LINE.finditer(host.text("proc/self/limits"))
    return {one["name"]: -1 if one["soft"] == "unlimited" else int(one["soft"]) for one in found}


def _may_lock(host: Host) -> bool:
    """Whether this process has CAP_IPC_LOCK, for which the limit does not count."""
    mask = re.search(r"^CapEff:\s*([0-9a-f]+)", host.text("proc/self/status"), re.MULTILINE)
    return mask is not None and bool(int(mask[1], 16) >> _CAP_IPC_LOCK & 1)
