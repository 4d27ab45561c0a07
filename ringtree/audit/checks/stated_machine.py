"""What the user says of the machine, against what the log says of it.

For: --gpu, --system and --hosts that name another machine than the log. Not for: the number of ranks (bus_column.py),
limits of the machine (limits.py).

Which of both counts is decided in ringtree.audit.machine. A device that the catalogue lacks contradicts nothing.
"""

from __future__ import annotations

from collections.abc import Iterator

from ringtree.audit.findings import Finding
from ringtree.audit.material import Material, Subject
from ringtree.audit.rule import info, of_file
from ringtree.audit.words import listed
from ringtree.hardware import match_gpu, named_systems
from ringtree.units import count

STATED_OTHERWISE = info(
    "machine-stated-otherwise",
    "the log names a different machine than was stated",
    "the options left out where the log says it itself, or the log of the machine that is stated",
)


@of_file(STATED_OTHERWISE)
def check(material: Material) -> Iterator[Finding]:
    """Yields one finding for a file, with the first contradiction of each kind."""
    said: dict[str, str] = {}
    for subject in material.subjects:
        said = dict(_contradictions(subject)) | said
    if said:
        yield STATED_OTHERWISE.found(material, "; ".join(said.values()))


def _contradictions(subject: Subject) -> Iterator[tuple[str, str]]:
    setup, hosts = subject.setup, subject.table.num_hosts
    if setup.gpu is not None:
        stated = {gpu.name for gpu in match_gpu(setup.gpu).candidates}
        others = _others(subject, stated)
        if others:
            yield "gpu", f"stated: {setup.gpu}; the log names {listed(others)}"
    if setup.system is not None:
        systems = named_systems(setup.system)
        others = _others(subject, {name for system in systems for name in system.gpus}) if systems else []
        if others:
            yield "system", f"stated: {setup.system}; the log names {listed(others)}"
    if setup.num_hosts is not None and hosts is not None and hosts != setup.num_hosts:
        yield "hosts", f"stated: {count(setup.num_hosts, 'host')}; the log names {count(hosts, 'host')}"


def _others(subject: Subject, stated: set[str]) -> list[str]:
    """Returns the log's devices that are certainly no GPU of `stated`. One that the catalogue lacks may be any."""
    named = {device: {gpu.name for gpu in match_gpu(device).candidates} for device in subject.table.devices}
    return [device for device, names in named.items() if names and not names & stated]
