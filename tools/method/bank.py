"""A bank: real launches of the lab, cut down to what judging them needs.

For: drawing "runs" out of many stored blocks, again and again. Not for: raw samples (they are ringtree.results'), or
deciding which effects are judged (cells.py).

Stored as packed.py says, with the arrays
    medians  (blocks, sizes, arms, rounds)     float32, seconds: median of the samples of one visit; NaN: not visited
    probes   (blocks, sizes, arms, rounds, 2)  float32, seconds: core-to-core hand-off before and after; NaN: not probed
and a header that names the axes and says where the launches come from.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from method.packed import read_packed, with_tuples, write_packed

FORMAT = "ringtree.method-bank/1"
ARRAYS = ("medians", "probes")


@dataclass(frozen=True)
class Bank:
    """name: short, of the file. arms: labels; arms[0] is the reference. sizes: bytes, ascending. origin: date, cpu,
    cores, kernel, versions, commit, run ids; kind: "real" or "synthetic"."""

    name: str
    kind: str
    collective: str
    num_ranks: int
    arms: tuple[str, ...]
    sizes: tuple[int, ...]
    medians: NDArray[np.float32]
    probes: NDArray[np.float32]
    origin: dict[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        axes = (self.num_blocks, len(self.sizes), len(self.arms), self.num_rounds)
        if self.medians.ndim != 4 or self.medians.shape != axes or self.probes.shape != (*axes, 2):
            raise ValueError(f"arrays of shapes {self.medians.shape} and {self.probes.shape} don't fit the axes {axes}")
        if self.kind not in ("real", "synthetic"):
            raise ValueError(f"launches are real or synthetic, not {self.kind!r}")
        if len(set(self.arms)) != len(self.arms) or len(self.arms) < 2 or list(self.sizes) != sorted(set(self.sizes)):
            raise ValueError("a bank has at least two arms, labels are unique and sizes ascend")
        if np.any(self.medians <= 0) or np.any(np.isinf(self.medians)) or np.any(self.probes <= 0):
            raise ValueError("times are positive and finite, or NaN where nothing was measured")

    @property
    def num_blocks(self) -> int:
        return int(self.medians.shape[0])

    @property
    def num_rounds(self) -> int:
        return int(self.medians.shape[-1])


def write_bank(file: Path, bank: Bank) -> None:
    arrays = {name: getattr(bank, name).astype("f4") for name in ARRAYS}
    header = {name: value for name, value in vars(bank).items() if name not in ARRAYS}
    write_packed(file, {"format": FORMAT, **header}, arrays)


def read_bank(file: Path) -> Bank:
    """Raises ValueError if the file is not a bank or of another format."""
    header, arrays = read_packed(file, FORMAT)
    del header["format"]
    return Bank(**with_tuples(header | arrays))
