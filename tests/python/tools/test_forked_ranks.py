"""Forked ranks are ranks, with all that is theirs; who sets what only a new interpreter reads gets one.

For: forked_ranks.py. Not for: launches, which other tests look at.
"""

from __future__ import annotations

import os
import signal
from collections.abc import Mapping
from pathlib import Path

import pytest
from forked_ranks import forked_ranks
from lab_support import children_of

from ringtree.measure import rank_start
from ringtree.measure.messages import SetSpec
from ringtree.measure.process_set import SetFailed
from ringtree.measure.rank_set import RankSet

__all__ = ["forked_ranks"]


def started(environment: Mapping[str, str]) -> RankSet:
    ranks = RankSet([], SetSpec(num_ranks=2, seed=1, boundary="numpy"), environment)
    ranks.start()
    return ranks


@pytest.mark.parametrize(("variable", "is_forked"), [("RINGTREE_OF_A_TEST", True), ("PYTHONHASHSEED", False)])
def test_what_only_a_new_interpreter_reads_makes_one(variable: str, is_forked: bool) -> None:
    ranks = started({variable: "1"})
    try:
        assert set(ranks.pids).isdisjoint(children_of(os.getpid())) == is_forked
        ranks.close()
    finally:
        ranks.kill()
    assert not any(Path(f"/proc/{pid}").exists() for pid in ranks.pids)


def test_a_forked_rank_that_is_killed_is_named() -> None:
    ranks = started({})
    try:
        os.kill(ranks.pids[1], signal.SIGKILL)
        with pytest.raises(SetFailed, match=rf"rank 1 \(pid {ranks.pids[1]}\) was killed by SIGKILL"):
            ranks.close()
    finally:
        ranks.kill()


# A program of ranks: says what it was started with, and ends with an exit code of its own.
PROGRAM = """
import os, sys

def is_open(number):
    try:
        return os.fstat(number) is not None
    except OSError:
        return False

def main(arguments):
    print("variables", os.environ.get("RINGTREE_OF_A_TEST"), os.environ.get("RINGTREE_OF_THE_LAB"))
    print("folder", os.getcwd(), "input", os.readlink("/proc/self/fd/0"))
    print("descriptors", [number for number in range(1000) if is_open(number)])
    for number in map(int, arguments):
        os.write(number, str(number).encode())
    return 7

if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
"""


def test_a_program_is_started_as_by_a_new_interpreter(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "program_of_a_test.py").write_text(PROGRAM)
    monkeypatch.setenv("RINGTREE_OF_THE_LAB", "1")
    environment = {**os.environ, "PYTHONPATH": str(tmp_path), "RINGTREE_OF_A_TEST": "2", "OMP_NUM_THREADS": "1"}
    del environment["RINGTREE_OF_THE_LAB"]
    said = []
    output, first, second, closed = (os.memfd_create(name) for name in ("output", "first", "second", "closed"))
    try:
        for more in ({}, {"PYTHONHASHSEED": "1"}):
            for one in (output, first, second):
                os.ftruncate(one, 0)
                os.lseek(one, 0, os.SEEK_SET)
            # The lower number comes second: whatever order they are put in their places, one is in the way.
            process = rank_start.start_process(
                "program_of_a_test", (second, first), (), output, {**environment, **more}
            )
            assert (process.pid in children_of(os.getpid())) == bool(more)
            assert process.wait(60.0) == 7
            said.append(os.pread(output, 1 << 16, 0).decode().splitlines())
            assert [int(os.pread(one, 16, 0)) for one in (first, second)] == [first, second]
    finally:
        for one in (output, first, second, closed):
            os.close(one)
    forked, new = said
    assert forked == new
    assert new[0] == "variables 2 None"
    assert new[2] == f"descriptors {[0, 1, 2, first, second]}"
