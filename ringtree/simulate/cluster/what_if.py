"""What a user asks to be different: "rail 7 down", "rail 3 at 50%", "oversubscription 2", "nvlink 0-1 down".

For: a degraded copy of a cluster from such words. Not for: the routes that follow (paths.py).
"""

from __future__ import annotations

import re
from collections.abc import Iterable

from ringtree.errors import UsageError
from ringtree.simulate.cluster.constants import Ratio
from ringtree.simulate.cluster.description import Cluster
from ringtree.simulate.cluster.faults import Fault
from ringtree.simulate.cluster.host import Mesh, Switch
from ringtree.units import count, parse_share

_OVER = re.compile(r"oversubscription[\s=]+([0-9.]+)(?::1)?")
_FAULT = re.compile(
    r"(?:host[\s=]*(?P<host>\d+)\s+)?(?P<kind>rail|nvlink|pcie)[\s=]*(?P<number>\d+)(?:\s*-\s*(?P<other>\d+))?"
    r"\s+(?:(?P<down>down)|at\s+(?P<left>\S+))"
)
_EXAMPLES = '"rail 7 down", "host 0 rail 3 at 50%", "nvlink 0-1 down", "pcie 2 at 50%", "oversubscription 2"'


def degraded(cluster: Cluster, wishes: Iterable[str]) -> Cluster:
    """Returns a copy with what each of `wishes` says. Raises UsageError for one that means nothing here."""
    for wish in wishes:
        text = " ".join(wish.lower().split())
        over = _OVER.fullmatch(text)
        cluster = _oversubscribed(cluster, over[1]) if over else _faulty(cluster, _fault(cluster, wish, text))
    return cluster


def _oversubscribed(cluster: Cluster, text: str) -> Cluster:
    if cluster.fabric is None:
        raise UsageError(f"{cluster.name} has no [fabric], whose oversubscription could be {text}")
    try:
        ratio = Ratio(value=float(text), unit="1", source="assumed")
    except ValueError:
        raise UsageError(f"invalid oversubscription {text!r}: write 1 or more, as 2 for two ports an uplink") from None
    return cluster.model_copy(update={"fabric": cluster.fabric.model_copy(update={"oversubscription": ratio})})


def _fault(cluster: Cluster, wish: str, text: str) -> Fault:
    found = _FAULT.fullmatch(text)
    if found is None:
        raise UsageError(f"what if {wish!r} is not understood: write {_EXAMPLES}")
    left = 0.0 if found["down"] else parse_share(found["left"])
    if not 0 <= left < 1:
        raise UsageError(f"{wish!r}: what is left of a link is a share below 100%")
    numbers = {name: None if found[name] is None else int(found[name]) for name in ("number", "other", "host")}
    fault = Fault(kind=found["kind"], left=left, **numbers)
    problem = _problem(cluster, fault)
    if problem is not None:
        raise UsageError(f"{wish!r}: {problem}")
    return fault


def _problem(cluster: Cluster, fault: Fault) -> str | None:
    """Why the cluster has no such link; None: it has."""
    host, name = cluster.host, cluster.name
    if cluster.hosts is not None and fault.host is not None and fault.host >= cluster.hosts:
        return f"{name} has {count(cluster.hosts, 'host')}, counted from 0"
    if fault.kind == "rail":
        if host.nics is None:
            return f"{name} has no network ports"
        return (
            None if fault.number < host.nics.count else f"{name} has {count(host.nics.count, 'rail')}, counted from 0"
        )
    if max(fault.number, fault.other or 0) >= host.ranks:
        return f"{name} has {count(host.ranks, 'rank')} a host, counted from 0"
    if fault.kind == "pcie":
        return None if host.bus is not None else f"{name} has no PCIe between its ranks"
    if isinstance(host.links, Mesh):
        if fault.other is None:
            return f"NVLink joins pairs on {name}: write nvlink A-B"
        return (
            None if host.links.links[fault.number][fault.other] else f"no link joins {fault.number} and {fault.other}"
        )
    if isinstance(host.links, Switch):
        return None if fault.other is None else f"{name} has a switch, each rank one port to it: write nvlink RANK"
    return f"{name} has no NVLink"


def _faulty(cluster: Cluster, fault: Fault) -> Cluster:
    return cluster.model_copy(update={"faults": [*cluster.faults, fault]})
