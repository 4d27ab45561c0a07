"""Where libcuda and libnccl are, and what is missing where they are not.

For: loading each once, and one line that says what to do. Not for: what is called in them (driver.py, nccl.py).

libnccl: RINGTREE_LIBNCCL, else the one that PyTorch's or pip's package brought, which is what a program that imports
PyTorch calls too, else the system's. libcuda: RINGTREE_LIBCUDA, else the system's, which comes with the driver.
"""

from __future__ import annotations

import ctypes
import importlib.util
import os
from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any

from ringtree.errors import RingtreeError

DRIVER, NCCL = "libcuda.so.1", "libnccl.so.2"
_CHOSEN_BY = {DRIVER: "RINGTREE_LIBCUDA", NCCL: "RINGTREE_LIBNCCL"}
_declared: set[int] = set()  # libraries, which stay loaded
Prototypes = Mapping[str, Sequence[Any]]


class NotHere(RingtreeError):
    """A library that is not on this machine; the message says how to get it."""


def load(name: str, prototypes: Prototypes) -> ctypes.CDLL:
    """Returns the library with the arguments of its functions declared; those that a release lacks are passed over.
    Raises NotHere."""
    library = _loaded(name, os.environ.get(_CHOSEN_BY[name]))
    if id(library) not in _declared:
        _declared.add(id(library))
        for function, arguments in prototypes.items():
            if hasattr(library, function):
                getattr(library, function).argtypes = arguments
    return library


def lacks_gpu() -> str | None:
    """Why nothing can run on a GPU here, in one line; None: it can."""
    from ringtree.gpu.driver import GpuError, device_count

    try:
        return None if device_count() else "no GPU is visible: look at nvidia-smi and CUDA_VISIBLE_DEVICES"
    except (NotHere, GpuError) as missing:
        return str(missing)


def lacks_nccl() -> str | None:
    """Why NCCL can't be called here; None: it can."""
    from ringtree.gpu.nccl import NcclError, nccl_version

    try:
        nccl_version()
    except (NotHere, NcclError) as missing:
        return str(missing)
    return lacks_gpu()


@cache
def _loaded(name: str, chosen: str | None) -> ctypes.CDLL:
    tried = [chosen] if chosen else [*of_packages(name), name]
    for path in tried:
        try:
            return ctypes.CDLL(path)
        except OSError as error:
            said = str(error)
    if chosen:
        raise NotHere(f"{_CHOSEN_BY[name]}={chosen} can't be loaded: {said}")
    if name == NCCL:
        raise NotHere(
            f"NCCL ({NCCL}) not found: install a CUDA build of PyTorch or nvidia-nccl-cu13, or set "
            "RINGTREE_LIBNCCL to the library's path"
        )
    raise NotHere(f"NVIDIA's driver ({DRIVER}) not found: NCCL needs a GPU and its driver")


def of_packages(name: str) -> list[str]:
    """Returns the library in the package `nvidia`, which PyTorch's wheels depend on."""
    found = importlib.util.find_spec("nvidia") if name == NCCL else None
    places = [] if found is None else list(found.submodule_search_locations or [])
    return [str(path) for place in places if (path := Path(place) / "nccl" / "lib" / name).exists()]
