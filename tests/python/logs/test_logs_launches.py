"""Numbers of processes in command lines."""

from __future__ import annotations

import pytest

from ringtree.logs.launches import launch_of


@pytest.mark.parametrize(
    ("command", "ranks", "hosts"),
    [
        ("$ srun -u -n4 osu_iallreduce -d cuda", 4, None),
        ("$ srun -N2 --mpi=pmix ./osu_bw -c", 2, 2),
        ("$ srun -N2 --ntasks-per-node=4 --mpi=pmix ./collective/osu_alltoall", 8, 2),
        ("srun --nodes=2 --ntasks 8 osu_allreduce", 8, 2),
        ("mpirun -np 8 -N 4 ./osu_allreduce", 8, None),
        ("/usr/bin/mpiexec.hydra -n 16 IMB-MPI1 allreduce", 16, None),
        ("./osu_allreduce -n 4", None, None),
    ],
)
def test_launches(command: str, ranks: int | None, hosts: int | None) -> None:
    assert launch_of(command) == (ranks, hosts)
