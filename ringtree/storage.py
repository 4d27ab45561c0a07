"""NumPy's element types for all that collectives move: floats that NumPy lacks are held as their bits.

For: the memory that arms make on the host and on GPUs, and bytes of so many elements. Not for: the values in it
(ringtree.measure).
"""

from __future__ import annotations

import numpy as np

from ringtree._core import dtypes

_BYTES = dict(dtypes()) | {"float8_e4m3fn": 1, "float8_e5m2": 1}  # these NCCL has, and not the engine


def storage_of(dtype: str) -> np.dtype[np.generic]:
    """Returns NumPy's dtype of that name or, where it has none, the unsigned integers that are as wide."""
    try:
        return np.dtype(dtype)
    except TypeError:
        return np.dtype(f"uint{8 * _BYTES[dtype]}")
