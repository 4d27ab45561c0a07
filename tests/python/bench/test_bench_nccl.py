"""`ringtree bench` with NCCL's arms, over the stand-in: nccl-tests' options that are about GPUs, and its rows.

For: what differs from arms on CPUs. Not for: the layout (test_ncclbench_*.py), or NCCL's arms themselves.
"""

from __future__ import annotations

import pytest
from nccl_standin import Play, standin

from ringtree.bench.bench_run import run
from ringtree.bench.figures import MeasuredRow
from ringtree.bench.options import Asked, make_options
from ringtree.errors import UsageError
from ringtree.gpu import driver
from ringtree.show.bench_text import opening_lines

__all__ = ["standin"]


def rows_of(**asked: object) -> list[MeasuredRow]:
    options = make_options(Asked(minbytes="4K", maxbytes="64K", stepfactor=16, iters=2, **asked))  # type: ignore[arg-type]
    rows: list[MeasuredRow] = []
    run(options, lambda pids: None, rows.append)
    return rows


@pytest.mark.parametrize(
    "asked",
    [
        {"arm": "nccl", "ngpus": 3},
        {"arm": "nccl:Tree", "nthreads": 2, "local_register": 1},
        {"arm": "nccl", "ngpus": 2, "local_register": 2, "per_iter_timing": 1, "unalign": 1},
        {"arm": "nccl", "collective": "alltoall", "blocking": 1},
        {"arm": "nccl+graph", "collective": "reduce_scatter", "datatype": "bfloat16", "op": "max"},
        {"arm": "nccl", "collective": "gather", "root": "1"},
    ],
)
def test_rows_are_right_out_of_place_and_in_place(standin: Play, asked: dict[str, object]) -> None:
    rows = rows_of(**asked)
    assert [row.row.size_bytes for row in rows] == [4096, 65536]
    for row in rows:
        assert [side.num_wrong for side in row.sides] == [0, None if asked.get("collective") == "alltoall" else 0]
        assert all(side.seconds > 0 for side in row.sides)


def test_wrong_elements_are_counted(standin: Play) -> None:
    standin(fail="wrong")
    assert [side.num_wrong for row in rows_of(arm="nccl", ngpus=2) for side in row.sides] == [2] * 4


def test_options_of_gpus_are_taken(standin: Play) -> None:
    options = make_options(Asked(arm="nccl+tuner=libx.so", ngpus=2, local_register=2, datatype="all", maxbytes="1G"))
    assert options.arm == "nccl+symmetric+tuner=libx.so"
    assert "bfloat16" in options.dtypes
    lines = opening_lines(options, [7, 8], copied=False)
    assert "# Arm: nccl+symmetric+tuner=libx.so, called from Python on GPU memory" in lines
    assert any(line.endswith("device  1 [gpu] Stand-in GPU") for line in lines)


def test_ranks_that_share_a_gpu_are_shown_with_its_number(standin: Play, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(driver, "device_count", lambda: 1)
    options = make_options(Asked(arm="nccl", ngpus=1))
    lines = opening_lines(options, [7, 8], copied=False)
    assert [line.split(" device ")[1] for line in lines if " Pid " in line] == [" 0 [gpu] Stand-in GPU"] * 2


@pytest.mark.parametrize(
    ("asked", "said"),
    [
        ({"arm": "nccl", "ngpus": 5}, "5 ranks need as many GPUs and 4 can be seen"),
        ({"arm": "nccl:Tree", "collective": "all_gather"}, "all_gather has no Tree kernel"),
        ({"arm": "ring", "local_register": 1}, "-R 1 is invalid"),
        ({"arm": "nccl", "maxbytes": "3G"}, "does not fit"),
    ],
)
def test_what_nccl_would_not_run_is_refused_before_it_starts(
    standin: Play, asked: dict[str, object], said: str
) -> None:
    with pytest.raises(UsageError, match=said):
        make_options(Asked(**asked))  # type: ignore[arg-type]
