"""What is measured: collectives, sizes, bands, variants of a call, and the labels that arms have in the raw data.

For: the one place that knows which label takes part at which size. Not for: time (plans.py, costs.py), bars (bars.py).

A label is `<arm>` or `<arm>/<variant>`: `mpich5`, `engine/shared`, `openmpi5/unaligned`. A variant is compared with the
engine's own call of the same kind; only `shared` (buffers that the engine's ranks read in place) stands beside the
ordinary calls, since it is measured against what the other libraries do with ordinary buffers.

Sizes are bytes of the larger of a rank's two buffers, as nccl-tests counts: of reduce_scatter, all_gather and
all_to_all a block for every rank.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

ENGINE = "engine"
ALL_REDUCE = "all_reduce"
COLLECTIVES = (ALL_REDUCE, "reduce_scatter", "all_gather", "broadcast", "all_to_all")
_REDUCING = (ALL_REDUCE, "reduce_scatter")
_BLOCKED = ("reduce_scatter", "all_gather", "all_to_all")
ITEM_BYTES = 4  # float32 throughout
SMALLEST, LARGEST = 8, 256 << 20
ODD_SIZES = (1000, 12345, 100003, (3 << 20) + 4)
CHECKED_SIZES = (256, 4 << 10, 64 << 10, 1 << 20, 16 << 20)  # of the variants that must make no difference


@dataclass(frozen=True)
class Variant:
    """One kind of call. `offset`: bytes off the alignment of 64; `beside`: visited with the ordinary calls."""

    name: str = ""
    offset: int = 0
    second_seed: bool = False
    shared: bool = False
    beside: bool = False
    sizes: tuple[int, ...] | None = None  # None: all from `smallest` on
    smallest: int = 0
    only: str | None = None  # the one arm that has it

    def takes_part(self, size_bytes: int) -> bool:
        """True if it is measured at this size."""
        return size_bytes >= self.smallest and (self.sizes is None or size_bytes in self.sizes)


ORDINARY = Variant()
SHARED = Variant("shared", shared=True, beside=True, smallest=8 << 10, only=ENGINE)
UNALIGNED = Variant("unaligned", offset=4, sizes=CHECKED_SIZES)
SECOND_SEED = Variant("seed2", second_seed=True, sizes=CHECKED_SIZES)
VARIANTS = {variant.name: variant for variant in (ORDINARY, SHARED, UNALIGNED, SECOND_SEED)}


@dataclass(frozen=True)
class Band:
    """A range of sizes that a bar is the geometric mean over; both ends belong to it."""

    name: str
    first: int
    last: int

    def sizes(self, sizes: Sequence[int]) -> list[int]:
        """Returns those of `sizes` that are powers of two and lie in the band, ascending."""
        return [size for size in sorted(sizes) if self.first <= size <= self.last and is_power_of_two(size)]


BANDS = (Band("≤ 4 KB", 1, 4 << 10), Band("8 KB–2 MB", 8 << 10, 2 << 20), Band("≥ 4 MB", 4 << 20, LARGEST))


def label_of(arm: str, variant: Variant) -> str:
    """Returns the label under which an arm's calls of a variant are stored."""
    return f"{arm}/{variant.name}" if variant.name else arm


def split_label(label: str) -> tuple[str, Variant]:
    """Returns (arm, variant) of a label. Raises KeyError for a variant that there is not."""
    arm, _, variant = label.partition("/")
    return arm, VARIANTS[variant]


def reference_of(label: str) -> str:
    """Returns the label of the engine's calls that `label` is compared with."""
    variant = split_label(label)[1]
    return ENGINE if variant.beside else label_of(ENGINE, variant)


def group_of(label: str) -> str:
    """Returns the name of the cell, apart from its size, in which a label is visited."""
    variant = split_label(label)[1]
    return "" if variant.beside else variant.name


def labels_of(arms: Sequence[str], variants: Sequence[Variant]) -> list[str]:
    """Returns every label of `arms` in `variants`, the ordinary calls first."""
    return [label_of(arm, variant) for variant in variants for arm in arms if variant.only in (None, arm)]


def smallest_size(collective: str, num_ranks: int) -> int:
    """Returns the least bytes that a buffer of the collective can have: an element, or one for every rank."""
    return ITEM_BYTES * (num_ranks if collective in _BLOCKED else 1)


def op_of(collective: str) -> str:
    """Returns the reduction that is stored with a collective."""
    return "sum" if collective in _REDUCING else "none"


def is_power_of_two(size_bytes: int) -> bool:
    """True for the sizes that tables, plots and bands are made of; the others are ODD_SIZES."""
    return size_bytes & (size_bytes - 1) == 0


def powers_of_two(first: int, last: int) -> list[int]:
    """Returns the powers of two from `first` to `last`, both powers of two."""
    return [1 << exponent for exponent in range(first.bit_length() - 1, last.bit_length())]
