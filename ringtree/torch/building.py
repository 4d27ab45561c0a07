"""Compiles ringtree's C++ for the PyTorch that is there, the backend and the job tracer's recorder, once, and loads it.

For: load(), which finds what was compiled before or compiles (about half a minute). Not for: how that is done and kept
(ringtree.building), or the engine, which comes compiled with the package.
"""

from __future__ import annotations

import atexit
import hashlib
import importlib.machinery
import importlib.util
import os
import shlex
import sys
import sysconfig
from functools import cache
from pathlib import Path
from types import ModuleType

from ringtree.building import Recipe, built, installed
from ringtree.compiling import BuildError

_SOURCES = Path(__file__).parent / "csrc"
_NAME = "_ringtree_torch"


@cache
def load() -> ModuleType:
    """Returns the module with backend and recorder; compiles it if that has not been done. BuildError: it cannot be."""
    module = _import(built_library())
    atexit.register(module.leave_all)  # threads that need Python must have ended before it does
    return module


def built_library() -> Path:
    """Returns the compiled library's file, which is there when this returns. Raises BuildError."""
    import torch

    command = _command()
    return built(
        Recipe(
            f"the torch.distributed backend and the job tracer for PyTorch {torch.__version__}",
            command,
            "torch",
            f"{_NAME}-{_digest(command)}.so",
            f"there is no C++ compiler ({command[0]}), and the torch.distributed backend and the job tracer have to be "
            "compiled once for this PyTorch: install g++ 11 or newer (apt-get install g++), set CXX, or compile them "
            "when the image is made (python -m ringtree.torch)",
            "half a minute; `python -m ringtree.torch` does it ahead of a job",
        )
    )


def _command() -> list[str]:
    """Returns the compiler's command without its output."""
    import torch

    library = installed() / "lib" / "libringtree.so"
    if not library.exists():
        raise BuildError(f"{library} is missing: the installation of ringtree is not complete")
    # Where torch.utils.cpp_extension says, which takes a second to import and warns of CUDA on every rank.
    home = Path(torch.__file__).parent
    of_torch = [home / "include", home / "include" / "torch" / "csrc" / "api" / "include"]
    includes = [*of_torch, sysconfig.get_paths()["include"], installed() / "include"]
    folders = [home / "lib", library.parent]
    abi = [
        f'-DPYBIND11_{name}="{value}"'
        for name in ("COMPILER_TYPE", "STDLIB", "BUILD_ABI")
        if (value := getattr(torch._C, f"_PYBIND11_{name}", None)) is not None
    ]
    return [
        *shlex.split(os.environ.get("CXX") or "c++"),
        *("-std=c++20", "-O2", "-fPIC", "-shared", "-fvisibility=hidden", "-w"),
        f"-D_GLIBCXX_USE_CXX11_ABI={int(torch.compiled_with_cxx11_abi())}",
        f"-DRINGTREE_TORCH_MODULE={_NAME}",
        *abi,
        *(f"-isystem{include}" for include in includes),
        str(_SOURCES / "all.cpp"),
        *(f"-L{folder}" for folder in folders),
        *(f"-Wl,-rpath,{folder}" for folder in folders),
        *("-lringtree", "-ltorch_python", "-ltorch", "-ltorch_cpu", "-lc10"),
    ]


def _digest(command: list[str]) -> str:
    import torch

    digest = hashlib.sha256()
    for part in (torch.__version__, torch.version.git_version, sys.implementation.cache_tag, *command):
        digest.update(f"{part}\0".encode())
    header = installed() / "include" / "ringtree.h"
    for file in (*sorted(file for file in _SOURCES.rglob("*") if file.is_file()), header):
        digest.update(file.read_bytes())
    return digest.hexdigest()[:16]


def _import(library: Path) -> ModuleType:
    import torch  # its libraries are to be there before ours

    loader = importlib.machinery.ExtensionFileLoader(_NAME, str(library))
    spec = importlib.util.spec_from_file_location(_NAME, library, loader=loader)
    assert spec is not None, f"no module can be loaded from {library} with PyTorch {torch.__version__}"
    module = importlib.util.module_from_spec(spec)
    loader.exec_module(module)
    return module
