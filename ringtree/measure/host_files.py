"""What /proc and /sys say about this host: memory, governor, limits of its cgroup, virtual or not, load, stolen time.

For: provenance (environment.py), judging how quiet a launch was, `ringtree doctor`. Not for: the processor's name
(ringtree/comm/cpuinfo.py), what processes set themselves (environment variables, versions), or deciding what is quiet
enough.

Every file may be missing or odd, as in containers; what can't be read is None or 0, and nothing here raises. `root` is
the directory that holds proc/ and sys/; tests pass a tree of their own.
"""

from __future__ import annotations

import os
from collections.abc import Collection
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

from ringtree.comm.cpuinfo import ROOT, cpu_fields

# Words that DMI's vendor or product has in virtual machines, of processors that don't tell through a flag.
_VIRTUAL_WORDS = ("bochs", "compute engine", "hvm domu", "kvm", "qemu", "virtual", "vmware", "xen")

# Version 1 writes the largest number of whole pages for "no limit".
_NO_LIMIT = 1 << 62


def virtual(root: Path = ROOT) -> bool | None:
    """Returns whether this is a virtual machine; None if nothing tells.

    x86 processors have a flag for it; elsewhere DMI or a hypervisor's own file may prove that it is one.
    """
    for name, value in cpu_fields(root):
        if name == "flags":
            return "hypervisor" in value.split()
    dmi = " ".join(text(root / "sys/class/dmi/id" / name) for name in ("sys_vendor", "product_name")).lower()
    if text(root / "sys/hypervisor/type") or any(word in dmi for word in _VIRTUAL_WORDS):
        return True
    return None


def memory(root: Path = ROOT) -> dict[str, int]:
    """Returns the lines of /proc/meminfo: "MemTotal", "MemAvailable" and others in bytes, "HugePages_Free" as it is."""
    fields = {}
    for line in text(root / "proc/meminfo").splitlines():
        name, _, rest = line.partition(":")
        words = rest.split()
        if words and words[0].isdigit():
            fields[name] = int(words[0]) * (1024 if words[1:] == ["kB"] else 1)
    return fields


def governor(cores: Collection[int], root: Path = ROOT) -> str | None:
    """Returns the frequency governor of `cores`, comma-separated if they differ; None if not readable."""
    folder = root / "sys/devices/system/cpu"
    found = {text(folder / f"cpu{core}/cpufreq/scaling_governor") for core in cores} - {""}
    return ",".join(sorted(found)) or None


def load_average(root: Path = ROOT) -> list[float]:
    """Returns the load averages over 1, 5 and 15 minutes; empty if not readable."""
    try:
        return [float(word) for word in text(root / "proc/loadavg").split()[:3]]
    except ValueError:
        return []


def cgroup_cpus(root: Path = ROOT) -> float | None:
    """Returns how many cores' worth of time our cgroup and those above it allow; None: no limit, or not readable.

    Version 2 has cpu.max ("quota period" or "max period", microseconds), version 1 cpu.cfs_quota_us (-1: no limit) and
    cpu.cfs_period_us. Inside a container our path may be meaningless, but the container's limit is then at the top.
    """
    limits = []
    for folder, version in cgroup_folders("cpu", root):
        if version == 2:
            limits.append(_cores_of(text(folder / "cpu.max").split()))
        else:
            limits.append(_cores_of([text(folder / f"cpu.cfs_{name}_us") for name in ("quota", "period")]))
    return min((limit for limit in limits if limit is not None), default=None)


def cgroup_memory(root: Path = ROOT) -> int | None:
    """Returns the bytes that our cgroup and those above it allow; None: no limit, or not readable."""
    names = {2: "memory.max", 1: "memory.limit_in_bytes"}
    found = [text(folder / names[version]) for folder, version in cgroup_folders("memory", root)]
    limits = [int(word) for word in found if word.isdigit()]
    return min((limit for limit in limits if limit < _NO_LIMIT), default=None)


def cgroup_folders(controller: str, root: Path = ROOT) -> list[tuple[Path, int]]:
    """Returns where the files of a controller may lie, with the version of cgroups: of our cgroup and all above it."""
    found: list[tuple[Path, int]] = []
    for line in text(root / "proc/self/cgroup").splitlines():
        number, _, rest = line.partition(":")
        controllers, _, path = rest.partition(":")
        if number == "0" and not controllers:
            mounts = [root / "sys/fs/cgroup", root / "sys/fs/cgroup/unified"]
            found += [(folder, 2) for folder in _upwards(mounts, path)]
        elif controller in controllers.split(","):
            mounts = [root / "sys/fs/cgroup" / name for name in (controllers, controller)]
            found += [(folder, 1) for folder in _upwards(mounts, path)]
    return found


@dataclass(frozen=True)
class CpuTimes:
    """What some cores did since the machine started, seconds of CPU time summed over them.

    `total`: all time, also idle. `stolen`: the hypervisor gave it to somebody else.
    """

    total: float
    stolen: float

    @classmethod
    def now(cls, cores: Collection[int] | None = None, root: Path = ROOT) -> CpuTimes | None:
        """Reads /proc/stat for `cores`, by default those that we may use; None if it can't be read."""
        wanted = {f"cpu{core}" for core in (os.sched_getaffinity(0) if cores is None else cores)}
        ticks = [0] * 8
        seen = False
        for line in text(root / "proc/stat").splitlines():
            name, *rest = line.split() or [""]
            if name in wanted and len(rest) >= len(ticks) and all(word.isdigit() for word in rest):
                ticks = [sum(pair) for pair in zip(ticks, map(int, rest), strict=False)]
                seen = True
        if not seen:
            return None
        # user, nice, system, idle, iowait, irq, softirq, steal; the guest times that follow are part of user and nice.
        seconds = [each / os.sysconf("SC_CLK_TCK") for each in ticks]
        return cls(total=sum(seconds), stolen=seconds[-1])

    def stolen_since(self, before: CpuTimes) -> float | None:
        """Returns the share of the cores' time since `before` that the hypervisor took, 0 to 1; None: none passed."""
        passed = self.total - before.total
        return min(1.0, max(0.0, (self.stolen - before.stolen) / passed)) if passed > 0 else None


def text(path: Path) -> str:
    """Returns what a file says, without blanks around it; "" if it can't be read."""
    try:
        return path.read_text(errors="replace").strip()
    except OSError:
        return ""


def _upwards(mounts: list[Path], path: str) -> list[Path]:
    """The cgroup `path` and all above it, below each of `mounts`."""
    parts = [part for part in PurePosixPath(path).parts if part not in ("/", "..")]
    return [mount.joinpath(*parts[:depth]) for mount in mounts for depth in range(len(parts), -1, -1)]


def _cores_of(words: list[str]) -> float | None:
    if len(words) != 2 or not all(word.isdigit() and int(word) > 0 for word in words):
        return None
    return int(words[0]) / int(words[1])
