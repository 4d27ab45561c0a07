"""The compiler's process: killed with the one that asked for it, one at a time, said in one line.

For: a made-up compiler in real processes. Not for: where it is kept (test_torch_building.py).
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from ringtree.compiling import BuildError, compile_file, compiler_lock

ASK = """
import sys
from pathlib import Path
from ringtree.compiling import compile_file, compiler_lock
folder = Path(sys.argv[1])
with compiler_lock(folder, "x does it beforehand") as lock:
    compile_file(sys.argv[2:], folder / "made.so", lock, "a thing", "x does it beforehand")
"""


def ask(folder: Path, *command: str) -> subprocess.Popen[str]:
    """A process that has `command` compile into `folder`."""
    arguments = [sys.executable, "-c", ASK, str(folder), *command]
    return subprocess.Popen(arguments, stderr=subprocess.PIPE, text=True)


def test_a_library_is_made_and_nothing_else_is_left(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    with compiler_lock(tmp_path) as lock:
        compile_file(
            ["/bin/sh", "-c", 'echo made > "$2"', "cc"], tmp_path / "made.so", lock, "a thing", "x does it beforehand"
        )
    assert (tmp_path / "made.so").read_text() == "made\n"
    assert sorted(file.name for file in tmp_path.iterdir()) == ["compiler.lock", "made.so"]
    said = capfd.readouterr().err
    assert said == "ringtree: compiling a thing, once (x does it beforehand)\n"


def test_a_compiler_that_fails_is_quoted(tmp_path: Path) -> None:
    with compiler_lock(tmp_path) as lock, pytest.raises(BuildError, match="no such header"):
        compile_file(
            ["/bin/sh", "-c", "echo no such header >&2; exit 3"],
            tmp_path / "x.so",
            lock,
            "a thing",
            "x does it beforehand",
        )
    assert not (tmp_path / "x.so").exists()


@pytest.mark.parametrize("how", [signal.SIGKILL, signal.SIGTERM, signal.SIGINT])
def test_the_compiler_and_its_children_end_with_the_process_that_asked(tmp_path: Path, how: signal.Signals) -> None:
    fifo = tmp_path / "alive"
    os.mkfifo(fifo)
    # Compiler and child hold the pipe's end; it is read to its end when both are gone.
    asking = ask(tmp_path, "/bin/sh", "-c", f"exec 9>{fifo}; echo started >&9; sleep 1000 & sleep 1000", "cc")
    with fifo.open() as alive:
        assert alive.readline() == "started\n"
        asking.send_signal(how)
        asking.wait()
        assert alive.read() == ""
    with compiler_lock(tmp_path):  # free again
        pass
    asking.communicate()


def test_a_second_process_waits_and_says_so(tmp_path: Path) -> None:
    with compiler_lock(tmp_path):
        waiting = ask(tmp_path, "/bin/sh", "-c", 'echo made > "$2"', "cc")
        assert waiting.stderr is not None
        said = waiting.stderr.readline()
        assert said == "ringtree: waiting for another process that compiles (x does it beforehand)\n"
        assert not (tmp_path / "made.so").exists()
    waiting.communicate()
    assert waiting.returncode == 0
    assert (tmp_path / "made.so").exists()
