"""The devices on the PCI bus, with the bridges between each and the processor.

For: where GPUs and NICs sit, their slots, IOMMU and ACS. Not for: verdicts (probes/), what joins GPUs besides PCI.

The folder that /sys/bus/pci/devices/ADDRESS points to lies below those of its bridges, so its path is the way to the
processor. Registers of ACS are in the extended configuration space, of which only root sees more than the beginning.
"""

from __future__ import annotations

import re
import struct
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from ringtree.doctor.host import Host, NotKnown
from ringtree.hardware import load_catalogue
from ringtree.measure.host_files import text

DEVICES = "sys/bus/pci/devices"
_ADDRESS = re.compile(r"[0-9a-f]{4,8}:[0-9a-f]{2}:[0-9a-f]{2}\.[0-7]")
_NVIDIA = "0x10de"
# Classes without the programming interface: VGA and 3D controllers; NVSwitches are bridges of another kind.
_DISPLAY, _SWITCH = ("0x0300", "0x0302"), ("0x0680",)
_ACS = 0x000D
_EXTENDED = 0x100  # where extended capabilities begin
# Request redirect, completion redirect, upstream forwarding: with one of them packets between two devices below a
# bridge go up to the processor instead.
_REDIRECTS = 0b11100
_LINKS = {8.0: "PCIe 3 x16", 16.0: "PCIe 4 x16", 32.0: "PCIe 5 x16", 64.0: "PCIe 6 x16"}  # by GT/s a lane


@dataclass(frozen=True)
class PciDevice:
    """One function of a device. `folder`: its real one; `bridges`: from the processor down to it."""

    address: str
    folder: Path
    bridges: tuple[str, ...]

    @property
    def numa(self) -> int | None:
        """Its NUMA node; None: not known, or the machine has only one."""
        said = text(self.folder / "numa_node")
        return int(said) if said.isdigit() else None

    @property
    def width(self) -> tuple[int, int] | None:
        """Lanes in use, and those that device and slot could have; None: not known."""
        said = [text(self.folder / f"{which}_link_width") for which in ("current", "max")]
        return (int(said[0]), int(said[1])) if all(word.isdigit() and int(word) for word in said) else None

    @property
    def rate(self) -> float | None:
        """Bytes/s per direction of its slot as it runs now; None: not known. A GPU lowers its speed when idle."""
        width = self.width
        speed = re.match(r"\d+(?:\.\d+)?", text(self.folder / "current_link_speed"))
        link = load_catalogue().links.get(_LINKS.get(float(speed.group()), "")) if speed else None
        return None if width is None or link is None else link.per_direction_GBps * 1e9 * width[0] / 16

    @property
    def iommu_type(self) -> str | None:
        """The kind of its IOMMU domain ("identity", "DMA", "DMA-FQ"); None: none, so nothing is translated."""
        return text(self.folder / "iommu_group" / "type") or None


def device(host: Host, address: str) -> PciDevice:
    """Returns the device with an address."""
    return at(host.root / DEVICES / address)


def at(link: Path) -> PciDevice:
    """Returns the device that a link of /sys points to."""
    folder = link.resolve()
    ways = [part for part in folder.parts if _ADDRESS.fullmatch(part)]
    return PciDevice(folder.name, folder, tuple(ways[:-1]))


def gpus(host: Host) -> list[PciDevice]:
    """Returns NVIDIA's GPUs, whether or not a driver has them."""
    return _of_nvidia(host, _DISPLAY)


def nvswitches(host: Host) -> list[PciDevice]:
    """Returns the NVSwitches that are on this bus; those of newer systems are not."""
    return _of_nvidia(host, _SWITCH)


def _of_nvidia(host: Host, classes: tuple[str, ...]) -> list[PciDevice]:
    return [
        device(host, address)
        for address in host.names(DEVICES)
        if host.text(f"{DEVICES}/{address}/vendor") == _NVIDIA
        and host.text(f"{DEVICES}/{address}/class").startswith(classes)
    ]


def redirecting(host: Host, bridges: Iterable[str]) -> list[str]:
    """Returns the bridges whose ACS sends traffic between devices up to the processor. Raises NotKnown if registers
    can't be read."""
    return [bridge for bridge in bridges if (_acs_control(host, bridge) or 0) & _REDIRECTS]


def _acs_control(host: Host, address: str) -> int | None:
    """The control register of a bridge's ACS; None: it has none."""
    try:
        space = (host.root / DEVICES / address / "config").read_bytes()
    except OSError as error:
        raise NotKnown(f"the configuration space of {address} can't be read: {error.strerror}") from None
    if len(space) <= _EXTENDED:
        raise NotKnown("only root sees ACS: run `sudo ringtree doctor`, or `sudo lspci -vvv | grep ACSCtl`")
    at, seen = _EXTENDED, set()
    while _EXTENDED <= at <= len(space) - 8 and at not in seen:
        seen.add(at)
        (head,) = struct.unpack_from("<I", space, at)
        if head & 0xFFFF == _ACS:
            (control,) = struct.unpack_from("<H", space, at + 6)
            return int(control)
        at = head >> 20
    return None
