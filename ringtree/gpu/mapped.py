"""Which NCCL this process's PyTorch calls.

For: arms and traces of jobs that run NCCL through PyTorch. Not for: NCCL called by ringtree, which knows its library
(nccl.py).

`torch.cuda.nccl.version()` is the release that PyTorch was compiled against. What runs is the library that the loader
found, which LD_PRELOAD, LD_LIBRARY_PATH or another package can make a newer one; a process may also have two. A
function that PyTorch needs is looked for in the program and what was loaded before it first, then in PyTorch's own.
"""

from __future__ import annotations

import ctypes
import os
from pathlib import Path


def mapped_nccl_version(maps: str = "/proc/self/maps") -> str | None:
    """Returns "2.27.3", of the library whose functions stand first for all, else of the first libnccl that is mapped;
    None: there is none, or it does not say."""
    for path in (None, *_mapped(maps)):
        try:
            version = _version_of(path)
        except (OSError, AttributeError):  # it can't be opened (it was replaced since), or has no such function
            continue
        if version is not None:
            return version
    return None


def _mapped(maps: str) -> list[str]:
    lines = map(os.fsdecode, Path(maps).read_bytes().splitlines())  # names of files are bytes, whatever they mean
    files = [slash + path for _, slash, path in (line.partition("/") for line in lines)]
    return list(dict.fromkeys(path for path in files if "libnccl.so" in path.rpartition("/")[2]))


def _version_of(path: str | None) -> str | None:
    from ringtree.nccl.releases import version_of_code  # far more comes with it than a rank without NCCL needs

    code = ctypes.c_int()
    return version_of_code(code.value) if ctypes.CDLL(path).ncclGetVersion(ctypes.byref(code)) == 0 else None
