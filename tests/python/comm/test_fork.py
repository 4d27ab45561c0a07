"""fork() after init: the child is told at its first call, and what it does harms nobody.

For: processes that fork for reasons of their own, data loaders say. The ranks are processes, because a fork of threads
copies only one of them.
"""

from __future__ import annotations

import os
import subprocess
import sys

PROGRAM = """
import os, sys
import numpy as np
import ringtree

rank, store = int(sys.argv[1]), sys.argv[2]
comm = ringtree.init(rank, 2, store, timeout=60)
started = comm.start("all_reduce", np.ones(10))
started.wait()

def said(call):
    try:
        call()
    except ringtree.UsageError as error:
        return str(error)
    return "nothing"

if rank == 0:
    child = os.fork()
    if child == 0:
        texts = {
            said(lambda: comm.all_reduce(np.ones(3))),
            said(lambda: comm.start("barrier")),
            said(lambda: comm.send(np.ones(3), 1)),
            said(lambda: comm.abort("from a child")),
            said(comm.shrink),
            said(lambda: comm.split(0)),
        }
        comm.close()  # closes the child's copies and nothing else
        mine = ringtree.init(0, 1, ringtree.ThreadStore())
        fresh = mine.all_reduce(np.ones(3))[0] == 1
        os._exit(0 if texts == {sys.argv[3]} and fresh else 1)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0, "the child was told something else"
for _ in range(3):
    assert comm.all_reduce(np.ones(1000))[0] == 2
comm.close()
"""
TOLD = "this communicator was made before fork(); a child must make its own"


def test_a_child_is_told_at_its_first_call_and_its_parent_goes_on() -> None:
    store = f"unix:fork-{os.getpid()}"
    ranks = [
        subprocess.Popen([sys.executable, "-c", PROGRAM, str(rank), store, TOLD], stderr=subprocess.PIPE, text=True)
        for rank in range(2)
    ]
    said = [rank.communicate(timeout=120)[1] for rank in ranks]
    assert [rank.returncode for rank in ranks] == [0, 0], "\n".join(said)
