"""The program of one rank of a library, compiled for the library that is there.

For: workers/ as package data, compiled once with the library's own compiler (ringtree.building). Not for: finding
libraries (mpi.py), or the engine's worker, which comes compiled with the package.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from ringtree.building import Recipe, built, installed

_FLAGS = ("-O3",)


@dataclass(frozen=True)
class Toolchain:
    """How a library's worker is compiled. `compiler`: its command with the library's own options; `link`: what follows
    the sources; `version`: of the library, so that another one gets another worker."""

    compiler: tuple[str, ...]
    version: str
    link: tuple[str, ...] = ()


def sources() -> Path:
    """Returns the folder of the workers' sources: of the clone that this is, else of the package."""
    clone = Path(__file__).resolve().parents[2] / "workers"
    return clone if (clone / "worker.h").exists() else installed() / "lib" / "workers"


def worker_of(library: str, toolchain: Toolchain, get: str) -> Path:
    """Returns the worker of a library, compiled by now; `get`: what to do without a compiler. Raises BuildError."""
    folder = sources()
    own = ["oneccl_worker.cpp"] if library == "oneccl" else ["mpi_worker.c"]
    common = sorted(file.name for file in folder.glob("worker_*.c"))
    files = [str(folder / name) for name in common]
    # One command for C and C++, whose compiler takes either.
    listed = ["-x", "c", *files, "-x", "c++" if library == "oneccl" else "c", str(folder / own[0]), "-x", "none"]
    command = [*toolchain.compiler, *_FLAGS, f"-I{folder}", *listed, *toolchain.link]
    digest = _digest([*command, toolchain.version], folder, [*own, *common])
    return built(Recipe(f"the worker of {toolchain.version}", command, "workers", f"{library}-{digest}", get))


def _digest(words: Sequence[str], folder: Path, files: Sequence[str]) -> str:
    digest = hashlib.sha256("\0".join(words).encode())
    for file in (*(folder / name for name in files), *sorted(folder.glob("*.h"))):
        digest.update(file.read_bytes())
    return digest.hexdigest()[:16]
