"""Hosts whose ranks are cores: the machines on which ringtree's own engine runs.

For: presets of CPU hosts. Not for: GPUs (gpu_hosts.py), or this machine as it is, whose constants
`ringtree cluster from --probe` measures (ringtree.simulate.probing).

No catalogue has these figures, and machines differ: all of them are assumed.
"""

from __future__ import annotations

from ringtree.simulate.cluster.constants import Rate, Share, Size, Time
from ringtree.simulate.cluster.description import Cluster
from ringtree.simulate.cluster.host import ByProtocol, Channel, Host, LinkClass, Memory, Nics, Protocol
from ringtree.units import count

_HANDOFF, _BETWEEN, _LAUNCH, _TCP = "0.1 us", "0.2 us", "0.5 us", "20 us"
_SLOT, _SLOTS = 64 << 10, 8
_CORE, _CORE_GBPS, _SOCKET_GBPS = "8 GB/s", 10, 150  # moved by a core through slots; copied by one, by a socket
# One thread of a rank sends, receives and folds: the core's rate limits all of it together. A channel is not a thread
# of its own here, so its copying does not limit beside the core, and folding adds little to what a core does.
_CHANNEL = "100 GB/s"


def core_host(name: str, cores: int, sockets: int = 1) -> Cluster:
    """Returns hosts of `cores` cores on `sockets` sockets, one rank a core, with a port of 10 Gb/s each."""
    between = LinkClass(rate=_rate("20 GB/s"), latency=_latency(_BETWEEN))
    memory = Memory(
        rate=_rate(f"{min(_CORE_GBPS * cores // sockets, _SOCKET_GBPS)} GB/s"),
        latency=_latency(_HANDOFF),
        sockets=[core * sockets // cores for core in range(cores)],
        between=between,
        core=_rate(_CORE),
        cores=cores,
    )
    port = Nics(rate=_rate("10 Gb/s"), latency=_latency(_TCP), count=1, of_rank=[0] * cores)
    copying = _rate(_CHANNEL)
    return Cluster(
        name=name,
        title=f"{count(cores, 'core')} on {count(sockets, 'socket')}, TCP over 10 Gb/s between hosts",
        assumptions=["every constant: machines differ, and no catalogue has these"],
        host=Host(ranks=cores, rank="core", memory=memory, nics=port),
        channel=Channel(count=1, copy_rate=copying, reduce_rate=copying),
        launch=_latency(_LAUNCH),
        protocols={"simple": _protocol(1.0), "ll": _protocol(0.5), "ll128": _protocol(56 / 64)},
    )


def _protocol(share: float) -> Protocol:
    """A slot of the engine's, of which a protocol with flags fills a part with data."""
    return Protocol(
        step_latency=Time.model_validate("0 us"),
        efficiency=Share(value=share, unit="1"),
        slot=Size(value=_SLOT, unit="B"),
        slots=_SLOTS,
    )


def _rate(text: str) -> Rate:
    return Rate.model_validate(text)


def _latency(text: str) -> ByProtocol:
    return ByProtocol.model_validate(text)
