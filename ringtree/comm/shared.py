"""Arrays in memory that the other ranks of this host can read.

    x = ringtree.empty((1 << 20,), "float32")      # a NumPy array; with a torch dtype, a tensor
    comm.all_reduce(x)                             # peers read x where it is: nothing is copied into slots

For: buffers of 4 KB and more that are reduced again and again, gradient buckets say. docs/engine.md says what it
gains.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Sequence
from typing import Any

import numpy as np

from ringtree._core import allocate_shared


def empty(shape: int | Sequence[int], dtype: Any = "float32") -> Any:
    """An array whose contents other ranks can read in place; its bytes are zero at first.

    shape: elements, or elements of each dimension. dtype: NumPy's (a name or a dtype), which gives a NumPy array, or
    torch's, which gives a CPU tensor. The memory is given back when the array and all views of it are gone. Raises
    RingtreeError if there is not so much memory.
    """
    sizes = (shape,) if isinstance(shape, int) else tuple(shape)
    count = math.prod(sizes)
    if type(dtype).__module__ == "torch":
        torch = sys.modules["torch"]  # whoever has one of its dtypes has it; ringtree needs no torch for this
        data = torch.from_numpy(allocate_shared(count * dtype.itemsize))
        return data.view(dtype).view(sizes)
    kind = np.dtype(dtype)
    return allocate_shared(count * kind.itemsize).view(kind).reshape(sizes)
