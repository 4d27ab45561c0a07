"""Test data on a device: written and checked where it lies, by two small kernels for each width of an element.

For: buffers of gigabytes, of which every element is checked after every launch. Not for: the values (they are
measure/exact_data.py's).

The kernels are in patterns.cu; the driver compiles the PTX that was made of it for the GPU that is there.
"""

from __future__ import annotations

import ctypes
from ctypes import c_uint, c_ulonglong, c_void_p
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

from ringtree.gpu.driver import Device

_THREADS, _MOST_BLOCKS = 256, 4096
_WIDTHS = (1, 2, 4, 8)
_NONE = (1 << 64) - 1


class Patterns:
    """The kernels and the patterns that a device holds."""

    def __init__(self, device: Device) -> None:
        self.device = device
        names = [f"{what}_{width}" for what in ("write", "check") for width in _WIDTHS]
        self._kernels = device.kernels((Path(__file__).parent / "patterns.ptx").read_bytes(), names)
        self._held: dict[int, tuple[np.ndarray[Any, Any], int]] = {}  # by id of the host's array, which is kept
        self._found = device.allocate(16)

    def write(self, address: int, length: int, pattern: np.ndarray[Any, Any], phase: int) -> None:
        """Puts the writing on the stream and waits for it."""
        if length:
            self._launch("write", address, length, pattern, phase)
            self.device.synchronize()

    def compare(self, address: int, length: int, pattern: np.ndarray[Any, Any], phase: int) -> tuple[int, int]:
        """Returns (index of the first that differs, how many do)."""
        if not length:
            return 0, 0
        found = np.array([_NONE, 0], np.uint64)
        self.device.upload(self._found, found.ctypes.data, found.nbytes)
        self._launch("check", address, length, pattern, phase, c_void_p(self._found))
        self.device.download(found.ctypes.data, self._found, found.nbytes)
        first, number = (int(each) for each in found)
        return (first, number) if number else (0, 0)

    def _launch(
        self, what: str, address: int, length: int, pattern: np.ndarray[Any, Any], phase: int, *more: ctypes.c_void_p
    ) -> None:
        blocks = min(_MOST_BLOCKS, -(-length // _THREADS))
        arguments = [c_void_p(address), c_void_p(self._on_device(pattern)), c_ulonglong(length), c_uint(phase)]
        kernel = self._kernels[f"{what}_{pattern.dtype.itemsize}"]
        self.device.launch(kernel, blocks, _THREADS, [*arguments, c_uint(len(pattern)), *more])

    def _on_device(self, pattern: np.ndarray[Any, Any]) -> int:
        if id(pattern) not in self._held:
            address = self.device.allocate(pattern.nbytes)
            self.device.upload(address, pattern.ctypes.data, pattern.nbytes)
            self._held[id(pattern)] = pattern, address
        return self._held[id(pattern)][1]


@cache
def on_device(ordinal: int) -> Patterns:
    """Returns this process's GPU of that number, with its kernels. Call it in the thread that is the rank."""
    return Patterns(Device(ordinal))
