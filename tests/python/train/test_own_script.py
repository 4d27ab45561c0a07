"""What may be asked of a user's script before it is started. Not for: running one (test_train_sweep.py)."""

from __future__ import annotations

import pytest
from train_support import plan_of

from ringtree.errors import UsageError
from ringtree.train.own_script import launcher_of


@pytest.mark.parametrize(
    ("command", "launcher"),
    [
        ("torchrun --nproc-per-node 2 x.py", "torchrun"),
        ("/opt/bin/mpirun -np 2 python x.py", "mpirun"),
        ("srun -n 2 python x.py", "srun"),
        ("python -m torch.distributed.run --nproc-per-node 2 x.py", "-m torch.distributed.run"),
        ("python3.11 -W ignore -m torch.distributed.launch x.py", "-m torch.distributed.launch"),
        ("accelerate launch x.py", "accelerate launch"),
        ("env OMP_NUM_THREADS=1 torchrun x.py", "torchrun"),
        ("uv run accelerate launch x.py", "accelerate launch"),
        ("python x.py", None),
        ("python -m my.module srun", None),
        ("python -c pass srun", None),
        ("python x.py --launcher torchrun", None),
        ("./train --launcher srun", None),
        ("accelerate config", None),
        ("env A=1 python x.py", None),
    ],
)
def test_launchers(command: str, launcher: str | None) -> None:
    assert launcher_of(command.split()) == launcher


def test_a_launcher_after_the_dashes_is_refused_and_the_way_out_named() -> None:
    with pytest.raises(UsageError) as refused:
        plan_of(command=("torchrun", "--nproc-per-node", "2", "dir/x.py"))
    assert str(refused.value) == (
        "torchrun after -- would start ranks in each rank: give the script itself and its ranks by --ranks, as in "
        "--ranks 2 -- python dir/x.py"
    )
