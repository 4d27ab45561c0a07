"""The machine of a table, as far as log and user say: what its limits are computed for.

For: from devices, hosts and ranks to topologies of the catalogue. Not for: the limits (ringtree.hardware).

Where several entries fit, all are returned, and the highest limit counts: a limit that is too high is harmless.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

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
    """`topologies`: what it may be, empty if nothing is known. `why`: then why not."""

    topologies: tuple[Topology, ...] = ()
    why: str = ""

    def called(self, topology: Topology) -> str:
        """Returns what to call one of them: an example, if there are several."""
        return topology.name if len(self.topologies) == 1 else f"a machine such as {topology.name}"


def refuse_unknown(setup: Setup) -> None:
    """Raises UsageError for a GPU or system of the user's that the catalogue lacks."""
    if setup.gpu is not None and not match_gpu(setup.gpu).candidates:
        raise UsageError(f"--gpu: the hardware catalogue has no {setup.gpu!r}; `ringtree hardware` lists it")
    if setup.system is not None and not is_known_hint(setup.system):
        raise UsageError(f"--system: the hardware catalogue has no {setup.system!r}; `ringtree hardware` lists it")


def machine_of(subject: Subject) -> Machine:
    """Returns what the table may have run on."""
    ranks = subject.num_ranks or subject.table.num_ranks
    if ranks is None:
        return Machine(why="the number of ranks is not known: --ranks")
    hosts = subject.setup.num_hosts or subject.table.num_hosts
    # Nothing is known of hosts: one that has all ranks is the most favourable.
    hosts = 1 if hosts is None or ranks % hosts else hosts
    devices = tuple(dict.fromkeys(subject.table.devices))
    return _machine(load_catalogue(), _Wanted(subject.setup.gpu, subject.setup.system, devices, hosts, ranks // hosts))


class _Wanted(NamedTuple):
    gpu: str | None
    system: str | None
    devices: tuple[str, ...]
    num_hosts: int
    ranks_per_host: int


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
    found: list[Topology] = []
    for gpu in gpus:
        found += _topologies(wanted, gpu, known)
    return Machine(tuple(found), "" if found else "no system of the catalogue fits")


def _gpus(wanted: _Wanted, known: Catalogue) -> list[Gpu]:
    if wanted.gpu is not None:
        return list(match_gpu(wanted.gpu, known).candidates)
    found: dict[str, Gpu] = {}
    if not wanted.devices and wanted.system is not None:
        # A system has few kinds of GPUs, a cloud or a fabric has all: only a name says something.
        named = named_systems(wanted.system, known)
        for system in match_system(None, wanted.ranks_per_host, wanted.system, known):
            if system in named:
                found.update({name: known.gpus[name] for name in system.gpus})
    for device in wanted.devices:
        candidates = match_gpu(device, known).candidates
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
    rates = [rate for rate in (known.link_rate(gpu), known.host_link_rate(gpu)) if rate is not None]
    if not rates:
        return []
    name = f"{gpu.name} in an unknown host"
    return [Topology(num_hosts=hosts, ranks_per_host=ranks_per_host, intra_rate=max(rates), name=name)]
