"""The cluster that `ringtree compare --emulate` makes on one machine, as a description.

For: holding emulated times against the simulator. Not for: emulating (core/transport/nic.h), the recurrence that plans
are predicted by (ringtree.judge.prediction).

What hosts send leaves through one card a host at the emulated rate and arrives after the latency; what a host receives
is not limited, and nothing inside a host takes time: docs/decisions/0006.
"""

from __future__ import annotations

from ringtree.schedules.emulation import Emulation
from ringtree.simulate.cluster.constants import Rate, Share, Size, Time
from ringtree.simulate.cluster.description import Cluster
from ringtree.simulate.cluster.host import PROTOCOLS, ByProtocol, Channel, Host, LinkClass, Memory, Nics, Protocol
from ringtree.units import count, format_rate, format_time

_SOURCE = "emulated: asked for"
_FREE = "1e6 GB/s"


def emulated_cluster(emulation: Emulation, date: str) -> Cluster:
    """Returns the description of an emulated cluster; `date`: of the run, "2026-11-25"."""
    ranks = emulation.ranks_per_host
    asked = {"source": _SOURCE, "date": date}
    nothing, free = ByProtocol.model_validate("0 us"), Rate.model_validate(_FREE)
    one = Share(value=1, unit="1")
    return Cluster(
        name=f"emulated-{emulation.hosts}x{ranks}",
        title=f"emulated: {count(emulation.hosts, 'host')} of {count(ranks, 'rank')}, "
        f"{format_time(emulation.alpha)} and {format_rate(emulation.beta)} between hosts",
        assumptions=["nothing inside a host takes time, and what a host receives is not limited"],
        hosts=emulation.hosts,
        host=Host(
            ranks=ranks,
            rank="core",
            memory=Memory(
                rate=free, latency=nothing, sockets=[0] * ranks, between=LinkClass(rate=free, latency=nothing)
            ),
            nics=Nics(
                rate=Rate(value=emulation.beta, unit="B/s", **asked),
                latency=ByProtocol(**{name: Time(value=emulation.alpha, unit="s", **asked) for name in PROTOCOLS}),
                count=1,
                of_rank=[0] * ranks,
                receives="any",
            ),
        ),
        channel=Channel(count=1, copy_rate=free, reduce_rate=free),
        launch=nothing,
        protocols={
            "simple": Protocol(
                step_latency=nothing.simple,
                efficiency=one,
                slot=Size(value=64 << 10, unit="B"),
                slots=8,
                whole_slots=False,
            )
        },
    )
