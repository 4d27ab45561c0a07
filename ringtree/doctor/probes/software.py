"""Versions of what takes part, PyTorch's build, and what is needed to compile the rest.

For: Python, ringtree, NumPy, PyTorch, compilers. Not for: NCCL (nccl_libraries.py), MPI (mpi.py).
"""

from __future__ import annotations

import os
import platform
import re
from collections.abc import Iterator
from pathlib import Path

from ringtree.building import cache_folder
from ringtree.compiling import BuildError
from ringtree.doctor import nvidia
from ringtree.doctor.host import Host, NotKnown
from ringtree.doctor.records import Fact, not_known, ok, told, warn
from ringtree.measure.host_files import text

_PACKAGES = ("ringtree", "numpy")
_COMPILERS = {
    "C compiler": ("cc", "the workers of MPI arms"),
    "C++ compiler": ("c++", "the torch.distributed backend, `ringtree trace`"),
}
# torch/version.py: "cuda: Optional[str] = '12.8'", also without the type.
_BUILT_FOR = re.compile(r"^(cuda|hip|__version__)(?:\s*:[^=]*)?\s*=\s*['\"]([^'\"]+)['\"]", re.MULTILINE)


def versions(host: Host) -> Iterator[Fact]:
    """Versions of what measures."""
    found = {name: host.software.version_of(name) for name in _PACKAGES}
    words = ", ".join(f"{name} {version or 'not installed'}" for name, version in found.items())
    yield told("versions", f"Python {platform.python_version()}, {words}", "metadata of the packages")


def pytorch(host: Host) -> Iterator[Fact]:
    """Its version and what it was built for, against the GPUs and the driver; it is not loaded for that."""
    folder = host.software.folder_of("torch")
    if folder is None:
        yield told("PyTorch", "not installed", "Python's path", "gloo, send-recv and torch:nccl need it")
        return
    source = "torch/version.py"
    built = dict(_BUILT_FOR.findall(text(folder / "version.py")))
    if "__version__" not in built:
        yield not_known("PyTorch", f"{folder / 'version.py'} does not name it", source)
        return
    cuda, has_gpus = built.get("cuda"), nvidia.has_gpus(host)
    kind = f"for CUDA {cuda}" if cuda else f"for ROCm {built['hip']}" if "hip" in built else "for CPUs"
    value = f"{built['__version__']}, {kind}"
    if has_gpus and cuda is None and "hip" not in built:
        why = "it can't use the GPUs that are here: install a CUDA build, as PyTorch's install page says"
        yield warn("PyTorch", value, source, why)
    elif has_gpus and cuda is not None and (newest := _too_old(host, cuda)):
        why = (
            f"the driver has CUDA up to {newest}, so this build can't start or runs without its newest parts: update "
            "the driver, or install a build for an older CUDA"
        )
        yield warn("PyTorch", value, f"{source}, nvidia-smi", why)
    else:
        yield ok("PyTorch", value, source)


def compilers(host: Host) -> Iterator[Fact]:
    """What compiles native parts where they run, and where they are kept."""
    for name, (program, what) in _COMPILERS.items():
        path = host.software.which(program)
        if path:
            yield ok(name, path, "PATH")
        else:
            why = (
                f"{what} can't be compiled, which is done once, here: apt-get install g++, or load a module that has it"
            )
            yield warn(name, "none", "PATH", why)
    try:
        folder = cache_folder(host.environment)
    except BuildError as error:
        yield warn("folder for what is compiled", "none", "RINGTREE_CACHE_DIR, XDG_CACHE_HOME, HOME", str(error))
        return
    if _writable(folder):
        yield ok("folder for what is compiled", folder, "RINGTREE_CACHE_DIR, XDG_CACHE_HOME, HOME")
    else:
        why = "native parts are compiled once and kept there: set RINGTREE_CACHE_DIR to a folder that can be written to"
        yield warn("folder for what is compiled", f"{folder}, not writable", "RINGTREE_CACHE_DIR, HOME", why)


def _writable(folder: Path) -> bool:
    """Whether it can be written to, or made."""
    while not os.access(folder, os.F_OK) and folder != folder.parent:
        folder = folder.parent
    return os.access(folder, os.W_OK | os.X_OK)


def _too_old(host: Host, cuda: str) -> str | None:
    """The newest CUDA of the driver, if `cuda` is newer; None: it is not, or nobody tells."""
    try:
        newest = nvidia.versions(host)["cuda"]
    except NotKnown:
        return None
    return newest if newest and _numbers(cuda) > _numbers(newest) else None


def _numbers(version: str) -> tuple[int, ...]:
    return tuple(int(word) for word in re.findall(r"\d+", version)[:2])
