"""What else runs on this machine right now.

For: load, processes that are busy, time that the hypervisor gives to others. Not for: how noisy a comparison would be
(`ringtree compare` tries that before it starts).

Busy is what used more than a tenth of a core between two readings of /proc, 0.3 s apart.
"""

from __future__ import annotations

import os
from collections.abc import Iterator

from ringtree.doctor.host import Host
from ringtree.doctor.records import Fact, not_known, ok, ok_unless, warn
from ringtree.measure import host_files
from ringtree.measure.host_files import CpuTimes
from ringtree.units import count, format_share

_SECONDS = 0.3
_BUSY = 0.1  # of a core
_STOLEN = 0.02
_SHOWN = 3
_QUIET = "measure when they are done, or on other cores: whatever shares a core with a rank adds to its times"


def average(host: Host) -> Iterator[Fact]:
    """The load average of the last minute against the cores."""
    found, cores = host_files.load_average(host.root), len(host.affinity)
    if not found:
        yield not_known("load average", "not readable", "/proc/loadavg")
        return
    value = f"{found[0]:g} in the last minute, {count(cores, 'usable core')}"
    why = f"other processes use the cores: {_QUIET}"
    yield ok_unless(found[0] > 0.5 * cores, "load average", value, "/proc/loadavg", why)


def busy(host: Host) -> Iterator[Fact]:
    """Processes that use a core now, and stolen time meanwhile."""
    used, times = _ticks(host), CpuTimes.now(host.affinity, host.root)
    host.pause(_SECONDS)
    later, times_later = _ticks(host), CpuTimes.now(host.affinity, host.root)
    if times is None or times_later is None or times_later.total <= times.total:
        yield not_known("busy processes", "the kernel does not count time by core here", "/proc/stat")
        return
    seconds = (times_later.total - times.total) / len(host.affinity)
    shares = {
        pid: (ticks - used[pid][0]) / os.sysconf("SC_CLK_TCK") / seconds
        for pid, (ticks, _) in later.items()
        if pid in used
    }
    above = sorted(((share, pid) for pid, share in shares.items() if share > _BUSY), reverse=True)
    if above:
        listed = ", ".join(f"{later[pid][1]} ({pid}) {format_share(share)}" for share, pid in above[:_SHOWN])
        more = f" and {len(above) - _SHOWN} more" if len(above) > _SHOWN else ""
        yield warn("busy processes", f"{listed}{more} of a core", "/proc/PID/stat", _QUIET)
    else:
        yield ok("busy processes", "none", "/proc/PID/stat")
    stolen = times_later.stolen_since(times)
    if stolen is not None:
        why = (
            "the hypervisor gives this much of the cores' time to other machines, which shows as pauses: use a machine "
            "with dedicated cores, or more launches"
        )
        yield ok_unless(stolen > _STOLEN, "stolen time", format_share(stolen), "/proc/stat", why)


def _ticks(host: Host) -> dict[int, tuple[int, str]]:
    """CPU time by process, in ticks, with its name; ours is left out, which waits meanwhile."""
    found = {}
    for name in host.names("proc"):
        if not name.isdigit() or int(name) == os.getpid():
            continue
        before, _, rest = host.text(f"proc/{name}/stat").rpartition(")")  # the name may hold blanks and brackets
        fields = rest.split()
        if len(fields) > 12 and fields[11].isdigit() and fields[12].isdigit():
            found[int(name)] = (int(fields[11]) + int(fields[12]), before.partition("(")[2])
    return found
