"""The clock that times are read from, and what changes the speed of cores.

For: clock source and frequency governor. Not for: who else uses the cores (load.py).
"""

from __future__ import annotations

from collections.abc import Iterator

from ringtree.doctor.host import Host
from ringtree.doctor.records import Fact, not_known, ok_unless
from ringtree.measure import host_files

_SOURCE = "sys/devices/system/clocksource/clocksource0/current_clocksource"
# Read in user space, so a reading takes tens of nanoseconds; others are a call of the kernel or a slow device.
_QUICK = ("tsc", "kvm-clock", "hyperv_clocksource_tsc_page", "arch_sys_counter", "timebase")
_GOVERNORS = "sys/devices/system/cpu/cpu*/cpufreq/scaling_governor"


def clock_source(host: Host) -> Iterator[Fact]:
    """What clock_gettime reads."""
    found = host.text(_SOURCE)
    if not found:
        yield not_known("clock source", "the kernel does not report it", f"/{_SOURCE}")
    else:
        why = (
            "each reading of this clock goes through the kernel or to a device and can take a microsecond, which small "
            "calls show: boot with tsc if available_clocksource lists it, and ask the kernel's log why it was given up"
        )
        yield ok_unless(found not in _QUICK, "clock source", found, f"/{_SOURCE}", why)


def governor(host: Host) -> Iterator[Fact]:
    """Who chooses the frequency of the cores."""
    found = host_files.governor(host.affinity, host.root)
    if found is None:
        yield not_known("frequency governor", "not visible here, as in most virtual machines", f"/{_GOVERNORS}")
    else:
        why = (
            "cores slow down while ranks wait, and the first calls after a pause are slower: "
            "cpupower frequency-set -g performance while measuring"
        )
        yield ok_unless(found != "performance", "frequency governor", found, f"/{_GOVERNORS}", why)
