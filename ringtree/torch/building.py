"""Compiles the backend's C++ for the PyTorch that is there, once, and loads it.

For: load(), which finds what was compiled before or compiles (about half a minute). Not for: the engine, which comes
compiled with the package.

What is compiled is kept in `~/.cache/ringtree/torch` (XDG_CACHE_HOME, or RINGTREE_CACHE_DIR itself), under a name made
of all that it depends on: the versions of PyTorch and Python, the sources, the compiler's flags, where libringtree
lies. Processes that come at the same time wait for the one that compiles.
"""

from __future__ import annotations

import atexit
import fcntl
import hashlib
import importlib.machinery
import importlib.util
import os
import shlex
import shutil
import subprocess
import sys
import sysconfig
import tempfile
from functools import cache
from pathlib import Path
from types import ModuleType

import ringtree._core
from ringtree.errors import RingtreeError

_SOURCES = Path(__file__).parent / "csrc"
_NAME = "_ringtree_torch"


class BuildError(RingtreeError):
    """The backend could not be compiled; the text says what is missing."""


class NoCompilerError(BuildError):
    """There is no C++ compiler."""


@cache
def load() -> ModuleType:
    """Returns the module with the backend; compiles it if that has not been done. BuildError: it cannot be."""
    module = _import(built_library())
    atexit.register(module.leave_all)  # threads that need Python must have ended before it does
    return module


def installed_library() -> Path:
    """Returns libringtree, which comes with the package. BuildError: it is not there."""
    library = _installed() / "lib" / "libringtree.so"
    if not library.exists():
        raise BuildError(f"{library} is missing: the installation of ringtree is not complete")
    return library


def built_library() -> Path:
    """Returns the compiled library's file, which is there when this returns. Raises BuildError."""
    command = _command()
    folder = _folder()
    library = folder / f"{_NAME}-{_digest(command)}.so"
    if library.exists():
        _check_owner(library)
        _check_owner(folder)
        return library
    _check_compiler(command)
    _prepare(folder)
    _check_owner(folder)
    try:
        with open(folder / f"{library.name}.lock", "w") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            if not library.exists():  # nobody else has done it meanwhile
                _compile(command, library)
    except OSError as error:
        raise BuildError(f"the backend cannot be compiled into {folder}: {error}") from error
    return library


def _installed() -> Path:
    """Where the compiled parts of the package lie."""
    return Path(ringtree._core.__file__).parent


def _command() -> list[str]:
    """Returns the compiler's command without its output."""
    import torch
    from torch.utils import cpp_extension

    library = installed_library()
    includes = [*cpp_extension.include_paths(), sysconfig.get_paths()["include"], str(_installed() / "include")]
    folders = [*cpp_extension.library_paths(), str(library.parent)]
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
    header = _installed() / "include" / "ringtree.h"
    for file in (*sorted(_SOURCES.iterdir()), header):
        digest.update(file.read_bytes())
    return digest.hexdigest()[:16]


def _folder() -> Path:
    asked = os.environ.get("RINGTREE_CACHE_DIR")
    if asked:
        return Path(asked) / "torch"
    try:
        return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "ringtree" / "torch"
    except RuntimeError as error:  # no home
        raise BuildError(f"{error}: set RINGTREE_CACHE_DIR to a folder for what is compiled") from error


def _check_compiler(command: list[str]) -> None:
    if shutil.which(command[0]) is None:
        raise NoCompilerError(
            f"there is no C++ compiler ({command[0]}), which the torch.distributed backend needs once, for PyTorch's "
            "own interface: install g++ 11 or newer (apt-get install g++), or set CXX"
        )


def _prepare(folder: Path) -> None:
    try:
        folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        with tempfile.TemporaryFile(dir=folder):
            pass
    except OSError as error:
        raise BuildError(
            f"{folder} cannot be written to ({error.strerror}), and the backend has to be compiled once: set "
            "RINGTREE_CACHE_DIR to a folder that can, or run python -m ringtree.torch as who can"
        ) from error


def _check_owner(path: Path) -> None:
    """Code is loaded from there: only this user or root may be able to change it."""
    state = path.stat()
    if state.st_uid not in (os.geteuid(), 0) or state.st_mode & 0o022:
        raise BuildError(f"{path} is not this user's, or others can write to it: code is loaded from there")


def _compile(command: list[str], library: Path) -> None:
    print("ringtree: compiling the torch.distributed backend for this PyTorch, once", file=sys.stderr)
    with tempfile.TemporaryDirectory(dir=library.parent) as scratch:
        made = Path(scratch) / library.name
        result = subprocess.run([*command, "-o", str(made)], capture_output=True, text=True)
        if result.returncode != 0:
            raise BuildError(
                "the torch.distributed backend could not be compiled for this PyTorch with\n"
                f"  {shlex.join(command)}\n{result.stderr[-4000:]}"
            )
        made.chmod(0o755)  # whatever the umask says: other users may load what root has compiled
        made.replace(library)  # whoever finds it finds all of it


def _import(library: Path) -> ModuleType:
    import torch  # its libraries are to be there before ours

    loader = importlib.machinery.ExtensionFileLoader(_NAME, str(library))
    spec = importlib.util.spec_from_file_location(_NAME, library, loader=loader)
    assert spec is not None, f"no module can be loaded from {library} with PyTorch {torch.__version__}"
    module = importlib.util.module_from_spec(spec)
    loader.exec_module(module)
    return module
