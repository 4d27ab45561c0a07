"""Which NCCL this process's PyTorch calls: the one that was loaded first, not the one that it was built with."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
from nccl_standin import Play, library, standin

from ringtree.gpu.mapped import mapped_nccl_version

__all__ = ["standin"]
ASKS = "from ringtree.gpu.mapped import mapped_nccl_version; print(mapped_nccl_version())"


def asked(before: str = "", **environment: str) -> str:
    """What a fresh process answers."""
    command = [sys.executable, "-c", before + ASKS]
    done = subprocess.run(command, env={**os.environ, **environment}, capture_output=True, text=True, check=True)
    return done.stdout.strip()


def named_as_nccl(folder: Path) -> Path:
    """The stand-in by NCCL's name."""
    folder.mkdir()
    (folder / "libnccl.so.2").write_bytes(library().read_bytes())
    return folder / "libnccl.so.2"


def test_a_process_without_nccl_says_so() -> None:
    assert asked() == "None"


def test_a_library_that_was_loaded_for_itself_is_found_among_the_mapped_files(tmp_path: Path) -> None:
    path = named_as_nccl(tmp_path / "package")
    assert asked(f"import ctypes; ctypes.CDLL({str(path)!r}); ", STANDIN_VERSION="22809") == "2.28.9"


def test_a_preloaded_library_comes_before_a_package_s(tmp_path: Path) -> None:
    ours, other = named_as_nccl(tmp_path / "ours"), tmp_path / "package"
    other.mkdir()
    source = other / "nccl.c"
    source.write_text("int ncclGetVersion(int* at) { return *at = 22809, 0; }\n")
    subprocess.run(["cc", "-shared", "-fPIC", str(source), "-o", str(other / "libnccl.so.2")], check=True)
    load = f"import ctypes; ctypes.CDLL({str(other / 'libnccl.so.2')!r}); "
    assert asked(load) == "2.28.9"
    assert asked(load, LD_PRELOAD=str(ours), STANDIN_VERSION="23007") == "2.30.7"


def test_a_file_that_is_gone_is_passed_over(standin: Play, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    there, maps = named_as_nccl(tmp_path / "there"), tmp_path / "maps"
    gone = f"7f00-7f01 r-xp 0 00:1f 7     {tmp_path}/gone/libnccl.so.2 (deleted)\n"
    maps.write_text(gone + f"7f02-7f03 r-xp 0 00:1f 8     {there}\n7f04-7f05 rw-p 0 00:00 0\n")
    standin(version=22703)
    assert mapped_nccl_version(str(maps)) == "2.27.3"
    maps.write_text(gone)
    assert mapped_nccl_version(str(maps)) is None


def test_files_whose_names_are_no_text_are_read_past(standin: Play, tmp_path: Path) -> None:
    there, maps = named_as_nccl(tmp_path / "there"), tmp_path / "maps"
    maps.write_bytes(b"7f00-7f01 r-xp 0 00:1f 7     /data/caf\xe9.bin\n" + f"7f02-7f03 r-xp 0 0 8  {there}\n".encode())
    standin(version=22703)
    assert mapped_nccl_version(str(maps)) == "2.27.3"
