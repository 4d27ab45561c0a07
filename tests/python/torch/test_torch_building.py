"""Where the compiled backend is kept, and what is said where it cannot be compiled. Nothing is compiled here."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

pytest.importorskip("torch")

from ringtree.compiling import BuildError
from ringtree.torch import building
from ringtree.torch.building import built_library

pytestmark = pytest.mark.torch


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("RINGTREE_CACHE_DIR", str(tmp_path / "cache"))
    return tmp_path / "cache" / "torch"


def put_library(folder: Path) -> Path:
    folder.mkdir(parents=True, mode=0o755)
    library = folder / f"{building._NAME}-{building._digest(building._command())}.so"
    library.touch(0o755)
    return library


def test_what_is_there_is_used(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    library = put_library(folder)
    monkeypatch.setattr("ringtree.building.compile_file", lambda *_: pytest.fail("compiled again"))
    assert built_library() == library


@pytest.mark.parametrize("mode", [0o775, 0o757])
def test_what_others_can_write_to_is_not_loaded(folder: Path, mode: int) -> None:
    put_library(folder)
    folder.chmod(mode)
    with pytest.raises(BuildError, match="others can write to it"):
        built_library()


def test_no_compiler(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CXX", "no-such-compiler -O1")
    with pytest.raises(BuildError, match=r"no C\+\+ compiler \(no-such-compiler\).*install g\+\+") as told:
        built_library()
    assert "\n" not in str(told.value)
    assert not folder.exists()


def test_a_compiler_that_fails_is_quoted(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CXX", "false")
    with pytest.raises(BuildError, match="could not be compiled"):
        built_library()
    assert not list(folder.glob("*.so"))


def test_a_folder_that_cannot_be_made(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "file").touch()
    monkeypatch.setenv("RINGTREE_CACHE_DIR", str(tmp_path / "file"))
    with pytest.raises(BuildError, match="RINGTREE_CACHE_DIR"):
        built_library()


def test_another_compiler_or_source_is_another_library(monkeypatch: pytest.MonkeyPatch) -> None:
    before = building._digest(building._command())
    monkeypatch.setenv("CXX", "g++ -O3")
    assert building._digest(building._command()) != before


def test_a_source_in_a_folder_below_counts(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(building, "_SOURCES", shutil.copytree(building._SOURCES, tmp_path / "csrc"))
    before = building._digest(building._command())
    with (tmp_path / "csrc" / "trace" / "waits.cpp").open("a") as file:
        file.write("// changed\n")
    assert building._digest(building._command()) != before


def test_ranks_that_load_what_is_there_do_not_import_the_build_helper(folder: Path) -> None:
    put_library(folder)
    code = "import sys; from ringtree.torch.building import built_library; built_library(); print(*sys.modules)"
    loaded = subprocess.check_output([sys.executable, "-c", code], text=True).split()
    assert "torch" in loaded
    assert "torch.utils.cpp_extension" not in loaded


def test_headers_and_libraries_are_those_of_pytorch() -> None:
    from torch.utils import cpp_extension

    command = building._command()
    assert {f"-isystem{path}" for path in cpp_extension.include_paths()} <= set(command)
    assert {f"-L{path}" for path in cpp_extension.library_paths()} <= set(command)
