"""The arms of MPI libraries: how they are found, started and written. No library is needed, none is run.

For: ringtree.arms.mpi, mpi_libraries, native_engine, worker_building. Not for: what they measure
(test_compare_native.py).
"""

from __future__ import annotations

import os
import stat
from pathlib import Path

import pytest

from ringtree.arms import check_arm, common_boundary, kind_named, mpi, mpi_libraries
from ringtree.arms.mpi import controls_of, is_taken, told_of
from ringtree.arms.mpi_libraries import MpiProgram
from ringtree.arms.native_engine import native_of
from ringtree.comm import profile
from ringtree.compiling import BuildError
from ringtree.errors import UsageError

SOCKET = Path("/tmp/x/s")


def program(path: Path, prints: str = "", body: str = "") -> None:
    """Makes an executable that prints some lines."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(f"#!/bin/sh\nprintf '{prints}'\n{body}\n")
    path.chmod(0o755)


# A compiler that makes an empty program of whatever it is given after -o.
COMPILER = 'while [ "$1" != -o ]; do shift; done; touch "$2"; chmod +x "$2"'


@pytest.fixture(autouse=True)
def bare(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A machine of two cores without any library, profile or cache."""
    mpi_libraries.version_of.cache_clear()
    monkeypatch.setenv(profile.VARIABLE, "")
    monkeypatch.setenv("PATH", f"{tmp_path / 'bin'}:/nowhere")
    monkeypatch.setattr(mpi_libraries.sys, "prefix", str(tmp_path / "prefix"))
    monkeypatch.setenv("RINGTREE_PEERS", str(tmp_path / "peers"))
    monkeypatch.setenv("RINGTREE_CACHE_DIR", str(tmp_path / "cache"))
    monkeypatch.setattr(os, "sched_getaffinity", lambda pid: {0, 1})


