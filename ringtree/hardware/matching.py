"""From what logs and people say to entries of the catalogue, never by a guess.

For: names of GPUs as drivers print them, and systems by their GPUs and what else is known. Not for: reading logs.
"""

from __future__ import annotations

from ringtree.hardware.records import Catalogue, Gpu, Record, System


class GpuMatch(Record):
    """`gpu`: the one entry that the text can mean, else None. `candidates`: all that it can mean, several for "H100"
    (SXM, PCIe and NVL differ in their links), none for an unknown name."""

    gpu: Gpu | None
    candidates: tuple[Gpu, ...]


def match_gpu(text: str, catalogue: Catalogue | None = None) -> GpuMatch:
    """The GPU that a driver's or a person's `text` names, such as "NVIDIA H100 80GB HBM3", "Tesla V100-SXM2-32GB",
    "gfx942"."""
    raise NotImplementedError


def match_system(
    gpu: Gpu | None, gpus_per_host: int | None = None, hints: str = "", catalogue: Catalogue | None = None
) -> tuple[System, ...]:
    """The systems that have `gpu`, `gpus_per_host` of them, and agree with `hints` (host names, fabric, cloud, rates);
    best first. None and "" rule nothing out. Empty: no entry fits."""
    raise NotImplementedError
