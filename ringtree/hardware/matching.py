"""From what logs and people say to entries of the catalogue, never by a guess.

For: names of GPUs as drivers print them, and systems by their GPUs and what else is known. Not for: reading logs.
"""

from __future__ import annotations

import re

from ringtree.hardware.entries import Catalogue, Gpu, System
from ringtree.hardware.loading import load_catalogue
from ringtree.results import Record

# Words that tell no two GPUs apart.
FILLERS = frozenset(
    {"nvidia", "amd", "advanced", "micro", "devices", "inc", "corporation", "tesla", "geforce", "instinct", "radeon"}
    | {"tm", "r", "graphics", "gpu", "vf", "oam"}
)
# Words of a hint that tell fabrics apart.
FABRIC_WORDS = {
    "infiniband": "infiniband",
    "ib": "infiniband",
    "ndr": "infiniband",
    "hdr": "infiniband",
    "roce": "ethernet",
    "efa": "efa",
    "slingshot": "slingshot",
}
# Words of a hint that tell makers apart.
MAKER_WORDS = {
    "aws": "AWS",
    "ec2": "AWS",
    "azure": "Azure",
    "gcp": "Google Cloud",
    "google": "Google Cloud",
    "oci": "Oracle Cloud",
    "oracle": "Oracle Cloud",
    "coreweave": "CoreWeave",
}


class GpuMatch(Record):
    """`gpu`: the one entry that the text can mean, else None. `candidates`: all that it can mean, several for "H100"
    (SXM, PCIe and NVL differ in their links), none for an unknown name. A text that is not a name that drivers or
    people use has candidates only, even if there is just one: an "RTX 4070 Ti" is not the RTX 4070 Ti SUPER."""

    gpu: Gpu | None
    candidates: tuple[Gpu, ...]


def match_gpu(text: str, catalogue: Catalogue | None = None) -> GpuMatch:
    """The GPU that a driver's or a person's `text` names, such as "NVIDIA H100 80GB HBM3", "Tesla V100-SXM2-32GB",
    "gfx942"."""
    known = catalogue or load_catalogue()
    words = _words(text)
    if not words:
        return GpuMatch(gpu=None, candidates=())
    same = tuple(gpu for gpu in known.gpus.values() if words in [_words(name) for name in [gpu.name, *gpu.names]])
    if len(same) == 1:
        return GpuMatch(gpu=same[0], candidates=same)
    similar = tuple(gpu for gpu in known.gpus.values() if _can_mean(words, gpu))
    return GpuMatch(gpu=None, candidates=same or similar)


def match_system(
    gpu: Gpu | None, gpus_per_host: int | None = None, hints: str = "", catalogue: Catalogue | None = None
) -> tuple[System, ...]:
    """The systems that have `gpu`, `gpus_per_host` of them, and agree with `hints` (instance types, machines, clouds,
    fabrics). Best first: those that a hint names, then those with exactly `gpus_per_host` GPUs, then those with more.
    None and "" rule nothing out. Empty: no entry fits."""
    known = catalogue or load_catalogue()
    fabrics, makers = _told_apart(hints)
    found: list[tuple[int, int, str, System]] = []
    for system in known.systems.values():
        if gpu is not None and gpu.name not in system.gpus:
            continue
        if gpus_per_host is not None and system.gpus_per_host < gpus_per_host:
            continue
        named = _naming(hints, system)
        network = None if system.network is None else known.networks[system.network].fabric
        if not named and fabrics and network is not None and network not in fabrics:
            continue
        if not named and makers and system.maker not in makers:
            continue
        larger = 0 if gpus_per_host is None else system.gpus_per_host - gpus_per_host
        found.append((-named, larger, system.name, system))
    found.sort(key=lambda row: row[:3])
    best = [row for row in found if row[0] < 0] or found
    return tuple(row[3] for row in best)


def named_systems(hints: str, catalogue: Catalogue | None = None) -> tuple[System, ...]:
    """The systems that `hints` name, whatever else fits: none where they give a cloud or a fabric only."""
    known = catalogue or load_catalogue()
    return tuple(system for system in known.systems.values() if _naming(hints, system))


def is_known_hint(hints: str, catalogue: Catalogue | None = None) -> bool:
    """Whether anything in `hints` says something to match_system: a system, a cloud or a fabric."""
    return any(_told_apart(hints)) or bool(named_systems(hints, catalogue))


def _told_apart(hints: str) -> tuple[set[str], set[str]]:
    """Fabrics and makers that the words of `hints` mean."""
    words = re.findall(r"[a-z0-9]+", hints.lower())
    fabrics = {FABRIC_WORDS[word] for word in words if word in FABRIC_WORDS}
    return fabrics, {MAKER_WORDS[word] for word in words if word in MAKER_WORDS}


def _naming(hints: str, system: System) -> int:
    """The length of the longest name of the system in `hints`, 0 if there is none."""
    text = hints.lower()
    return max((len(name) for name in [system.name.lower(), *system.names] if _names(text, name)), default=0)


def _words(text: str) -> tuple[str, ...]:
    """Lower-case words and numbers in order, without those that tell nothing."""
    return tuple(word for word in re.findall(r"[a-z0-9]+", text.lower()) if word not in FILLERS)


def _can_mean(words: tuple[str, ...], gpu: Gpu) -> bool:
    """All words belong to the GPU, among them its family's or its target."""
    family = set(_words(gpu.family))
    own = family | {gpu.target.lower(), f"{gpu.memory_GB:g}gb"}
    for name in [gpu.name, *gpu.names]:
        own |= set(_words(name))
    return set(words) <= own and (family <= set(words) or gpu.target.lower() in words)


def _names(text: str, name: str) -> bool:
    return re.search(rf"(?<![a-z0-9]){re.escape(name)}(?![a-z0-9])", text) is not None
