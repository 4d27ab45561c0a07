"""The stand-in for libcuda and libnccl (tests/nccl_standin), built once and put in the place of both.

For: tests of NCCL's arms without a GPU. Not for: GPUs (those tests have the mark `gpu`).
"""

from __future__ import annotations

import hashlib
import os
import subprocess
from collections.abc import Callable
from functools import cache
from pathlib import Path
from tempfile import gettempdir

import pytest

ROOT = Path(__file__).resolve().parents[3]
FOLDER = ROOT / "tests" / "nccl_standin"
Play = Callable[..., None]


@cache
def library() -> Path:
    """Builds it; every process of a test run, and each that has the same sources, uses one file."""
    kernels = ROOT / "ringtree" / "gpu" / "patterns.cu"
    sources = [kernels, *sorted(FOLDER.glob("*.h")), *sorted(FOLDER.glob("*.cpp"))]
    content = hashlib.sha256(b"".join(source.read_bytes() for source in sources)).hexdigest()[:16]
    made = Path(gettempdir()) / f"ringtree-nccl-standin-{os.getuid()}-{content}.so"
    if not made.exists():
        fresh = made.with_suffix(f".{os.getpid()}")
        command = [os.environ.get("CXX", "c++"), "-std=c++17", "-O1", "-shared", "-fPIC", f"-I{kernels.parent}"]
        subprocess.run([*command, *map(str, FOLDER.glob("*.cpp")), "-o", str(fresh)], check=True, capture_output=True)
        fresh.replace(made)
    return made


@pytest.fixture
def standin(monkeypatch: pytest.MonkeyPatch) -> Play:
    """Puts the stand-in in place, for this process and those that it starts; call it to say what it plays."""

    def play(**settings: object) -> None:
        for name, value in settings.items():
            monkeypatch.setenv(f"STANDIN_{name.upper()}", str(value))

    put_in_place(monkeypatch)
    return play


def put_in_place(environment: pytest.MonkeyPatch) -> None:
    """Has this process and those that it starts find the stand-in, playing nothing in particular."""
    for name in [name for name in os.environ if name.startswith(("NCCL_", "STANDIN_"))]:
        environment.delenv(name)
    for name in ("RINGTREE_LIBCUDA", "RINGTREE_LIBNCCL"):
        environment.setenv(name, str(library()))
