"""What a GPU's links, channels and protocols cost: NCCL's constants, with what of them is assumed.

For: the part of a description that no data sheet states. Not for: rates (the hardware catalogue), the host's shape
(gpu_hosts.py).
"""

from __future__ import annotations

import re

from ringtree.hardware import Catalogue, Gpu
from ringtree.hardware.entries import Sourced
from ringtree.nccl import constants as nccl
from ringtree.simulate.cluster.constants import ASSUMED, Rate, Share, Size, Time
from ringtree.simulate.cluster.host import PROTOCOLS, ByProtocol, Channel, Protocol, Sharp

SOURCE = f"NCCL {nccl.RELEASE}"
_COLUMN = {"ll": 0, "ll128": 1, "simple": 2}  # of NCCL's tables
_NAMES = {"simple": "Simple", "ll": "LL", "ll128": "LL128"}
_CHANNELS = {"sm_70": 12, "sm_80": 24, "sm_90": 16, "sm_100": 16}
_ASSUMED_CHANNELS, _PCIE_CHANNELS, _ASSUMED_CHANNEL_RATE, _ASSUMED_SHARE = 16, 4, 24.0, 0.8
_DATE = re.compile(r"\d{4}(-\d\d){0,2}")
_PORT_100 = 12.5  # GB/s of 100 Gb/s


def hop_latency(kind: str, less: str | None = None) -> ByProtocol:
    """Returns what NCCL counts for a hop of a ring over "NVLink", "PCIe" or "network", by protocol; without that of the
    link `less`, which the same message takes and pays for itself."""
    microseconds = nccl.HOP_LATENCIES[kind]["Ring"]
    taken = nccl.HOP_LATENCIES[less]["Ring"] if less is not None else (0.0, 0.0, 0.0)
    return _by_protocol(tuple(round(all_of - part, 3) for all_of, part in zip(microseconds, taken, strict=True)))


def launch_cost() -> ByProtocol:
    """Returns what NCCL counts for a call of a ring before its first hop."""
    return _by_protocol(nccl.BASE_LATENCIES["Ring"])


def protocols() -> dict[str, Protocol]:
    """Returns NCCL's three protocols. Their latencies are those of the links, so that none is added a message."""
    return {name: _protocol(nccl.PROTOCOLS[_NAMES[name]]) for name in PROTOCOLS}


def channel(gpu: Gpu, on_pcie: bool) -> Channel:
    """Returns what a channel of `gpu` moves, and how many there are."""
    known = nccl.CHANNEL_RATES.get(gpu.target)
    rate = Rate(
        value=known or _ASSUMED_CHANNEL_RATE,
        unit="GB/s",
        source=f"{SOURCE}, tuning.cc: most of one channel of a tree" if known else ASSUMED,
        date=nccl.RELEASED if known else None,
    )
    number = _PCIE_CHANNELS if on_pcie else _CHANNELS.get(gpu.target, _ASSUMED_CHANNELS)
    return Channel(count=number, copy_rate=rate, reduce_rate=rate)


def assumed_channel(on_pcie: bool) -> Channel:
    """Returns a channel of a GPU of which nothing is known."""
    rate = Rate(value=_ASSUMED_CHANNEL_RATE, unit="GB/s")
    return Channel(count=_PCIE_CHANNELS if on_pcie else _ASSUMED_CHANNELS, copy_rate=rate, reduce_rate=rate)


def assumed_share() -> Share:
    """Returns what a link of which nothing is known reaches."""
    return Share(value=_ASSUMED_SHARE, unit="1")


def nvlink_share(gpu: Gpu, known: Catalogue) -> Share:
    """Returns the share of the link's rate that NCCL's search counts on."""
    carried = nccl.NVLINK_RATES.get(gpu.target)
    if carried is None or gpu.link is None:
        return assumed_share()
    return _share(carried, known.links[gpu.link].per_direction_GBps)


def sharp(gpu: Gpu) -> Sharp | None:
    """Returns what NCCL counts for NVLS, where an all_reduce goes up to the switch and down twice; None: the GPU can't
    use it."""
    if not gpu.nvls:
        return None
    ring = nccl.BASE_LATENCIES["Ring"][_COLUMN["simple"]], nccl.HOP_LATENCIES["NVLink"]["Ring"][_COLUMN["simple"]]
    latency = round((nccl.NVLS_LATENCY - ring[0]) / 2 - ring[1], 3)
    words = f"{SOURCE}, tuning.cc: half of the {nccl.NVLS_LATENCY:g} µs of NVLS less a launch, less a port"
    share = nccl.NVLS_SHARES.get(gpu.target)
    return Sharp(
        latency=Time(value=latency, unit="us", source=words, date=nccl.RELEASED),
        reached=assumed_share()
        if share is None
        else Share(value=share, unit="1", source=f"{SOURCE}, tuning.cc: nvlsEfficiency", date=nccl.RELEASED),
    )


def pcie_share(known: Catalogue) -> Share:
    """Returns the same of PCIe: what NCCL counts on for generation 3."""
    return _share(nccl.PCIE_3_RATE, known.links["PCIe 3 x16"].per_direction_GBps)


def port_share() -> Share:
    """Returns the same of a network port: what NCCL counts on for 100 Gb/s."""
    return _share(nccl.PORT_100_RATE, _PORT_100)


def socket_rate(host_link: str) -> Rate:
    """Returns what NCCL counts on between two sockets of processors that have such PCIe."""
    carried = nccl.SOCKET_RATES.get(host_link, nccl.SOCKET_RATES["PCIe 5 x16"])
    return Rate(value=carried, unit="GB/s", source=f"{SOURCE}, topo.h", date=nccl.RELEASED)


def catalogued(value: float, known: Catalogue, entry: Sourced, *keys: str) -> Rate:
    """Returns a rate of the hardware catalogue, GB/s, that follows from `keys` of an entry."""
    names = [name for name, stated in entry.sources.items() if set(keys) & set(stated)]
    texts = [str(known.sources[name].accessed or known.sources[name].published) for name in names]
    dates = [found[0] for text in texts if (found := _DATE.match(text))]
    words = f"hardware catalogue, {entry.name}: {', '.join(names)}"
    return Rate(value=round(value, 6), unit="GB/s", source=words, date=next(iter(dates), None))


def _protocol(of: nccl.Protocol) -> Protocol:
    within = f"{SOURCE}: within the latency of each link"
    return Protocol(
        step_latency=Time(value=0, unit="us", source=within, date=nccl.RELEASED),
        efficiency=Share(value=of.share, unit="1", source=f"{SOURCE}, device.h", date=nccl.RELEASED),
        slot=Size(value=of.slot, unit="B", source=f"{SOURCE}, init.cc", date=nccl.RELEASED),
        slots=nccl.SLOTS,
    )


def _share(carried: float, of: float) -> Share:
    words = f"{SOURCE}, topo.h: {carried:g} of {of:g} GB/s"
    return Share(value=round(carried / of, 4), unit="1", source=words, date=nccl.RELEASED)


def _by_protocol(microseconds: tuple[float, ...]) -> ByProtocol:
    of = {
        name: Time(value=microseconds[column], unit="us", source=f"{SOURCE}, tuning.cc", date=nccl.RELEASED)
        for name, column in _COLUMN.items()
    }
    return ByProtocol(**of)
