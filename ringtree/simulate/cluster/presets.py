"""Clusters by name: every system of the hardware catalogue, some boards that it has no system for, and CPU hosts.

For: `--cluster dgx-h100`, and a list of what there is. Not for: what a description holds (description.py), rates (the
catalogue has them).
"""

from __future__ import annotations

import difflib
import re
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import NamedTuple

from ringtree.errors import UsageError
from ringtree.hardware import Catalogue, Gpu, System, load_catalogue
from ringtree.simulate.cluster.core_hosts import core_host
from ringtree.simulate.cluster.description import Cluster
from ringtree.simulate.cluster.files import read_cluster
from ringtree.simulate.cluster.gpu_hosts import cluster_of

_SUFFIX = ".toml"
# Boxes that many build: GPUs of the catalogue on PCIe alone, in a host with two sockets.
_BOXES = {
    "a100-pcie-8": "A100 PCIe 80GB",
    "h100-pcie-8": "H100 PCIe",
    "l40s-pcie-8": "L40S",
    "v100-pcie-8": "V100 PCIe 32GB",
}
_IN_A_BOX = 8
_CORES = {"cpu-2": (2, 1), "cpu-16": (16, 1), "cpu-64-2-sockets": (64, 2)}
_ALSO = {"dgx-v100": "dgx-1-v100", "dgx-p100": "dgx-1-p100"}


class Preset(NamedTuple):
    """A cluster by its name, and the other names that mean it."""

    name: str
    title: str
    also: tuple[str, ...]
    make: Callable[[], Cluster]


def presets() -> list[Preset]:
    """Returns all presets, those of CPU hosts and boxes first, then systems in the catalogue's order."""
    return list(_presets(load_catalogue()))


def load_cluster(named: str) -> Cluster:
    """Returns the cluster that a name or a file means. Raises UsageError for one that is not there."""
    if named.endswith(_SUFFIX) or "/" in named:
        return read_cluster(Path(named))
    wanted = slug(named)
    all_of = presets()
    found = next((one for one in all_of if wanted in (one.name, *one.also)), None)
    if found is not None:
        return found.make()
    near = difflib.get_close_matches(wanted, [name for one in all_of for name in (one.name, *one.also)], n=3)
    hint = f"; near it are {', '.join(near)}" if near else ""
    raise UsageError(
        f"no cluster is called {named!r}{hint}; `ringtree cluster list` has them all, a file ends in .toml"
    )


def slug(name: str) -> str:
    """Returns a name as presets are called: "DGX-1 (V100)" gives "dgx-1-v100"."""
    return re.sub(r"[^a-z0-9.]+", "-", name.lower()).strip("-")


def _presets(known: Catalogue) -> Iterator[Preset]:
    for name, (cores, sockets) in _CORES.items():
        title = f"{cores} cores" + (f" on {sockets} sockets" if sockets > 1 else "")
        yield Preset(name, title, (), partial(core_host, name, cores, sockets))
    for name, gpu_name in _BOXES.items():
        gpu = known.gpus[gpu_name]
        box = System(
            name="PCIe box",
            gpus=[gpu.name],
            gpus_per_host=_IN_A_BOX,
            topology="pcie",
            sources={"assumed": ["gpus_per_host"]},
        )
        yield _of_system(name, (), box, gpu, known)
    for system in known.systems.values():
        name = slug(system.name)
        also = {slug(one) for one in system.names} | {new for new, old in _ALSO.items() if old == name}
        yield _of_system(name, tuple(sorted(also - {name})), system, known.gpus[system.gpus[0]], known)


def _of_system(name: str, also: tuple[str, ...], system: System, gpu: Gpu, known: Catalogue) -> Preset:
    title = f"{system.gpus_per_host} × {gpu.name}"
    return Preset(name, title, also, partial(cluster_of, name, system, gpu, known))
