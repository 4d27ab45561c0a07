"""The machine of a table, as far as log and user say: what its limits are computed for.

For: from devices, hosts and ranks to topologies of the catalogue. Not for: the limits (ringtree.hardware).

Where several entries fit, all are returned, and the highest limit counts: a limit that is too high is harmless.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import NamedTuple

from ringtree.audit.links import Links
from ringtree.audit.material import Subject
from ringtree.audit.setup import Setup
from ringtree.errors import UsageError
from ringtree.hardware import (
    Catalogue,
    Gpu,
    Topology,
    is_known_hint,
    load_catalogue,
    match_gpu,
    match_system,
    named_systems,
    topology_of,
)


@dataclass(frozen=True)
class Machine:
    """`topologies`: what it may be, empty if nothing is known. `why`: then why not. `told_by`: in words, where nothing
    that the catalogue knows is named beside the table."""

    topologies: tuple[Topology, ...] = ()
    why: str = ""
    told_by: str = ""

    def called(self, topology: Topology) -> str:
        """Returns what to call one of them: an example, if there are several."""
        name = topology.name if len(self.topologies) == 1 else f"a machine such as {topology.name}"
        return f"{name}, by {self.told_by}" if self.told_by else name


def refuse_unknown(setup: Setup) -> None:
    """Raises UsageError for a GPU or system of the user's that the catalogue lacks."""
    if setup.gpu is not None and not match_gpu(setup.gpu).candidates:
        raise UsageError(f"--gpu: the hardware catalogue has no {setup.gpu!r}; `ringtree hardware` lists it")
    if setup.system is not None and not is_known_hint(setup.system):
        raise UsageError(f"--system: the hardware catalogue has no {setup.system!r}; `ringtree hardware` lists it")


def machine_of(subject: Subject) -> Machine:
    """Returns what the table may have run on."""
    said, table = subject.setup, subject.table
    known = replace(said, num_hosts=said.num_hosts or table.num_hosts, num_ranks=subject.num_ranks or table.num_ranks)
    return machine_for(known, tuple(dict.fromkeys(table.devices)), subject.links)


def machine_for(known: Setup, devices: tuple[str, ...] = (), links: Links | None = None) -> Machine:
    """Returns what runs with this setup may have run on; `devices`: as a log names them, where the user names none;
    `links`: of a topology in the log, where neither names any that the catalogue has."""
    ranks, hosts = known.num_ranks, known.num_hosts
    if ranks is None:
        return Machine(why="the number of ranks is not known: --ranks")
    # Nothing is known of hosts: one that has all ranks is the most favourable.
    hosts = 1 if hosts is None or ranks % hosts else hosts
    told = None if known.gpu or known.system or _named(devices, load_catalogue()) else links
    return _machine(load_catalogue(), _Wanted(known.gpu, known.system, devices, hosts, ranks // hosts, told))


class _Wanted(NamedTuple):
    gpu: str | None
    system: str | None
    devices: tuple[str, ...]
    num_hosts: int
    ranks_per_host: int
    links: Links | None


_last: list[tuple[Catalogue, _Wanted, Machine]] = []


def _machine(known: Catalogue, wanted: _Wanted) -> Machine:
    """A log may hold a thousand tables of one machine: what was found last is kept."""
    for catalogue, last, machine in _last:
        if catalogue is known and last == wanted:
            return machine
    machine = _find(known, wanted)
    _last[:] = [(known, wanted, machine)]
    return machine


def _find(known: Catalogue, wanted: _Wanted) -> Machine:
    gpus = _gpus(wanted, known)
    if not gpus:
        return Machine(why=_why_no_gpu(wanted, known))
    found = [topology for gpu in gpus for topology in _topologies(wanted, gpu, known)]
    by_name = wanted.links is not None and bool(_named(wanted.links.devices, known))
    told_by = "" if wanted.links is None else wanted.links.told_by(by_name)
    return Machine(tuple(found), "" if found else "no system of the catalogue fits", told_by)


def _gpus(wanted: _Wanted, known: Catalogue) -> list[Gpu]:
    if wanted.gpu is not None:
        return list(match_gpu(wanted.gpu, known).candidates)
    if wanted.links is not None and (listed := _named(wanted.links.devices, known)):
        return listed
    if wanted.links is not None and (counts := wanted.links.counts):
        return [gpu for gpu in known.gpus.values() if gpu.vendor == "NVIDIA" and gpu.link_count in counts]
    names: list[str] = []
    if not wanted.devices and wanted.system is not None:
        # A system has few kinds of GPUs, a cloud or a fabric has all: only a name says something.
        named = named_systems(wanted.system, known)
        fitting = match_system(None, wanted.ranks_per_host, wanted.system, known)
        names = [name for system in fitting if system in named for name in system.gpus]
    return [known.gpus[name] for name in dict.fromkeys(names)] or _named(wanted.devices, known)


def _named(devices: tuple[str, ...], known: Catalogue) -> list[Gpu]:
    """Returns what devices may be, by name; nothing if the catalogue lacks one of them."""
    found: dict[str, Gpu] = {}
    for device in devices:
        cut = device.rpartition(" ")[0] if device.endswith("...") else device  # as nvidia-smi cuts it
        candidates = match_gpu(device, known).candidates or match_gpu(cut, known).candidates
        if not candidates:
            return []
        found.update({gpu.name: gpu for gpu in candidates})
    return list(found.values())


def _why_no_gpu(wanted: _Wanted, known: Catalogue) -> str:
    if wanted.devices or wanted.gpu is not None:
        return f"no entry of the hardware catalogue for {wanted.gpu or ', '.join(wanted.devices)}"
    named = named_systems(wanted.system or "", known)
    if named:
        return f"{named[0].name} has no {wanted.ranks_per_host} GPUs in a host: --hosts"
    return "no GPU is named: --gpu"


def _topologies(wanted: _Wanted, gpu: Gpu, known: Catalogue) -> list[Topology]:
    hosts, ranks_per_host, hints = wanted.num_hosts, wanted.ranks_per_host, wanted.system or ""
    systems = match_system(gpu, ranks_per_host, hints, known)
    found = []
    for system in systems:
        try:
            found.append(topology_of(system, gpu, num_hosts=hosts, ranks_per_host=ranks_per_host, catalogue=known))
        except UsageError:
            continue  # hosts that do not fill an NVLink domain: nothing to hold it against
    if systems or hints:
        return found
    # A machine that nobody has described: all that one of its GPUs has, whatever is joined to it.
    rate = max(known.link_rate(gpu) or 0.0, known.host_link_rate(gpu) or 0.0)
    name = f"{gpu.name} in an unknown host"
    return [Topology(num_hosts=hosts, ranks_per_host=ranks_per_host, intra_rate=rate, name=name)] if rate else []
