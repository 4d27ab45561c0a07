"""`ringtree bench` under a launcher, as nccl-tests is started by mpirun: ranks of each process, one that prints.

For: the numbers of ranks, and what is refused. Not for: the table (test_ncclbench_text.py), or launchers themselves
(test_compare_launchers.py).
"""

from __future__ import annotations

import re

import pytest
from launchers_support import RINGTREE, mpirun, run, start_by_hand

SMALL = ["bench", "-b", "8", "-e", "64", "-f", "8", "-n", "2"]
_DEVICE = re.compile(r"#  Rank +(\d+) Group  0 Pid +(\d+) on")


@pytest.mark.parametrize(("options", "num_ranks"), [([], 2), (["-g", "2"], 4), (["-t", "2"], 4)])
def test_each_process_of_mpirun_has_as_many_ranks(options: list[str], num_ranks: int) -> None:
    command = mpirun("mpich")
    if command is None:
        pytest.skip("mpich is not installed")
    done = run([*command, "2", *RINGTREE, *SMALL, *options])
    assert done.returncode == 0, done.stderr
    devices = _DEVICE.findall(done.stdout)
    assert [int(rank) for rank, _ in devices] == list(range(num_ranks)), "one process prints, of all ranks"
    assert len({pid for _, pid in devices}) == (2 if "-t" in options else num_ranks)
    assert f"nGpus {2 if '-g' in options else 1} " in done.stdout
    assert done.stdout.count("# Out of bounds values : 0 OK") == 1


def test_native_processes_are_not_the_launchers() -> None:
    processes = start_by_hand(2, *SMALL, "--arm", "native:ring")
    said = [process.communicate(timeout=120)[1] for process in processes]
    assert processes[0].returncode == 2
    assert "native:ring starts its own processes" in said[0]
    assert said[1] == ""
