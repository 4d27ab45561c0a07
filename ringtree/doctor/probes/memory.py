"""Memory: how much is free, swap, huge pages, /dev/shm.

For: what buffers and their copies meet. Not for: limits of the cgroup (cgroup.py) or of a process (limits.py).
"""

from __future__ import annotations

from collections.abc import Iterator

from ringtree.doctor.host import Host
from ringtree.doctor.records import Fact, not_known, ok, ok_unless, told, warn
from ringtree.measure import host_files
from ringtree.units import format_share, format_size, parse_size

_LITTLE_FREE = 0.1
_MUCH_RESERVED = 0.25
_THP = "sys/kernel/mm/transparent_hugepage"
_DOCKERS_SHM = 64 << 20


def memory(host: Host) -> Iterator[Fact]:
    """Memory that is free, and whether the machine swaps."""
    found = host_files.memory(host.root)
    total, free = found.get("MemTotal", 0), found.get("MemAvailable", 0)
    if not total:
        yield not_known("memory", "not readable", "/proc/meminfo")
        return
    value = f"{format_size(total >> 20 << 20)}, {format_size(free >> 20 << 20)} free"
    why = "large sizes may not fit, or push others' pages out while times are taken: end what is not needed"
    yield ok_unless(free < _LITTLE_FREE * total, "memory", value, "/proc/meminfo", why)
    swap = found.get("SwapTotal", 0) - found.get("SwapFree", 0)
    if swap > total * 0.01:
        why = "pages that come back from disk stop a rank for milliseconds: swapoff -a, where memory suffices"
        yield warn("swap", f"{format_size(swap)} in use", "/proc/meminfo", why)
    else:
        yield ok("swap", "not in use", "/proc/meminfo")


def huge_pages(host: Host) -> Iterator[Fact]:
    """Transparent huge pages, and those that are reserved."""
    setting = _chosen(host.text(f"{_THP}/enabled"))
    source = f"/{_THP}/enabled"
    if setting is None:
        yield not_known("transparent huge pages", "this kernel has none", source)
    else:
        why = (
            "large buffers lie on pages of 4 KB, so copies spend more time on address translation: "
            f"echo madvise > /{_THP}/enabled, or measure both and say which"
        )
        yield ok_unless(setting == "never", "transparent huge pages", setting, source, why)
    shared = _chosen(host.text(f"{_THP}/shmem_enabled"))
    if shared:
        yield told("huge pages of shared memory", shared, f"/{_THP}/shmem_enabled", "of the memory that ranks share")
    found = host_files.memory(host.root)
    unused = found.get("Hugepagesize", 0) * found.get("HugePages_Free", 0)
    if unused > _MUCH_RESERVED * found.get("MemTotal", 0):
        why = "nobody but programs that ask for them can use this memory: give it back (sysctl vm.nr_hugepages)"
        value = f"{format_size(unused)} reserved, {format_share(unused / found['MemTotal'])} of memory, and not in use"
        yield warn("huge pages", value, "/proc/meminfo", why)


def shared_memory(host: Host) -> Iterator[Fact]:
    """How large /dev/shm is."""
    source = "/proc/self/mounts"
    if not host.exists("proc/self/mounts"):
        yield not_known("/dev/shm", "no such file", source)
        return
    lines = [line.split() for line in host.text("proc/self/mounts").splitlines()]
    options = [words[3].split(",") for words in lines if len(words) > 3 and words[1] == "/dev/shm"]
    if not options:
        yield told("/dev/shm", "not mounted", source, "MPI and NCCL share memory there; ringtree's engine needs none")
        return
    size = next((option.partition("=")[2] for option in options[-1] if option.startswith("size=")), "")
    if not size:
        yield ok("/dev/shm", "half of memory, tmpfs's default", source)
        return
    num_bytes = parse_size(size)
    why = (
        "MPI and NCCL put buffers of the ranks of a host there and fail or fall back when it is full: "
        "docker run --shm-size=1g or --ipc=host, or an emptyDir with medium Memory in Kubernetes; ringtree's "
        "engine shares memory without it (memfd)"
    )
    yield ok_unless(num_bytes <= _DOCKERS_SHM, "/dev/shm", format_size(num_bytes), source, why)


def _chosen(text: str) -> str | None:
    """The word in brackets of "always [madvise] never"."""
    return text.partition("[")[2].partition("]")[0] or None
