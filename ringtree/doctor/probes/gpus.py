"""GPUs: which there are, whether the driver has them all, their slots, who else computes on them.

For: NVIDIA's GPUs and their driver. Not for: how they reach each other and the NICs (topology.py), GPUDirect (gdr.py).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from ringtree.doctor import nvidia, pci
from ringtree.doctor.host import Host, NotKnown
from ringtree.doctor.records import Fact, not_known, ok, ok_unless, told, warn
from ringtree.units import count

_MPS = "nvidia-cuda-mps-server"  # runs nothing of its own
_BUS = f"/{pci.DEVICES}"


def gpus(host: Host) -> Iterator[Fact]:
    """Those that the driver has, against those on the bus."""
    on_bus = pci.gpus(host)
    try:
        names = nvidia.names(host)
    except NotKnown as because:
        if on_bus:
            why = (
                "the machine has GPUs and this process can't use them: install NVIDIA's driver, or hand them to the "
                "container (docker run --gpus all, nvidia.com/gpu in Kubernetes)"
            )
            yield warn("GPUs", f"{len(on_bus)} of NVIDIA on the bus, but {because}", f"{_BUS}, {nvidia.SMI} -L", why)
        else:
            yield told("GPUs", "none of NVIDIA", f"{_BUS} ({because})")
        return
    kinds = Counter(names)
    value = ", ".join(f"{number} × {name}" for name, number in kinds.items()) or "none"
    if len(names) < len(on_bus):
        why = (
            "one that fell off the bus or was taken out leaves rings shorter or breaks them: dmesg | grep -i xid, "
            f"{nvidia.SMI} -q; in a container it may belong to others"
        )
        value += f", and {len(on_bus)} are on the bus"
        yield warn("GPUs", value, f"{nvidia.SMI} -L, {_BUS}", why)
    elif len(kinds) > 1:
        why = "a collective goes at the pace of the slowest: leave others out by CUDA_VISIBLE_DEVICES"
        yield warn("GPUs", value, f"{nvidia.SMI} -L", why)
    else:
        yield ok("GPUs", value, f"{nvidia.SMI} -L")
    parts = nvidia.num_instances(host)
    if parts:
        why = (
            "instances reach each other neither by NVLink nor peer to peer over PCIe: turn MIG off (nvidia-smi -mig 0)"
        )
        yield warn("MIG", count(parts, "instance"), f"{nvidia.SMI} -L", why)
    yield from _visible(host, len(names))
    yield from _others(host)


def slots(host: Host) -> Iterator[Fact]:
    """Lanes of each GPU's slot that are in use."""
    widths = {gpu.address: gpu.width for gpu in pci.gpus(host)}
    known = {address: width for address, width in widths.items() if width is not None}
    narrow = {address: width for address, width in known.items() if width[0] < width[1]}
    source = f"{_BUS}/*/current_link_width"
    for address, (now, most) in narrow.items():
        why = (
            "traffic to the host, to NICs and to GPUs without NVLink has this share of its rate: reseat the card or "
            "its riser, and look for errors (lspci -vv: LnkSta, AER)"
        )
        yield warn(f"PCIe lanes of GPU {address}", f"{now} of {most}", source, why)
    if known and not narrow:
        yield ok("PCIe lanes of GPUs", "all that they have", source)


def driver(host: Host) -> Iterator[Fact]:
    """The kernel's module and the newest CUDA that it has."""
    if not nvidia.has_gpus(host):
        return
    source = "/proc/driver/nvidia/version"
    module = module_line(host)
    yield (
        told("NVIDIA kernel module", module, source)
        if module
        else not_known("NVIDIA kernel module", "not loaded, or not visible", source)
    )
    try:
        found = nvidia.versions(host)
    except NotKnown as because:
        yield not_known("driver", str(because), nvidia.SMI)
        return
    yield told("driver", f"{found['driver']}, with CUDA up to {found['cuda'] or 'an unknown version'}", nvidia.SMI)


def module_line(host: Host) -> str:
    """Returns what the kernel's module says that it is, "" without one."""
    first, *_ = host.text("proc/driver/nvidia/version").splitlines() or [""]
    return " ".join(first.removeprefix("NVRM version:").split())


def _visible(host: Host, num_gpus: int) -> Iterator[Fact]:
    chosen = host.environment.get("CUDA_VISIBLE_DEVICES")
    if chosen is None:
        return
    words = [word.strip() for word in chosen.split(",") if word.strip()]
    listed = words[: words.index("-1")] if "-1" in words else words  # what follows an invalid number is not looked at
    fewer = len(listed) < num_gpus
    value = f"{chosen!r}: {len(listed)} of {count(num_gpus, 'GPU')}" if fewer else chosen
    why = f"programs see these only: use at most --ranks {len(listed)}, or unset it to use all {num_gpus}"
    yield ok_unless(fewer, "CUDA_VISIBLE_DEVICES", value, "environment", why)


def _others(host: Host) -> Iterator[Fact]:
    try:
        running = nvidia.running(host)
    except NotKnown as because:
        yield not_known("programs on GPUs", str(because), nvidia.SMI)
        return
    servers = [one for one in running if _MPS in one]
    running = [one for one in running if one not in servers]
    if servers:
        yield told("MPS", f"on ({', '.join(servers)}): kernels of several processes run side by side", nvidia.SMI)
    if running:
        why = "they share the GPUs' time, memory and links with what is measured: wait for them, or use other GPUs"
        shown = ", ".join(running[:3]) + (f" and {len(running) - 3} more" if len(running) > 3 else "")
        yield warn("programs on GPUs", shown, f"{nvidia.SMI} --query-compute-apps", why)
    else:
        yield ok("programs on GPUs", "none", f"{nvidia.SMI} --query-compute-apps")
