"""What people run on a backend, on this one: each training's losses are Gloo's, but for the order of additions."""

from __future__ import annotations

import importlib.util

import pytest

pytest.importorskip("torch")

import torch
import torch_training
from torch_ranks import Crews

pytestmark = pytest.mark.torch


@pytest.mark.parametrize("case", torch_training.CASES)
def test_losses(crews: Crews, case: str) -> None:
    if case == "accelerate" and importlib.util.find_spec("accelerate") is None:
        pytest.skip("accelerate is not installed")
    if case in ("fsdp2", "hsdp") and torch.__version__.startswith("2.6."):
        pytest.skip("FSDP2 of PyTorch 2.6 does not run on CPUs, nor with Gloo")
    size = torch_training.CASES[case]
    ours = crews.get(size).run(case, module="torch_training")
    gloo = crews.get(size, "gloo").run(case, module="torch_training")
    for rank in range(size):
        assert ours[rank] == pytest.approx(gloo[rank], rel=1e-4, abs=1e-6), (rank, ours[rank], gloo[rank])
    assert any(ours), "no losses were compared"
