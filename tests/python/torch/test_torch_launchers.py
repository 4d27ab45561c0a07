"""`init_method="ringtree://"` under real launchers: no variable is mapped.

For: meeting by what the launcher says, and what is said without one. Not for: the backend's calls
(test_torch_backend.py), or what variables mean (test_launchers_identity.py).
"""

from __future__ import annotations

import sys

import pytest

pytest.importorskip("torch")

from launchers_support import free_ports, mpirun, run, slurm, torchrun, why_no_slurm

pytestmark = pytest.mark.torch

PROGRAM = """
import torch, torch.distributed as dist
dist.init_process_group("ringtree", init_method="ringtree://")
total = torch.full((3,), float(dist.get_rank() + 1))
dist.all_reduce(total)
print("total", total.tolist(), flush=True)
dist.destroy_process_group()
"""


@pytest.mark.parametrize("launcher", ["openmpi", "mpich", "torchrun"])
def test_ranks_meet_by_what_the_launcher_says(launcher: str) -> None:
    command = torchrun() if launcher == "torchrun" else mpirun(launcher)
    if command is None:
        pytest.skip(f"{launcher} is not installed")
    done = run([*command, "2", sys.executable, "-c", PROGRAM])
    assert done.returncode == 0, done.stderr[-3000:]
    assert done.stdout.count("[3.0, 3.0, 3.0]") == 2


def test_ranks_meet_by_what_srun_says() -> None:
    """Nothing resolves the names of these nodes: MASTER_ADDR says where rank 0 is."""
    reason = why_no_slurm()
    if reason:
        pytest.skip(reason)
    with slurm() as started:
        where = {"MASTER_ADDR": "127.0.0.1", "MASTER_PORT": str(free_ports(1)[0])}
        done = started.run("srun", "-N2", "--ntasks-per-node=1", sys.executable, "-c", PROGRAM, **where)
    assert done.returncode == 0, done.stderr[-3000:]
    assert done.stdout.count("[3.0, 3.0, 3.0]") == 2


def test_without_a_launcher_it_says_what_to_do() -> None:
    done = run([sys.executable, "-c", PROGRAM])
    assert done.returncode == 1
    assert "UsageError: no launcher has started this process" in done.stderr.splitlines()[-1]
