"""What `ringtree launchers` prints, and the pure function behind it.

For: rows with their variables, problems, and who is not a rank. Not for: what variables mean
(test_launchers_identity.py).
"""

from __future__ import annotations

import json
import os

import pytest
from typer.testing import CliRunner

from ringtree.cli import app
from ringtree.launchers import describe

SRUN = {
    "SLURM_JOB_ID": "71",
    "SLURM_STEP_ID": "0",
    "SLURM_PROCID": "1",
    "SLURM_STEP_NUM_TASKS": "2",
    "SLURM_STEP_NUM_NODES": "2",
    "SLURM_STEP_NODELIST": "n[1-2]",
}


def test_every_row_names_its_variable() -> None:
    said = describe(SRUN)
    assert (said.launcher, said.problem) == ("Slurm", None)
    rows = {what: (value, source) for what, value, source in said.rows}
    assert rows["rank"] == ("1", "SLURM_PROCID")
    assert rows["names of hosts"] == ("n1, n2", "SLURM_STEP_NODELIST")
    assert rows["job"] == ("71.0", "SLURM_JOB_ID, SLURM_STEP_ID")
    value, source = rows["ranks meet"]
    assert value.startswith("at n1, port ")
    assert source.startswith("the first of SLURM_STEP_NODELIST; ")


def test_problems_are_told_and_not_raised() -> None:
    clash = describe(SRUN | {"RANK": "0", "WORLD_SIZE": "9"})
    assert clash.launcher is None
    assert clash.problem is not None
    assert "two launchers disagree" in clash.problem
    nowhere = describe({name: value for name, value in SRUN.items() if name != "SLURM_STEP_NODELIST"})
    assert nowhere.launcher == "Slurm"
    assert nowhere.problem is not None
    assert "set MASTER_ADDR" in nowhere.problem


@pytest.mark.parametrize(
    ("environment", "why"),
    [
        ({}, ""),
        ({"SLURM_JOB_ID": "7", "SLURM_PROCID": "0"}, "not started by srun"),
        ({"JOB_COMPLETION_INDEX": "2"}, "WORLD_SIZE is not set"),
        ({"RANK": "2"}, "WORLD_SIZE is not set"),
        ({"WORLD_SIZE": "2"}, "RANK is not set"),
    ],
)
def test_who_is_not_a_rank_hears_why(environment: dict[str, str], why: str) -> None:
    said = describe(environment)
    assert (said.launcher, said.problem) == (None, None)
    assert why in " ".join(value for _, value, _ in said.rows)


def test_the_command_prints_it(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in list(os.environ):
        if name.startswith(("SLURM_", "OMPI_", "PMI", "TORCHELASTIC_")) or name in ("RANK", "WORLD_SIZE"):
            monkeypatch.delenv(name)
    none = CliRunner().invoke(app, ["launchers"])
    assert none.exit_code == 0
    assert none.output == "launcher: none has started this process as one of several ranks\n"
    for name, value in SRUN.items():
        monkeypatch.setenv(name, value)
    text = CliRunner().invoke(app, ["launchers"])
    assert text.exit_code == 0
    assert "launcher: Slurm\n" in text.output
    assert json.loads(CliRunner().invoke(app, ["launchers", "--json"]).output)["launcher"] == "Slurm"
    monkeypatch.setenv("SLURM_STEP_NODELIST", "n[1")
    wrong = CliRunner().invoke(app, ["launchers"])
    assert wrong.exit_code == 2
    assert "brackets do not match" in wrong.output
