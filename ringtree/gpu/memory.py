"""An array in a GPU's memory, as far as the lab needs one: a length, slices, data that is written and checked there.

For: the buffers of arms that run on GPUs. Not for: arithmetic, or other shapes than one row of elements.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any

import numpy as np

from ringtree.gpu.driver import Device
from ringtree.gpu.patterns import Patterns


class DeviceArray:
    """`length` elements of `dtype` at `address`. `owner`: what gives the memory back once nobody holds it; `start`: of
    this array in the owner's memory, in elements."""

    def __init__(
        self, patterns: Patterns, dtype: np.dtype[Any], address: int, length: int, owner: object, start: int = 0
    ) -> None:
        self.dtype, self.address, self.owner, self.start = dtype, address, owner, start
        self._patterns, self._length = patterns, length

    def __len__(self) -> int:
        return self._length

    @property
    def size(self) -> int:
        return self._length

    @property
    def nbytes(self) -> int:
        return self._length * self.dtype.itemsize

    def __getitem__(self, which: slice) -> DeviceArray:
        start, stop, _ = which.indices(self._length)
        address = self.address + start * self.dtype.itemsize
        return DeviceArray(self._patterns, self.dtype, address, max(0, stop - start), self.owner, self.start + start)

    def write_pattern(self, pattern: np.ndarray[Any, Any], phase: int) -> None:
        """Element i becomes pattern[(i + phase) % len(pattern)]."""
        self._patterns.write(self.address, self._length, pattern, phase)

    def compare_pattern(self, pattern: np.ndarray[Any, Any], phase: int) -> tuple[int, int]:
        """Returns the first element whose bits are not the pattern's, and how many there are; (0, 0): none."""
        return self._patterns.compare(self.address, self._length, pattern, phase)

    def element(self, index: int) -> Any:
        """Returns one element."""
        found = np.zeros(1, self.dtype)
        self._patterns.device.download(
            found.ctypes.data, self.address + index * self.dtype.itemsize, self.dtype.itemsize
        )
        return found[0]

    def copy_from(self, other: DeviceArray) -> None:
        """Puts a copy of another array of the same length on the stream."""
        self._patterns.device.copy(self.address, other.address, self.nbytes)


class Owned:
    """Memory that is given back when the last reference goes."""

    def __init__(self, address: int, give_back: Callable[[int], None]) -> None:
        self.address, self._give_back = address, give_back

    def __del__(self) -> None:
        if not sys.is_finalizing():  # then the driver gives everything back
            self._give_back(self.address)


def zeros(device: Device, patterns: Patterns, length: int, dtype: np.dtype[Any]) -> DeviceArray:
    """Returns a new array of zeros in ordinary memory of the device."""
    owner = Owned(device.allocate(length * dtype.itemsize), device.free)
    return DeviceArray(patterns, dtype, owner.address, length, owner)