@pytest.fixture
def full(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A machine that has all of them."""
    folder, peers = tmp_path / "bin", tmp_path / "peers"
    program(folder / "mpirun.openmpi", "mpirun.openmpi (OpenRTE) 4.1.4\\n")
    program(folder / "mpirun.mpich", "HYDRA build details:\\n    Version:                    4.0.2\\n")
    program(peers / "openmpi" / "bin" / "mpirun", "mpirun (Open MPI) 5.0.11\\n")
    program(peers / "mpich" / "bin" / "mpiexec.hydra", "HYDRA build details:\\n    Version:       5.0.2\\n")
    program(peers / "oneapi" / "bin" / "mpiexec.hydra", "Intel(R) MPI Library for Linux, Version 2021.18\\n")
    for header in ("mpi.h", "oneapi/ccl.hpp"):
        (peers / "oneapi" / "include" / header).parent.mkdir(parents=True, exist_ok=True)
        (peers / "oneapi" / "include" / header).touch()
    for compiler in (
        *(folder / name for name in ("mpicc.openmpi", "mpicc.mpich", "cc", "c++")),
        *(peers / name / "bin" / "mpicc" for name in ("openmpi", "mpich")),
    ):
        program(compiler, body=COMPILER)
    monkeypatch.setenv("PATH", f"{folder}:/usr/bin:/bin")  # sh and touch, for the programs themselves
    monkeypatch.setenv("CC", "cc")
    monkeypatch.setenv("CXX", "c++")


def after(words: list[str], option: str) -> str:
    """The word behind `option`, which must be there once."""
    assert words.count(option) == 1
    return words[words.index(option) + 1]


@pytest.mark.parametrize("name", ["openmpi", "mpich", "impi", "oneccl", "mpi", "openmpi5"])
def test_what_is_not_installed_says_how_to_get_it(name: str) -> None:
    reason = kind_named(name).lacks()
    assert reason is not None
    assert "\n" not in reason
    assert "pip install" in reason
    with pytest.raises(BuildError, match="pip install"):
        kind_named(name).native(name, "all_reduce").program.command(2, SOCKET, [])  # type: ignore[union-attr]


def test_a_version_is_chosen_by_its_number_and_else_the_first_that_is_found(full: None, tmp_path: Path) -> None:
    assert MpiProgram("openmpi").found().version == "4.1.4"
    assert MpiProgram("openmpi", 5).found().launcher == str(tmp_path / "peers" / "openmpi" / "bin" / "mpirun")
    assert MpiProgram("mpich", 5).found().version == "5.0.2"
    assert "openmpi 6 not found" in (MpiProgram("openmpi", 6).lacks() or "")
    assert [kind.lacks() for kind in mpi.KINDS] == [None] * len(mpi.KINDS)


def test_mpich_is_not_taken_for_open_mpi(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    program(tmp_path / "bin" / "mpirun", "HYDRA build details:\\n    Version:     4.0.2\\n")
    program(tmp_path / "bin" / "mpicc", body=COMPILER)
    monkeypatch.setenv("PATH", str(tmp_path / "bin"))
    assert MpiProgram("openmpi").lacks() is not None
    assert MpiProgram("mpich").lacks() is None
    assert mpi.KINDS[-1].native("mpi", None).program == MpiProgram("mpich")  # type: ignore[union-attr]


def test_a_launcher_that_does_not_start_is_missing(full: None, tmp_path: Path) -> None:
    (tmp_path / "peers" / "openmpi" / "bin" / "mpirun").write_text("#!/nowhere/interpreter\n")
    assert MpiProgram("openmpi", 5).lacks() is not None


@pytest.mark.parametrize("name", ["openmpi4", "openmpi5", "mpich4", "mpich5", "impi", "oneccl"])
def test_every_command_names_worker_ranks_socket_and_cores(full: None, name: str) -> None:
    native = kind_named(name).native(name, "all_reduce")
    assert native is not None
    words = native.program.command(3, SOCKET, [4, 6])
    assert after(words, "-n") == "3"
    assert after(words, "--socket") == str(SOCKET)
    assert after(words, "--pin") == "4,6"
    worker = Path(words[words.index("--socket") - 1])
    assert worker.stat().st_mode & stat.S_IXUSR
    assert words == native.program.command(3, SOCKET, [4, 6]), "compiled once, kept by what it depends on"
    assert "--pin" not in native.program.command(2, SOCKET, [])


def test_who_shares_a_core_yields(full: None) -> None:
    def words(name: str, num_ranks: int) -> str:
        native = kind_named(name).native(name, "all_reduce")
        assert native is not None
        return " ".join(native.program.command(num_ranks, SOCKET, [0, 1]))

    for name, option in (("openmpi", "mpi_yield_when_idle 1"), ("oneccl", "CCL_YIELD sched_yield")):
        assert option not in words(name, 2)
        assert option in words(name, 4)


@pytest.mark.parametrize(
    ("name", "collective", "variable", "value"),
    [
        ("openmpi:ring", "all_reduce", "OMPI_MCA_coll_tuned_allreduce_algorithm", "ring"),
        ("openmpi:4", "reduce_scatter", "OMPI_MCA_coll_tuned_reduce_scatter_block_algorithm", "4"),
        ("mpich:recursive_doubling", "all_gather", "MPIR_CVAR_ALLGATHER_INTRA_ALGORITHM", "recursive_doubling"),
        ("impi:7", "all_reduce", "I_MPI_ADJUST_ALLREDUCE", "7"),
        ("impi:2", "broadcast", "I_MPI_ADJUST_BCAST", "2"),
        ("oneccl:ring", "all_reduce", "CCL_ALLREDUCE", "ring"),
    ],
)
def test_a_switch_is_the_librarys_own_variable(name: str, collective: str, variable: str, value: str) -> None:
    native = check_arm(name, collective).native(name, collective)
    assert native is not None
    assert dict(native.controls.variables)[variable] == value


@pytest.mark.parametrize(
    ("name", "collective"),
    [("impi:ring", "all_reduce"), ("openmpi:", "all_reduce"), ("mpi:ring", "all_reduce"), ("oneccl", "gather")],
)
def test_a_switch_that_cannot_be_is_refused(name: str, collective: str) -> None:
    with pytest.raises(UsageError, match="unknown arm"):
        check_arm(name, collective)


def test_what_a_library_must_say_of_its_variables() -> None:
    assert dict(controls_of("openmpi", "ring", "all_reduce").wanted) == {"coll_tuned_allreduce_algorithm": "ring"}
    environment = {"OMPI_MCA_btl": "^vader", "OMPI_MCA_plm_rsh_agent": "x", "MPIR_CVAR_X": "1", "OMP_NUM_THREADS": "2"}
    assert told_of(environment) == {"btl": "^vader", "MPIR_CVAR_X": "1"}


@pytest.mark.parametrize(
    ("said", "wanted", "taken"),
    [
        ("4 ring", "ring", True),
        ("4 ring", "4", True),
        ("0 ignore", "ring", False),
        ("3", "recursive_doubling", True),  # a library that tells numbers only
        ("0", "recursive_doubling", False),
        ("0", "auto", True),
        ("^vader", "^vader", True),
        ("1", "true", True),
        ("0", "true", False),
        ("8", "7", False),
    ],
)
def test_what_counts_as_taken(said: str, wanted: str, taken: bool) -> None:
    assert is_taken(said, wanted) == taken


def test_the_engine_is_called_natively_where_c_can_say_what_is_asked_for() -> None:
    found = native_of("two_shot/ll128/32K/streaming/shared", "all_reduce")
    assert found is not None
    assert found.shared
    assert found.words == "two_shot ll128 32768 streaming"
    assert native_of("ring/2ch", "all_reduce") is None
    assert check_arm("native:auto", "scatter").name == "native_engine"
    with pytest.raises(UsageError, match="native: does not take channels"):
        check_arm("native:ring/unfused", "all_reduce")
    with pytest.raises(UsageError, match="unknown arm"):
        check_arm("native", "all_reduce")


def test_native_c_and_calls_from_python_are_never_compared() -> None:
    assert common_boundary(["auto", "openmpi", "native:ring"]) == "native"
    assert common_boundary(["auto", "ring"]) == "numpy"
    for names in (["gloo", "openmpi"], ["auto/2ch", "mpich"], ["textbook-shm:ring", "native:ring"]):
        with pytest.raises(UsageError, match=r"share no way to be called.*run them separately"):
            common_boundary(names)
