"""What a rank process imports before its first command: every rank of every launch pays for it, 64 on one host too.

For: which rooms and packages are left out. Not for: how long it takes.
"""

from __future__ import annotations

import subprocess
import sys

import pytest


def modules_after(code: str) -> list[str]:
    told = subprocess.check_output([sys.executable, "-c", f"{code}\nimport sys\nprint(*sys.modules)"], text=True)
    return told.split()


def of_rooms(modules: list[str], *rooms: str) -> list[str]:
    return [name for name in modules if name in rooms or name.startswith(tuple(f"{room}." for room in rooms))]


@pytest.mark.parametrize("arm", ["ring", "auto/shared+3%", "gloo", "send-recv:ring"])
def test_ranks_need_nothing_of_gpus_and_other_kinds_of_arms(arm: str) -> None:
    modules = modules_after(f"import ringtree.measure.rank_process as rank; rank.make_arm({arm!r})")
    assert "ringtree.arms.engine" in modules
    assert ("ringtree.arms.gloo" in modules) == ("gloo" in arm or "send-recv" in arm)
    rooms = (
        "ringtree.gpu",
        "ringtree.nccl",
        "ringtree.hardware",
        "ringtree.logs",
        "ringtree.compiling",
    )
    other_arms = ("mpi", "native_engine", "nccl", "nccl_tests", "on_gpu", "textbook", "torch_gpu_memory", "torch_nccl")
    kinds = (f"ringtree.arms.{name}" for name in other_arms)
    assert of_rooms(modules, *rooms, *kinds, "torch", "rich", "typer", "duckdb") == []


def test_a_program_that_makes_calls_needs_no_records() -> None:
    assert (
        of_rooms(modules_after("import ringtree"), "pydantic", "ringtree.results", "ringtree.schedules.format_records")
        == []
    )
