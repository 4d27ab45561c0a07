"""The arms of the benchmark: how each is found and started. No peer is installed or run for this."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from bench import peers
from bench.peers import Arm, arms, is_crowded

from ringtree import profile

SOCKET = Path("/tmp/x/s")
NAMES = [
    "openmpi4",
    "openmpi4-nocma",
    "openmpi5",
    "openmpi5-nocma",
    "mpich4",
    "mpich5",
    "impi",
    "impi-yield2",
    "oneccl",
    "engine",
]


def program(path: Path, prints: str = "") -> None:
    """Makes an executable that prints one line."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(f"#!/bin/sh\necho '{prints}'\n")
    path.chmod(0o755)


@pytest.fixture(autouse=True)
def _alone(monkeypatch: pytest.MonkeyPatch) -> None:
    """Whatever the machine has: two cores, no profile, nothing remembered."""
    peers._banner.cache_clear()
    monkeypatch.setenv(profile.VARIABLE, "")
    monkeypatch.setattr(os, "sched_getaffinity", lambda pid: {0, 1})


@pytest.fixture
def bare(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> dict[str, Arm]:
    """The arms of a machine on which nothing is installed."""
    monkeypatch.setenv("PATH", str(tmp_path / "bin"))
    return {arm.name: arm for arm in arms(tmp_path / "peers", tmp_path / "drivers")}


@pytest.fixture
def full(bare: dict[str, Arm], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> dict[str, Arm]:
    """The arms of a machine that has all of them."""
    program(tmp_path / "bin" / "mpirun.openmpi", "mpirun.openmpi (OpenRTE) 4.1.4")
    program(tmp_path / "bin" / "mpirun.mpich")
    program(tmp_path / "peers" / "openmpi" / "bin" / "mpirun", "mpirun (Open MPI) 5.0.11")
    program(tmp_path / "peers" / "mpich" / "bin" / "mpiexec.hydra")
    program(tmp_path / "peers" / "oneapi" / "bin" / "mpiexec.hydra")
    for arm in bare.values():
        program(arm.driver)
    monkeypatch.setenv("PATH", f"{tmp_path / 'bin'}:/usr/bin:/bin")  # sh and echo, for the programs themselves
    return bare


def after(words: list[str], option: str) -> str:
    """The word behind `option`, which must be there once."""
    assert words.count(option) == 1
    return words[words.index(option) + 1]


def test_all_arms_are_listed_whether_or_not_they_are_there() -> None:
    assert [arm.name for arm in arms()] == NAMES


def test_what_is_not_installed_says_what_to_run(bare: dict[str, Arm]) -> None:
    for name, arm in bare.items():
        reason = arm.missing()
        assert reason is not None
        assert "\n" not in reason
        assert ("make bench-drivers" if name == "engine" else "make peers") in reason


def test_what_is_there_is_not_missing(full: dict[str, Arm]) -> None:
    assert {name: arm.missing() for name, arm in full.items()} == dict.fromkeys(NAMES)


def test_a_driver_that_is_not_built_is_missed(full: dict[str, Arm]) -> None:
    for arm in full.values():
        arm.driver.unlink(missing_ok=True)
    for arm in full.values():
        reason = arm.missing()
        assert reason is not None
        assert "make bench-drivers" in reason


def test_another_major_version_is_not_called_by_this_ones_name(full: dict[str, Arm], tmp_path: Path) -> None:
    program(tmp_path / "bin" / "mpirun.openmpi", "mpirun (Open MPI) 5.0.7")
    for name in ("openmpi4", "openmpi4-nocma"):
        assert "is not Open MPI 4: mpirun (Open MPI) 5.0.7" in (full[name].missing() or "")
    assert full["openmpi5"].missing() is None


def test_a_launcher_that_does_not_start_is_missing(full: dict[str, Arm], tmp_path: Path) -> None:
    broken = tmp_path / "peers" / "openmpi" / "bin" / "mpirun"
    broken.write_text("#!/nowhere/interpreter\n")
    assert "it does not start" in (full["openmpi5"].missing() or "")


@pytest.mark.parametrize("name", NAMES)
def test_every_command_names_driver_ranks_socket_and_cores(full: dict[str, Arm], name: str) -> None:
    arm = full[name]
    words = arm.command(3, SOCKET, [4, 6])
    assert words[-4:] == ["--socket", str(SOCKET), "--pin", "4,6"]
    assert after(words, "--ranks" if name == "engine" else "-n") == "3"
    assert str(arm.driver) in words
    assert arm.command(3, SOCKET, [])[-2:] == ["--socket", str(SOCKET)]
    with pytest.raises(ValueError, match="at least one rank"):
        arm.command(0, SOCKET, [0])


@pytest.mark.parametrize("name", [name for name in NAMES if name != "engine"])
def test_no_library_pins_over_the_drivers_pinning(full: dict[str, Arm], name: str) -> None:
    arm = full[name]
    words = arm.command(2, SOCKET, [0, 1])
    if name.startswith("openmpi"):
        assert after(words, "--bind-to") == "none"
    elif name.startswith("mpich"):
        assert after(words, "-bind-to") == "none"
    else:
        assert arm.environment()["I_MPI_PIN"] == "0"


@pytest.mark.parametrize(
    ("num_ranks", "pin", "crowded"),
    [(2, [0, 1], False), (3, [0, 1], True), (2, [0], True), (2, [1, 1], True), (2, [], False), (3, [], True)],
)
def test_ranks_that_share_a_core_are_a_crowd(num_ranks: int, pin: list[int], crowded: bool) -> None:
    assert is_crowded(num_ranks, pin) is crowded


@pytest.mark.parametrize("name", ["openmpi4", "openmpi5-nocma", "mpich5", "oneccl"])
def test_only_a_crowd_gives_cores_away(full: dict[str, Arm], name: str) -> None:
    yielding = {"--oversubscribe", "mpi_yield_when_idle", "MPIR_CVAR_CH4_PROGRESS_THROTTLE", "CCL_YIELD"}
    assert not yielding & set(full[name].command(2, SOCKET, [0, 1]))
    assert yielding & set(full[name].command(4, SOCKET, [0, 1]))


def test_open_mpi_is_told_that_root_may(full: dict[str, Arm], monkeypatch: pytest.MonkeyPatch) -> None:
    for user in (0, 1000):
        monkeypatch.setattr(os, "geteuid", lambda user=user: user)
        assert ("--allow-run-as-root" in full["openmpi4"].command(2, SOCKET, [])) is (user == 0)


@pytest.mark.parametrize(
    ("name", "option"), [("openmpi4", "btl_vader_single_copy_mechanism none"), ("openmpi5", "smsc ^cma")]
)
def test_the_arms_without_cma_differ_in_nothing_else(full: dict[str, Arm], name: str, option: str) -> None:
    plain, without = (full[arm].command(2, SOCKET, [0, 1]) for arm in (name, f"{name}-nocma"))
    assert " ".join(without).replace(f" --mca {option}", "") == " ".join(plain)
    assert without != plain


def test_the_yielding_intel_mpi_differs_in_nothing_else(full: dict[str, Arm]) -> None:
    plain, yielding = full["impi"], full["impi-yield2"]
    assert plain.command(4, SOCKET, [0, 1]) == yielding.command(4, SOCKET, [0, 1])
    assert {**plain.environment(), "I_MPI_THREAD_YIELD": "2"} == yielding.environment()
    assert "I_MPI_THREAD_YIELD" not in plain.environment()


def test_the_engine_goes_by_the_machines_profile(full: dict[str, Arm], monkeypatch: pytest.MonkeyPatch) -> None:
    assert "--rules" not in full["engine"].command(2, SOCKET, [0, 1])
    rules = "all_reduce 2 own private rest two_shot simple 0 ordinary 1\n"
    monkeypatch.setattr(profile, "load", lambda path: profile.Loaded(rules=rules))
    assert after(full["engine"].command(2, SOCKET, [0, 1]), "--rules") == rules
