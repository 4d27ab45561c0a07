"""RDMA devices: ports that are up, their rate, and what carries it.

For: InfiniBand and RoCE as NCCL and MPI use them. Not for: whether GPUs can use them directly (gdr.py), which GPU is
near which (topology.py).

What /sys says of a port is put as `ibstatus` puts it, and read by the reader of its output.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import Any

from ringtree.doctor.host import Host, documents_of
from ringtree.doctor.pci import at
from ringtree.doctor.records import Fact, fail, ok, told, warn
from ringtree.units import count

CLASS = "sys/class/infiniband"
_FIELDS = {"state": "state", "phys state": "phys_state", "rate": "rate", "link_layer": "link_layer"}


def ports(host: Host) -> Iterator[Fact]:
    """Every port with its state and rate."""
    found = all_ports(host)
    if not found:
        yield told("RDMA devices", "none", f"/{CLASS}", "NCCL and MPI use TCP between hosts")
        return
    active = [port for port in found if _is_active(port)]
    rates = Counter(port["rate_gbit_per_second"] for port in active)
    usual = max(rates, key=lambda rate: (rates[rate], rate or 0), default=None)
    for port in found:
        yield _judged(port, usual, len(active))
    if not active:
        why = "NCCL and MPI fall back to TCP: look at cables, the subnet manager (sminfo) and the switch"
        yield fail("RDMA ports", f"none of {len(found)} is active", f"/{CLASS}", why)


def slots(host: Host) -> Iterator[Fact]:
    """Whether the slot of a device carries what its port can."""
    enough = set()
    for port in (port for port in all_ports(host) if _is_active(port)):
        name, rate = port["device"], port["rate_gbit_per_second"]
        slot = at(host.root / CLASS / name / "device")
        if slot.rate is None or not rate:
            continue
        source, value = f"{slot.folder.name}: current_link_speed, current_link_width", f"{slot.rate * 8e-9:.3g} Gb/s"
        if slot.rate * 8e-9 < rate:
            why = (
                f"the port has {rate:g} Gb/s, which its PCIe link can't carry: look for a riser or slot with fewer "
                "lanes or an older generation, and reseat the card (lspci -vv: LnkSta)"
            )
            yield warn(f"PCIe link of {name}", value, source, why)
        else:
            enough.add(value)
    if enough:
        source = f"/{CLASS}/*/device: current_link_speed, current_link_width"
        yield ok("PCIe links of RDMA devices", f"{', '.join(sorted(enough))}, enough for their ports", source)


def firmware(host: Host) -> Iterator[Fact]:
    """Whether devices of one board have one firmware."""
    by_board: dict[str, dict[str, list[str]]] = {}
    for name in host.names(CLASS):
        board, version = (host.text(f"{CLASS}/{name}/{file}") for file in ("board_id", "fw_ver"))
        if board and version:
            by_board.setdefault(board, {}).setdefault(version, []).append(name)
    for board, versions in by_board.items():
        value = ", ".join(f"{version} ({', '.join(names)})" for version, names in sorted(versions.items()))
        source = f"/{CLASS}/*/fw_ver"
        if len(versions) > 1:
            why = "devices of one kind behave differently: bring all of a cluster to one version (mlxfwmanager)"
            yield warn(f"firmware of {board}", value, source, why)
        else:
            yield ok(f"firmware of {board}", next(iter(versions)), source)


def devices_node(host: Host) -> Iterator[Fact]:
    """Whether programs may open the devices."""
    if host.names(CLASS) and not any(name.startswith("uverbs") for name in host.names("dev/infiniband")):
        why = (
            "the kernel has RDMA devices and this process can't open them, so NCCL and MPI use TCP: hand them to the "
            "container (--device=/dev/infiniband, the RDMA device plugin of Kubernetes), or load ib_uverbs"
        )
        yield fail("/dev/infiniband", "no uverbs device", "/dev/infiniband", why)


def all_ports(host: Host) -> list[dict[str, Any]]:
    """Returns the ports of all devices as the reader of `ibstatus` gives them."""
    lines = []
    for device in host.names(CLASS):
        for port in host.names(f"{CLASS}/{device}/ports"):
            lines.append(f"Infiniband device '{device}' port {port} status:")
            folder = f"{CLASS}/{device}/ports/{port}"
            lines += [f"\t{field}:\t{host.text(f'{folder}/{file}')}" for field, file in _FIELDS.items()]
    return [port for data in documents_of("\n".join(lines), "ib_ports") for port in data["ports"]]


def _judged(port: dict[str, Any], usual: float | None, num_active: int) -> Fact:
    name, rate = f"{port['device']}:{port['port']}", port["rate_gbit_per_second"]
    words = [str(port["link_layer"] or ""), str(port["state"] or "state unknown").lower(), f"{rate or 0:g} Gb/s"]
    value, source = ", ".join(filter(None, words)), f"/{CLASS}"
    if not _is_active(port):
        if not num_active:
            return told(name, value, source)
        why = (
            f"{count(num_active, 'other port')} {'is' if num_active == 1 else 'are'} active: if this one should be, "
            "look at its cable and its switch port; else leave it out by NCCL_IB_HCA"
        )
        return warn(name, value, source, why)
    if usual is not None and (rate or 0) < usual:
        why = (
            f"others here have {usual:g} Gb/s, and rings over all of them go at the pace of the slowest: look at "
            "cable and switch port (ibstat, iblinkinfo); a port of another network is left out by NCCL_IB_HCA"
        )
        return warn(name, value, source, why)
    return ok(name, value, source)


def _is_active(port: dict[str, Any]) -> bool:
    return str(port["state"]).lower() == "active"
