"""What may be asked of a user's script before it is started. Not for: running one (test_train_sweep.py)."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest
from train_support import plan_of

from ringtree.errors import UsageError
from ringtree.train.own_script import check_unchanged, launcher_of


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


def test_a_script_that_changed_is_refused_when_a_run_goes_on(tmp_path: Path) -> None:
    script = tmp_path / "x.py"
    script.write_text("one")
    plan = plan_of(command=("python", "-u", str(script), "--epochs", "1"))
    assert plan.training is not None
    check_unchanged(plan.training, "run")
    script.write_text("two")
    with pytest.raises(UsageError, match=r"run can't go on: x\.py is not what it was when the run began"):
        check_unchanged(plan.training, "run")
    script.unlink()
    with pytest.raises(UsageError, match=r"x\.py is not what it was"):
        check_unchanged(plan.training, "run")


@pytest.mark.parametrize(
    "command", [("python", "-m", "my.module"), (sys.executable, "-c", "x" * 5000), ("no-such", "x")]
)
def test_a_command_that_names_no_file_has_no_digest(command: tuple[str, ...]) -> None:
    plan = plan_of(command=command)
    assert plan.training is not None
    assert plan.training.script_sha256 is None
    check_unchanged(plan.training, "run")
