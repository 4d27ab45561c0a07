"""The same as test_nccl_arms.py on real GPUs, where there are any: `pytest -m gpu`.

For: two GPUs, or one with NCCL 2.30.3 or newer, which lets two ranks share it. Two ranks on one GPU show what is
executed, and that it is right; they say nothing about times. Not for: anything without a GPU.
"""

from __future__ import annotations

import os

import pytest
from test_nccl_arms import BY_LOG, run

from ringtree.gpu import device_count, lacks_nccl, nccl_version
from ringtree.gpu.patterns import on_device
from ringtree.measure.collective_data import SHAPES
from ringtree.nccl.releases import release, version

LACKS = lacks_nccl()
SHARES = LACKS is None and device_count() < 2
pytestmark = [
    pytest.mark.gpu,
    pytest.mark.skipif(LACKS is not None, reason=str(LACKS)),
    pytest.mark.skipif(
        SHARES and (version(nccl_version()) or (0, 0, 0)) < (2, 30, 3), reason="one GPU, which this NCCL can't share"
    ),
]


@pytest.fixture(autouse=True)
def _sharing(monkeypatch: pytest.MonkeyPatch) -> None:
    if SHARES:
        for name, value in (("MULTI_RANK_GPU_ENABLE", "1"), ("NVLS_ENABLE", "0"), ("MAX_CTAS", "4")):
            monkeypatch.setenv(f"NCCL_{name}", os.environ.get(f"NCCL_{name}", value))


@pytest.mark.parametrize("collective", SHAPES)
def test_every_collective_is_exact(collective: str) -> None:
    cell = run("nccl", collective, sizes="999K", stall_limit=300.0)["nccl"]
    assert cell.error is None
    assert cell.verified
    assert all(0 < gpu < 1.5 * host for gpu, host in zip(cell.device_times[0], cell.times[0], strict=True))


@pytest.mark.parametrize("algorithm", ["Ring", "Tree"])
@pytest.mark.parametrize("protocol", ["LL", "LL128", "Simple"])
def test_what_was_asked_for_ran(algorithm: str, protocol: str) -> None:
    arm = f"nccl:{algorithm}/{protocol}"
    cell = run(arm, sizes="1M", stall_limit=300.0)[arm]
    told = cell.executed or {}
    if (release(nccl_version()) or (0, 0)) < (2, 20):
        assert told["proof"] is None
    elif cell.error is None:
        assert (told["algorithm"], told["protocol"], told["proof"]) == (algorithm, protocol, BY_LOG)
    else:  # LL128 isn't everywhere; then the cell must say what ran instead
        assert told["protocol"] != protocol


@pytest.mark.parametrize("arm", ["nccl+graph", "nccl+registered"])
def test_variants_are_exact(arm: str) -> None:
    assert run(arm, sizes="1M", stall_limit=300.0)[arm].verified


def test_the_kernels_find_a_single_wrong_element() -> None:
    import numpy as np

    from ringtree.gpu.memory import zeros

    patterns = on_device(0)
    pattern = np.arange(1, 65522, dtype=np.float32)
    array = zeros(patterns.device, patterns, 200_000, pattern.dtype)
    array.write_pattern(pattern, 7)
    assert array.compare_pattern(pattern, 7) == (0, 0)
    array[123_456:123_457].write_pattern(pattern, 9)
    assert array.compare_pattern(pattern, 7) == (123_456, 1)
    assert array.element(123_456) == 10.0
