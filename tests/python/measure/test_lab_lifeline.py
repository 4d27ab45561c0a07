"""Processes that end with the lab, also when it is killed, also those that ranks have started.

For: ringtree.measure.lifeline, with a stand-in for the lab that is killed by SIGKILL. Not for: whole comparisons
(test_compare.py).
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from lab_support import is_running, wait_until

# A lab that starts a guard and one rank; the rank ties itself to the lab and starts a child of its own.
LAB = """
import os, subprocess, sys, time
from ringtree.measure.lifeline import Guard
guard = Guard()
rank_lifeline, rank_hold = os.pipe()
rank = subprocess.Popen([sys.executable, "-c", sys.argv[1], str(rank_lifeline), str(guard.group)],
                        pass_fds=(rank_lifeline,), stdout=subprocess.PIPE, text=True)
print(guard.group, rank.pid, rank.stdout.readline().strip(), flush=True)
time.sleep(600)
"""
TIED = "from ringtree.measure.lifeline import tie_to_lab; tie_to_lab(int(sys.argv[1]), int(sys.argv[2]))"
# A rank that can't do anything for itself any more: only the guard is left to end it.
ONLY_GUARDED = "import os; os.setpgid(0, int(sys.argv[2]))"
RANK = """
import subprocess, sys, time
{tie}
print(subprocess.Popen(["sleep", "600"]).pid, flush=True)
time.sleep(600)
"""


@pytest.mark.parametrize("tie", [TIED, ONLY_GUARDED])
def test_kill_9_of_the_lab_ends_guard_rank_and_the_ranks_child(tie: str) -> None:
    path = os.pathsep.join(str(Path(entry or ".").absolute()) for entry in sys.path)
    lab = subprocess.Popen(
        [sys.executable, "-c", LAB, RANK.format(tie=tie)],
        stdout=subprocess.PIPE,
        text=True,
        env={**os.environ, "PYTHONPATH": path},
    )
    assert lab.stdout is not None
    pids = [int(word) for word in lab.stdout.readline().split()]
    try:
        assert len(pids) == 3
        assert all(is_running(pid) for pid in pids)
        lab.kill()
        lab.wait()
        seconds = wait_until(lambda: not any(is_running(pid) for pid in pids), 5.0)
        assert seconds is not None, f"still running: {[pid for pid in pids if is_running(pid)]}"
    finally:
        lab.stdout.close()
        for pid in pids:
            if is_running(pid):
                os.kill(pid, signal.SIGKILL)
