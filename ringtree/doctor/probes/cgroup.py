"""What the cgroup (a container, a batch job, a slice of systemd) lets this process have.

For: limits of CPU time and memory. Not for: which cores (cores.py), limits of a process (limits.py).
"""

from __future__ import annotations

from collections.abc import Iterator

from ringtree.doctor.host import Host
from ringtree.doctor.records import Fact, fail, not_known, ok, warn
from ringtree.measure import host_files
from ringtree.measure.host_files import text
from ringtree.units import count, format_size

_OURS = "proc/self/cgroup"
_SMALL = 0.25  # of the machine's memory


def cpu_quota(host: Host) -> Iterator[Fact]:
    """How much CPU time there is, and how often the processes were stopped for it."""
    source = "/sys/fs/cgroup (cpu.max, cpu.cfs_quota_us)"
    if not host.exists(_OURS):
        yield not_known("CPU quota", f"no /{_OURS}", source)
        return
    quota, cores = host_files.cgroup_cpus(host.root), len(host.affinity)
    stopped = _throttled(host)
    if quota is None:
        yield ok("CPU quota", "none", source)
    elif quota < cores:
        whole = int(quota)
        advice = f"use at most --ranks {whole}" if whole > 1 else "no two ranks can run all the time"
        why = (
            "ranks that wait busily use up the quota, and then all are stopped for the rest of each period (up to "
            f"0.1 s): {advice}, or raise the limit (cpu.max, --cpus of docker, limits.cpu of Kubernetes)"
        )
        value = f"{quota:g} of {count(cores, 'core')}"
        yield (warn if quota >= 2 else fail)("CPU quota", value, source, why)
    else:
        yield ok("CPU quota", f"{quota:g} for {count(cores, 'core')}", source)
    if stopped:
        why = "each time is a gap in somebody's measurement: raise the limit or run fewer ranks"
        yield warn("stopped by the quota", count(stopped, "time"), "cpu.stat", why)


def memory_limit(host: Host) -> Iterator[Fact]:
    """How much memory there may be."""
    source = "/sys/fs/cgroup (memory.max, memory.limit_in_bytes)"
    if not host.exists(_OURS):
        yield not_known("memory limit", f"no /{_OURS}", source)
        return
    limit, total = host_files.cgroup_memory(host.root), host_files.memory(host.root).get("MemTotal", 0)
    if limit is None or 0 < total <= limit:
        yield ok("memory limit", "none", source)
    elif limit < _SMALL * total:
        why = "buffers of all ranks count together, and who exceeds it is killed: use smaller --sizes or fewer ranks"
        yield warn("memory limit", f"{format_size(limit)} of {format_size(total)}", source, why)
    else:
        yield ok("memory limit", format_size(limit), source)


def _throttled(host: Host) -> int:
    """How many periods ended with processes stopped, in the cgroup where that was most often."""
    counts = [0]
    for folder, _ in host_files.cgroup_folders("cpu", host.root):
        words = [line.split() for line in text(folder / "cpu.stat").splitlines()]
        counts += [int(two[1]) for two in words if len(two) == 2 and two[0] == "nr_throttled" and two[1].isdigit()]
    return max(counts)
