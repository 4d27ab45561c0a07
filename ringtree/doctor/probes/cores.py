"""Processor, cores that may be used, hardware threads, NUMA nodes.

For: whether each rank can have a core of its own. Not for: limits of time on them (cgroup.py), their clocks (clock.py).
"""

from __future__ import annotations

from collections.abc import Iterator

from ringtree.comm.cpuinfo import cpu_fields, cpu_model
from ringtree.doctor.host import Host
from ringtree.doctor.ranges import format_ranges, parse_ranges
from ringtree.doctor.records import Fact, fail, not_known, ok, ok_unless, told, warn
from ringtree.measure import host_files
from ringtree.units import count

_CPU = "sys/devices/system/cpu"
_NODE = "sys/devices/system/node"


def processor(host: Host) -> Iterator[Fact]:
    """Its name, and whether it is a virtual one."""
    model = cpu_model(host.root)
    yield (
        told("processor", model, "/proc/cpuinfo")
        if model
        else not_known("processor", "nothing names it", "/proc/cpuinfo")
    )
    virtual = host_files.virtual(host.root)
    if virtual:
        why = (
            "the hypervisor shares these cores with others and may hide which of them are near each other: compare "
            "arms of the same launch, never figures of different days"
        )
        yield warn("virtual machine", "yes", "/proc/cpuinfo, /sys/class/dmi", why)
    elif virtual is False:
        yield ok("virtual machine", "no", "/proc/cpuinfo")


def cores(host: Host) -> Iterator[Fact]:
    """Cores that this process may run on, of those that are online."""
    usable, online = set(host.affinity), online_cores(host)
    value = f"{len(usable)} of {max(len(online), len(usable))} ({format_ranges(usable)})"
    source = f"affinity mask, /{_CPU}/online"
    if len(usable) == 1:
        why = (
            "ranks take turns on one core, so times are those of the scheduler: give the process one core per rank "
            "(taskset, --cpus-per-task of Slurm, the container's cpuset)"
        )
        yield fail("usable cores", value, source, why)
    else:
        why = (
            f"the mask is smaller than the machine: ranks share {count(len(usable), 'core')}, so use at most "
            f"--ranks {len(usable)}, or ask taskset, Slurm or the container for more"
        )
        yield ok_unless(len(usable) < len(online), "usable cores", value, source, why)
    isolated = parse_ranges(host.text(f"{_CPU}/isolated"))
    if isolated:
        yield told(
            "isolated cores", format_ranges(isolated), f"/{_CPU}/isolated", "the scheduler keeps others off them"
        )


def threads(host: Host) -> Iterator[Fact]:
    """Whether cores are shared by two hardware threads."""
    source = f"/{_CPU}/cpu*/topology/thread_siblings_list"
    siblings = {
        core: parse_ranges(host.text(f"{_CPU}/cpu{core}/topology/thread_siblings_list")) for core in host.affinity
    }
    if not all(siblings.values()):
        yield not_known("hardware threads (SMT)", "the kernel does not report which cores are siblings", source)
        return
    physical = len({min(each) for each in siblings.values()})
    if physical < len(siblings):
        why = (
            "two ranks on the threads of one core share its caches and units: use at most "
            f"--ranks {physical}, one rank a core, and pin them"
        )
        value = f"{len(siblings)} usable ones on {count(physical, 'core')}"
        yield warn("hardware threads (SMT)", value, source, why)
    else:
        yield ok("hardware threads (SMT)", "one usable thread per core", source)


def numa(host: Host) -> Iterator[Fact]:
    """NUMA nodes, and whether the kernel moves pages between them."""
    nodes = [name for name in host.names(_NODE) if name.startswith("node") and name[4:].isdigit()]
    if not nodes:
        yield not_known("NUMA nodes", "no such folder", f"/{_NODE}")
        return
    held = {int(name[4:]): parse_ranges(host.text(f"{_NODE}/{name}/cpulist")) for name in nodes}
    words = "; ".join(f"{node}: cores {format_ranges(has) or 'none'}" for node, has in sorted(held.items()))
    yield told("NUMA nodes", words if len(held) > 1 else "one", f"/{_NODE}")
    if len(held) > 1 and host.text("proc/sys/kernel/numa_balancing") not in ("", "0"):
        why = (
            "the kernel takes pages away to learn who uses them, which shows as rare slow calls: turn it off while "
            "measuring (sysctl kernel.numa_balancing=0) and bind ranks instead"
        )
        yield warn("NUMA balancing", "on", "/proc/sys/kernel/numa_balancing", why)


def online_cores(host: Host) -> set[int]:
    """Returns the cores that are online, as /sys or else /proc/cpuinfo lists them."""
    listed = parse_ranges(host.text(f"{_CPU}/online"))
    return listed or {int(value) for name, value in cpu_fields(host.root) if name == "processor" and value.isdigit()}
