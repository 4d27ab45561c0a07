"""Compiles what the package brings along as source, once, and keeps it.

For: the torch.distributed backend (ringtree.torch) and native workers (ringtree.arms), which depend on a library that
is found only where they run. Not for: the engine, which comes compiled with the package.

What is compiled is kept in a folder of `~/.cache/ringtree` (XDG_CACHE_HOME, or RINGTREE_CACHE_DIR itself), under a name
made of all that it depends on. Processes that come at the same time wait for the one that compiles (compiling.py).
"""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from ringtree._core import __file__ as core_library
from ringtree.compiling import BuildError, compile_file, compiler_lock


@dataclass(frozen=True)
class Recipe:
    """How one file is made. `what`: said while it is compiled; `command`: the compiler's, without its output; `folder`:
    below the cache; `name`: of the file, which tells all that it depends on; `without`: what to do without a compiler;
    `hint`: how to have it done beforehand.
    """

    what: str
    command: list[str]
    folder: str
    name: str
    without: str
    hint: str = ""


def installed() -> Path:
    """Returns where the compiled parts of the package lie."""
    return Path(core_library).parent


def built(recipe: Recipe) -> Path:
    """Returns the compiled file, which is there when this returns. Raises BuildError."""
    folder = cache_folder() / recipe.folder
    made = folder / recipe.name
    if made.exists():
        _check_owner(made)
        _check_owner(folder)
        return made
    if shutil.which(recipe.command[0]) is None:
        raise BuildError(recipe.without)
    _prepare(folder, recipe)
    _check_owner(folder)
    try:
        with compiler_lock(folder, recipe.hint) as lock:
            if not made.exists():  # nobody else has done it meanwhile
                compile_file(recipe.command, made, lock, recipe.what, recipe.hint)
    except OSError as error:
        raise BuildError(f"{recipe.what} cannot be compiled into {folder}: {error}") from error
    return made


def cache_folder(environment: Mapping[str, str] = os.environ) -> Path:
    """Returns the folder of what is compiled, which need not exist yet. Raises BuildError if there is no home."""
    asked = environment.get("RINGTREE_CACHE_DIR")
    if asked:
        return Path(asked)
    try:
        return Path(environment.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "ringtree"
    except RuntimeError as error:  # no home
        raise BuildError(f"{error}: set RINGTREE_CACHE_DIR to a folder for what is compiled") from error


def _prepare(folder: Path, recipe: Recipe) -> None:
    try:
        folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        with tempfile.TemporaryFile(dir=folder):
            pass
    except OSError as error:
        raise BuildError(
            f"{folder} cannot be written to ({error.strerror}), and {recipe.what} has to be compiled once: set "
            "RINGTREE_CACHE_DIR to a folder that can"
        ) from error


def _check_owner(path: Path) -> None:
    """Code is loaded from there: only this user or root may be able to change it."""
    state = path.stat()
    if state.st_uid not in (os.geteuid(), 0) or state.st_mode & 0o022:
        raise BuildError(f"{path} is not this user's, or others can write to it: code is loaded from there")
