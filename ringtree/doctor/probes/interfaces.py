"""Network interfaces: state, rate, MTU, NUMA node.

For: TCP between hosts, by ringtree's engine, Gloo, and NCCL's sockets and bootstrap. Not for: RDMA (infiniband.py).
"""

from __future__ import annotations

from collections.abc import Iterator

from ringtree.doctor.host import Host
from ringtree.doctor.pci import at
from ringtree.doctor.records import Fact, fail, not_known, ok, told, warn

_NET = "sys/class/net"
_FAST = 25_000  # Mbit/s from which on one core can't fill the link with packets of 1500 bytes
_STANDARD_MTU = 1500


def interfaces(host: Host) -> Iterator[Fact]:
    """Each interface with a device behind it, then the others by name."""
    names = [name for name in host.names(_NET) if host.exists(f"{_NET}/{name}/operstate")]
    if not names:
        yield not_known("interfaces", "none is visible", f"/{_NET}")
    real = [name for name in names if host.exists(f"{_NET}/{name}/device")]
    for name in real:
        yield _interface(host, name)
    others = ", ".join(name for name in names if name not in real)
    if others:
        yield told("without a device", others, f"/{_NET}", "bridges, tunnels, loopback")
    if names and all(name == "lo" for name in names):
        yield told("other hosts", "only loopback: this host reaches no other one", f"/{_NET}")


def chosen(host: Host) -> Iterator[Fact]:
    """Whether the interfaces that variables name are there."""
    names = set(host.names(_NET))
    for variable in ("NCCL_SOCKET_IFNAME", "GLOO_SOCKET_IFNAME"):
        value = host.environment.get(variable, "")
        if not value or value.startswith("^"):
            continue
        exact = value.startswith("=") or variable.startswith("GLOO")
        wanted = [word for word in value.removeprefix("=").split(",") if word]
        missing = [
            word
            for word in wanted
            if not (word.partition(":")[0] in names if exact else any(name.startswith(word) for name in names))
        ]
        if len(missing) == len(wanted):
            why = f"no interface here is called so, so ranks can't meet: name one of {', '.join(sorted(names))}"
            yield fail(variable, value, "environment", why)


def _interface(host: Host, name: str) -> Fact:
    folder = f"{_NET}/{name}"
    state, mtu, said = (host.text(f"{folder}/{what}") for what in ("operstate", "mtu", "speed"))
    speed = int(said) if said.isdigit() and int(said) else None
    numa = at(host.root / folder / "device").numa
    words = [
        state,
        f"{speed / 1000:g} Gb/s" if speed else "rate not reported",
        f"MTU {mtu}",
        "" if numa is None else f"NUMA node {numa}",
    ]
    value, source = ", ".join(filter(None, words)), f"/{folder}"
    fast = speed is not None and speed >= _FAST
    if state == "up" and fast and mtu.isdigit() and int(mtu) <= _STANDARD_MTU:
        why = (
            "with packets of 1500 bytes TCP needs several cores to fill this link: MTU 9000 on all hosts and switches "
            f"between them (ip link set {name} mtu 9000), and several streams"
        )
        return warn(name, value, source, why)
    return ok(name, value, source) if state == "up" else told(name, value, source)
