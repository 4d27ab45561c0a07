"""Other people's names."""

from __future__ import annotations

import pytest

from ringtree.logs.words import algorithm_in, collective_in, element_bytes, library_in, protocol_in


@pytest.mark.parametrize(
    ("text", "collective"),
    [
        ("AllReduce", "all_reduce"),
        ("all-reduce", "all_reduce"),
        ("osu_iallreduce", "all_reduce"),
        ("all_reduce_perf", "all_reduce"),
        ("Reduce_scatter", "reduce_scatter"),
        ("reduce_scatter_tensor", "reduce_scatter"),
        ("all_gather_into_tensor", "all_gather"),
        ("Allgatherv", "all_gather"),
        ("All-to-All Personalized Exchange", "all_to_all"),
        ("all_to_all_single", "all_to_all"),
        ("Bcast", "broadcast"),
        ("sendrecv_perf", "send_recv"),
        ("MPI Reduce Latency", "reduce"),
        ("8-GPU AllReduce测试", "all_reduce"),
    ],
)
def test_collectives(text: str, collective: str) -> None:
    assert collective_in(text) == collective


@pytest.mark.parametrize("text", ["", "reduces latency", "bandwidth", "AllReduce and AllGather"])
def test_no_collective_or_several(text: str) -> None:
    assert collective_in(text) is None


def test_algorithms_and_protocols() -> None:
    assert algorithm_in("Tree+Simple") == "tree"
    assert protocol_in("Tree+Simple") == "simple"
    assert algorithm_in("NVLSTree") == "nvlstree"
    assert protocol_in("LL128") == "ll128"
    assert algorithm_in("busbw, NVLS off") is None
    assert algorithm_in("Ring vs Tree") is None
    assert library_in("nccl_time") == "nccl"


def test_element_bytes() -> None:
    words = ("half", "int8", "float", "double", "tf32", "torch.bfloat16", " MPI_INT", None)
    assert [element_bytes(word) for word in words] == [2, 1, 4, 8, None, 2, 4, None]
