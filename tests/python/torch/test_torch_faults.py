"""Death, mismatch, absence and Ctrl-C through torch.distributed: who failed is named, in time, and nothing is left."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

pytest.importorskip("torch")

from fault_support import left_in_shared_memory
from forked import OF_TORCH, PROCESSES, preload
from forked import start as fork
from torch._C import _distributed_c10d as c10d
from torch_faulty import be_faulty_with

pytestmark = [pytest.mark.torch, pytest.mark.alone]

SUPPORT = Path(__file__).parents[1] / "support"
PATIENCE_S = 90


# What the end of an interpreter does is seen in one of its own.
OWN_INTERPRETER = ("raises_beside_a_call", "forked", "ctrl_c")

preload(*OF_TORCH, "ringtree")


class Interpreter:
    """A rank that is a program."""

    def __init__(self, *arguments: object) -> None:
        *words, timeout_s = map(str, arguments)
        self._process = subprocess.Popen(
            [sys.executable, str(SUPPORT / "torch_faulty.py"), *words],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            env={**os.environ, "TIMEOUT_S": timeout_s, "OMP_NUM_THREADS": "1"},
        )
        assert self._process.stdout is not None
        self.pid, self.output, self.wait = self._process.pid, self._process.stdout, self._process.wait

    def close(self) -> None:
        self._process.kill()
        self._process.communicate()


class Fork:
    """A rank that is forked: it has no PyTorch to import."""

    def __init__(self, *arguments: object) -> None:
        said, output = PROCESSES.Pipe(duplex=False)
        given, self._to_rank = PROCESSES.Pipe(duplex=False)
        self._process = fork(be_faulty_with, output, given, *arguments)
        output.close()
        given.close()
        self.pid, self._said = self._process.pid, said
        self.output = open(said.fileno(), closefd=False)  # noqa: SIM115 # closed below

    def close(self) -> None:
        self._process.kill()
        self._process.join()
        self.output.close()
        self._said.close()
        self._to_rank.close()


class Faulty:
    """Ranks of torch_faulty.py."""

    def __init__(self, case: str, size: int, folder: Path, timeout_s: float = 60.0) -> None:
        kind = Interpreter if case in OWN_INTERPRETER else Fork
        self.ranks = [kind(case, rank, size, str(folder / "store"), timeout_s) for rank in range(size)]

    def line(self, rank: int, kind: str) -> tuple[float, str]:
        """The time and the text of the next line of that kind; what comes before is passed over."""
        passed = []
        for line in self.ranks[rank].output:
            passed.append(line)
            if line.startswith(f"{kind} "):
                _, when, text = line.split(" ", 2)
                return float(when), text
        raise AssertionError(f"rank {rank} never said {kind!r}: {''.join(passed)[-3000:]}")

    def end(self, rank: int) -> int:
        """Waits for the end of a rank that is a program; its exit code."""
        process = self.ranks[rank]
        assert isinstance(process, Interpreter)
        return process.wait(PATIENCE_S)

    def close(self) -> None:
        for process in self.ranks:
            process.close()


Start = Callable[..., Faulty]


@pytest.fixture
def start(tmp_path: Path) -> Iterator[Start]:
    started: list[Faulty] = []

    def make(case: str, size: int = 2, **options: float) -> Faulty:
        started.append(Faulty(case, size, tmp_path, **options))
        return started[-1]

    yield make
    for faulty in started:
        faulty.close()


@pytest.mark.parametrize("case", ["killed_in_backward", "killed_beside_shared_buckets"])
def test_killed_in_backward(start: Start, case: str) -> None:
    """PyTorch's own thread of the backward pass waits; the others know within a second, by name."""
    faulty = start(case, 3)
    died, _ = faulty.line(1, "dies")
    for rank in (0, 2):
        told, text = faulty.line(rank, "told")
        assert told - died < 1.0, text
        assert "DistBackendError" in text, text
        assert f"rank 1 (pid {faulty.ranks[1].pid})" in text
    assert left_in_shared_memory([process.pid for process in faulty.ranks]) == []


@pytest.mark.parametrize("case", ["different_sizes", "different_types", "different_ops", "different_collectives"])
def test_mismatch(start: Start, case: str) -> None:
    faulty = start(case)
    for rank in range(2):
        begun, _ = faulty.line(rank, "ready")
        told, text = faulty.line(rank, "told")
        assert told - begun < 5.0
        assert "rank 0" in text, text
        assert "rank 1" in text, text
        assert "all_reduce" in text, text
        assert text.startswith("DistBackendError: "), text


@pytest.mark.parametrize("case", ["absent", "absent_message"])
def test_deadline(start: Start, case: str) -> None:
    faulty = start(case, timeout_s=2.0)
    begun, _ = faulty.line(0, "ready")
    told, text = faulty.line(0, "told")
    assert 1.9 < told - begun < 10.0
    assert "Timed out" in text, text
    assert "rank 1" in text, text


@pytest.mark.skipif(not hasattr(c10d.Backend, "abort"), reason="PyTorch 2.6 has no abort() of plugins")
def test_abort(start: Start) -> None:
    faulty = start("aborted")
    _, text = faulty.line(0, "told")
    assert "aborted its process group" in text


def test_an_exception_ends_the_rank(start: Start) -> None:
    """What waits for ranks that never come gets a few seconds, then the process ends, so that launchers notice."""
    faulty = start("raises_beside_a_call")
    begun, _ = faulty.line(0, "ready")
    assert faulty.end(0) == 1
    assert time.monotonic() - begun < 20


def test_a_child_made_by_fork(start: Start) -> None:
    """Each of its calls is refused, it ends as a program does, and its parent's calls are as they were."""
    faulty = start("forked")
    for _ in range(7):
        _, text = faulty.line(0, "refused")
        assert "before fork()" in text
    assert faulty.line(0, "child")[1] == "0\n"
    assert faulty.line(0, "right")[1] == "True\n"
    assert [faulty.end(rank) for rank in range(2)] == [0, 0]


def test_ctrl_c_while_a_call_waits(start: Start) -> None:
    faulty = start("ctrl_c")
    faulty.line(0, "interrupted")
    assert faulty.end(0) == 0


def test_ctrl_c_under_torchrun(tmp_path: Path) -> None:
    """No process and no file is left."""
    scratch = tmp_path / "scratch"
    scratch.mkdir()
    command = [sys.executable, "-m", "torch.distributed.run", "--standalone", "--nproc-per-node", "2"]
    torchrun = subprocess.Popen(
        [*command, str(SUPPORT / "torch_loop.py")],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
        env={**os.environ, "TMPDIR": str(scratch), "OMP_NUM_THREADS": "1"},
    )
    assert torchrun.stdout is not None
    begun = [torchrun.stdout.readline() for _ in range(2)]
    ranks = _children(torchrun.pid)
    os.killpg(torchrun.pid, signal.SIGINT)
    _, said = torchrun.communicate(timeout=PATIENCE_S)
    assert begun == ["begun\n"] * 2, said[-3000:]
    assert len(ranks) == 2
    deadline = time.monotonic() + 10
    while (left := [pid for pid in ranks if Path(f"/proc/{pid}").exists()]) and time.monotonic() < deadline:
        os.sched_yield()
    assert not left, "processes are left"
    assert left_in_shared_memory([torchrun.pid, *ranks]) == []
    left_files = [path for path in scratch.rglob("*") if "ringtree" in path.name]
    assert not left_files


def _children(pid: int) -> list[int]:
    return [int(word) for word in Path(f"/proc/{pid}/task/{pid}/children").read_text().split()]
