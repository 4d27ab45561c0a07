"""Floats that NumPy lacks, as the bits that hold them.

For: test data in bfloat16 and float8 without PyTorch: whole numbers into bits. Not for: reading any bits, rounding, or
arithmetic (core/reduce).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray


@dataclass(frozen=True)
class NarrowFloat:
    """A format of IEEE 754's kind: a sign, `exponent_bits` with `bias`, `mantissa_bits`; normal numbers only."""

    exponent_bits: int
    mantissa_bits: int
    bias: int

    @property
    def storage(self) -> np.dtype[np.unsignedinteger]:
        """The unsigned integers that are as wide."""
        return np.dtype(f"uint{1 + self.exponent_bits + self.mantissa_bits}")

    @property
    def exact_limit(self) -> int:
        """Whole numbers up to this are exact: one bit more than the mantissa stores."""
        return 1 << (self.mantissa_bits + 1)

    def encode(self, values: NDArray[np.int64]) -> NDArray[np.unsignedinteger]:
        """Returns the bits of whole numbers of at most `exact_limit`; any shape."""
        fraction, exponent = np.frexp(np.abs(values))  # |value| = fraction * 2^exponent with 1/2 <= fraction < 1
        mantissa = ((2 * fraction - 1) * (1 << self.mantissa_bits)).astype(np.int64)
        sign = (values < 0).astype(np.int64) << (self.exponent_bits + self.mantissa_bits)
        bits = sign | (exponent.astype(np.int64) - 1 + self.bias) << self.mantissa_bits | mantissa
        return np.where(values == 0, 0, bits).astype(self.storage)


# The float8 formats: P. Micikevicius et al., "FP8 formats for deep learning", arXiv 2209.05433 (2022), table 1.
NARROW_FLOATS = {
    "bfloat16": NarrowFloat(exponent_bits=8, mantissa_bits=7, bias=127),
    "float8_e4m3fn": NarrowFloat(exponent_bits=4, mantissa_bits=3, bias=7),
    "float8_e5m2": NarrowFloat(exponent_bits=5, mantissa_bits=2, bias=15),
}
