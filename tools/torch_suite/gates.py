"""The gates of PyTorch's suite: tests that run only if the backend is called `gloo`, or `mpi`.

For: running such a test on another backend. Decorators read the name when the module is imported, the tests' bodies
when they run: so the name is the gate's at the import and the backend's from then on, and where a body compares it with
the gate's it finds both.
"""

from __future__ import annotations

import importlib
import os
import unittest
from pathlib import Path
from types import ModuleType
from typing import Any

# In this order a test takes the first gate that lets it through. `own`: the backend's own name.
GATES = ("gloo", "mpi", "own")

# For what the suite runs only where it knows of the backend that it has it.
_FEATURES = ("ddp", "gpu", "subgroup", "plugin")


def _skip_early(common: ModuleType) -> None:
    """Tests for which GPUs are missing are skipped before ranks are started, not by each rank."""
    import torch

    original = common.skip_if_lt_x_gpu

    def skip_if_lt_x_gpu(count: int, *further: object, **options: object) -> Any:
        if torch.cuda.device_count() >= count or further or options:
            return original(count, *further, **options)
        return unittest.skip(f"Need at least {count} CUDA devices")

    common.skip_if_lt_x_gpu = skip_if_lt_x_gpu  # type: ignore[attr-defined]
    if torch.cuda.device_count() == 0:
        common.skip_if_no_gpu = unittest.skip("CUDA is not available.")  # type: ignore[attr-defined]


class _Both(str):
    """The backend's name, which also equals the gate's."""

    def __new__(cls, name: str, gate: str) -> _Both:
        made = super().__new__(cls, name)
        made._gate = gate
        return made

    _gate: str

    def __eq__(self, other: object) -> bool:
        return str.__eq__(self, other) is True or self._gate == other

    def __ne__(self, other: object) -> bool:
        return not self == other

    __hash__ = str.__hash__


def open_suite(gate: str, backend: str, world_size: int, folder: Path) -> ModuleType:
    """Imports the suite with the gate open and lets it run `backend`. Once in a process."""
    for name in ("barrier", "test_dir"):
        (folder / name).mkdir(parents=True, exist_ok=True)
    os.environ.update(
        BACKEND=backend if gate == "own" else gate,
        WORLD_SIZE=str(world_size),
        TEMP_DIR=str(folder),
        INIT_METHOD=f"file://{folder}/shared_init_file",
        CUDA_VISIBLE_DEVICES="",
        OMP_NUM_THREADS="1",
    )
    common = importlib.import_module("torch.testing._internal.common_distributed")
    for feature in _FEATURES:
        common.DistTestCases.backend_feature[feature].add(backend)
    _skip_early(common)
    suite = importlib.import_module("torch.testing._internal.distributed.distributed_test")
    suite.BACKEND = _Both(backend, gate)  # type: ignore[attr-defined]
    os.environ["BACKEND"] = "mpi"  # whoever is called otherwise gets no subgroups with fewer than 8 ranks
    for allowed in (suite.PROFILING_SUPPORTED_BACKENDS, suite.SEND_RECV_PROFILING_SUPPORTED_BACKENDS):
        if backend not in allowed:
            allowed.append(backend)
    return suite
