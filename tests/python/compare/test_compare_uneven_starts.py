"""Processes of a real mpirun that start late or never: the others wait, or one line says who is missing.

For: Open MPI and MPICH on one machine. A rank is held on a FIFO until the others are seen to wait. Not for: what each
process decides (test_who_speaks.py).
"""

from __future__ import annotations

import contextlib
import json
import os
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest
from lab_support import read_until, wait_until
from launchers_support import PATIENCE_S, QUICK_RINGTREE, mpirun, plain_environment

from ringtree.measure.worker_processes import descendants

SMALL = ["compare", "--arms", "ring,auto", "--sizes", "8", "--launches", "2", "--no-preflight", "--json"]
# Runs the command once somebody writes GO into the FIFO, if this is the rank that is held; else it ends without.
HELD = 'if [ "${OMPI_COMM_WORLD_RANK:-$PMI_RANK}" = "$0" ]; then read go < "$1"; $go; fi; shift; exec "$@"'
GO, END = b"true\n", b"exit\n"
WAITING = "ringtree: waiting for "

pytestmark = pytest.mark.parametrize("flavour", ["openmpi", "mpich"])


@contextlib.contextmanager
def started(
    flavour: str, num_ranks: int, held: int, folder: Path, **variables: str
) -> Iterator[tuple[subprocess.Popen[str], int]]:
    """A comparison of so many processes, one of which is held; and a descriptor of the FIFO that lets it go."""
    command = mpirun(flavour)
    if command is None:
        pytest.skip(f"{flavour} is not installed")
    gate = folder / "gate"
    os.mkfifo(gate)
    opened = os.open(gate, os.O_RDWR)  # waits for no reader: mpirun may have ended the one that is held
    agent = ["sh", "-c", HELD, str(held), str(gate), *QUICK_RINGTREE, *SMALL, "--runs", str(folder / "runs")]
    with subprocess.Popen(
        [*command, str(num_ranks), *agent],
        env=plain_environment() | variables,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    ) as process:
        try:
            yield process, opened
        finally:
            process.kill()  # where the test has failed; what it started ends with it
            os.close(opened)


def said_without_the_held_one(process: subprocess.Popen[str], gate: int, words: str) -> str:
    """What processes said until all have ended. MPICH's mpirun waits for the held one, which then ends."""
    said = read_until(process, words)
    os.write(gate, END)
    return said + process.communicate(timeout=PATIENCE_S)[1]


def lines_of_ringtree(said: str) -> list[str]:
    """What processes said, besides for whom they wait."""
    return [line for line in said.splitlines() if line.startswith("ringtree: ") and not line.startswith(WAITING)]


def is_seen_waiting(mpirun_pid: int) -> bool:
    """Whether a process of the job waits for rank 0: it has taken its place among those of its host."""
    inodes = set()
    for pid in descendants(mpirun_pid):
        with contextlib.suppress(OSError):  # it has ended meanwhile
            links = [str(link.readlink()) for link in Path(f"/proc/{pid}/fd").iterdir()]
            inodes |= {link[len("socket:[") : -1] for link in links if link.startswith("socket:[")}
    words = [line.split() for line in Path("/proc/net/unix").read_text().splitlines()]
    return any(len(word) == 8 and word[7].endswith("-speaker") and word[6] in inodes for word in words)


def test_a_rank_that_comes_late_is_waited_for(flavour: str, tmp_path: Path) -> None:
    with started(flavour, 2, 1, tmp_path) as (process, gate):
        read_until(process, f"{WAITING}rank 1")
        os.write(gate, GO)
        stdout, stderr = process.communicate(timeout=PATIENCE_S)
    assert process.returncode == 0, stderr
    assert json.loads(stdout)["num_ranks"] == 2


def test_a_rank_0_that_comes_late_is_waited_for(flavour: str, tmp_path: Path) -> None:
    with started(flavour, 2, 0, tmp_path) as (process, gate):
        assert wait_until(lambda: is_seen_waiting(process.pid), PATIENCE_S) is not None
        os.write(gate, GO)
        stdout, stderr = process.communicate(timeout=PATIENCE_S)
    assert process.returncode == 0, stderr
    assert json.loads(stdout)["num_ranks"] == 2


def test_a_rank_0_that_comes_late_says_the_mistake_of_all(flavour: str, tmp_path: Path) -> None:
    with started(flavour, 2, 0, tmp_path, RINGTREE_SECRET="x" * 32) as (process, gate):
        assert wait_until(lambda: is_seen_waiting(process.pid), PATIENCE_S) is not None
        os.write(gate, GO)
        stderr = process.communicate(timeout=PATIENCE_S)[1]
    assert process.returncode == 2, stderr
    (said,) = lines_of_ringtree(stderr)
    assert said.startswith("ringtree: rank processes need the secret too: use RINGTREE_SECRET_FILE")


def line_without(rank: int, flavour: str, directory: Path, beginning: str) -> str:
    """Returns the one line, of this `beginning`, that three ranks say of which `rank` never comes."""
    with started(flavour, 3, rank, directory, RINGTREE_JOIN_SECONDS="20") as (process, gate):
        stderr = said_without_the_held_one(process, gate, beginning)
    assert process.returncode == 1, stderr
    (said,) = lines_of_ringtree(stderr)
    assert said.startswith(beginning)
    return said


def test_a_rank_that_never_comes_is_named_by_rank_0(flavour: str, tmp_path: Path) -> None:
    said = line_without(2, flavour, tmp_path, "ringtree: rank 0 waited ")
    assert " for rank 2 of 3, which did not come: " in said


def test_a_rank_0_that_never_comes_is_named_by_another(flavour: str, tmp_path: Path) -> None:
    said = line_without(0, flavour, tmp_path, "ringtree: rank 0 did not open the store ")
    assert said.endswith("raise RINGTREE_JOIN_SECONDS (now 20)")


def test_a_mistake_of_which_rank_0_never_hears_gets_out(flavour: str, tmp_path: Path) -> None:
    """The others would end silently, and mpirun all with them."""
    wrong = {"RINGTREE_SECRET": "x" * 32, "RINGTREE_JOIN_SECONDS": "20"}
    with started(flavour, 3, 0, tmp_path, **wrong) as (process, gate):
        stderr = said_without_the_held_one(process, gate, "ringtree: rank processes need ")
    assert process.returncode == 2, stderr
    (said,) = lines_of_ringtree(stderr)
    assert said.startswith("ringtree: rank processes need the secret too: ")
