"""`compare --launcher`: whose ranks the user's launcher starts, by which command, and what is refused.

For: words and refusals, without a process. Not for: real launchers (test_workers_mpi.py).
"""

from __future__ import annotations

import re
import sys
from pathlib import Path

import pytest

from ringtree.arms.mpi_libraries import MPICH, OPENMPI, MpiProgram
from ringtree.arms.own_launcher import launched_by, launcher_words
from ringtree.arms.program import Native
from ringtree.errors import UsageError

OF_OPEN_MPI, OF_MPICH = Native(MpiProgram(OPENMPI)), Native(MpiProgram(MPICH))


class OfTheEngine:
    """A program of another kind."""

    name = "engine"

    def command(self, num_ranks: int, socket: Path, pin: object) -> list[str]:
        return []

    def environment(self) -> dict[str, str]:
        return {}


def test_the_launcher_gets_the_number_of_ranks_and_the_worker(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(MpiProgram, "worker", lambda self: Path("/cache/worker"))
    program = launched_by(["srun", "--mpi=pmix"], OF_OPEN_MPI.program)
    assert program.name == "openmpi"
    assert program.command(4, Path("/t/s"), [0, 1]) == (
        ["srun", "--mpi=pmix", "-n", "4", "/cache/worker", "--socket", "/t/s", "--pin", "0,1"]
    )


def test_other_programs_and_other_runs_are_left_alone() -> None:
    engine = OfTheEngine()
    assert launched_by(["srun"], engine) is engine
    assert launched_by([], OF_OPEN_MPI.program) is OF_OPEN_MPI.program


def test_words_are_taken_apart_as_a_shell_would() -> None:
    engine = Native(OfTheEngine())
    text = f"{sys.executable} --comment 'two words'"
    assert launcher_words(text, [engine, OF_OPEN_MPI, OF_OPEN_MPI]) == [sys.executable, "--comment", "two words"]


@pytest.mark.parametrize(
    ("text", "natives", "said"),
    [
        ("srun 'x", [OF_OPEN_MPI], "can't be parsed"),
        ("", [OF_OPEN_MPI], "nothing can't be started here"),
        ("no-such-launcher -x", [OF_OPEN_MPI], "no-such-launcher can't be started here"),
        (sys.executable, [], "one MPI library: name one with --arms, not none"),
        (sys.executable, [OF_OPEN_MPI, OF_MPICH], "not openmpi, mpich"),
    ],
)
def test_what_can_not_start_them_is_refused(text: str, natives: list[Native], said: str) -> None:
    with pytest.raises(UsageError, match=re.escape(said)):
        launcher_words(text, natives)
