"""Sizes, order and places in memory of a bench.

For: ringtree.bench.rows and ringtree.measure.side_buffers. Not for: what is written there (test_collective_data.py).
"""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from itertools import islice

import pytest
from ncclbench_support import address, all_rows, options_of

from ringtree.bench.rows import sizes, warm_up_sizes
from ringtree.measure.collective_data import CollectiveData, Elements
from ringtree.measure.side_buffers import SideBuffers, host_buffers
from ringtree.nccl.nccl_tests import COLLECTIVES


def test_sizes_are_multiplied() -> None:
    options = options_of(minbytes="8", maxbytes="128M", stepfactor=2)
    assert list(sizes(options)) == [8 << i for i in range(25)]
    assert list(warm_up_sizes(options)) == list(sizes(options))
    assert list(sizes(options_of(minbytes="8", maxbytes="100", stepfactor=3))) == [8, 24, 72]


def test_sizes_are_added_and_warm_up_doubles() -> None:
    options = options_of(minbytes="1K", maxbytes="4K", stepbytes="1K")
    assert list(sizes(options)) == [1024, 2048, 3072, 4096]
    assert list(warm_up_sizes(options)) == [1024, 2048, 4096]
    assert list(sizes(options_of(minbytes="1K", maxbytes="4000", stepbytes="1K", stepfactor=1))) == [1024, 2048, 3072]
    assert list(sizes(options_of())) == [32 << 20]


def test_rows_show_the_larger_buffer_and_go_by_type_op_and_root() -> None:
    options = options_of(collective="reduce", datatype="all", op="all", root="all", minbytes="1K", maxbytes="1K")
    table = [(row.combination.dtype, row.combination.op, row.combination.root) for row in all_rows(options)]
    assert table[:3] == [("int8", "sum", 0), ("int8", "sum", 1), ("int8", "prod", 0)]
    assert len(table) == 9 * 6 * 2
    (row,) = all_rows(options_of(collective="all_gather", minbytes="1000", maxbytes="1000", ngpus=3))
    assert (row.size_bytes, row.elements.count) == (960, 80), "blocks are multiples of 16 bytes"
    (row,) = all_rows(options_of(collective="alltoall", minbytes="16", maxbytes="16", ngpus=2))
    assert (row.size_bytes, row.elements.count) == (0, 0), "so small sizes are empty"


def test_cycles_repeat_all_sizes_for_ever_if_asked() -> None:
    options = options_of(minbytes="8", maxbytes="16", stepfactor=2, run_cycles=2)
    assert [row.size_bytes for row in all_rows(options)] == [8, 16, 8, 16]
    endless = all_rows(replace(options, asked=replace(options.asked, run_cycles=0)))
    assert [row.size_bytes for row in islice(endless, 5)] == [8, 16, 8, 16, 8]


def buffers_of(collective: str, num_bytes: int, num_ranks: int, rank: int, first: int = 0) -> SideBuffers:
    data = data_of(collective, num_ranks, rank)
    return SideBuffers(data, num_bytes, first, partial(host_buffers, data, False))


def data_of(collective: str, num_ranks: int, rank: int) -> CollectiveData:
    return CollectiveData(COLLECTIVES[collective], "float32", num_ranks, rank, seed=5)


def test_iterations_go_through_the_buffers_and_start_again() -> None:
    buffers = buffers_of("all_reduce", 200, num_ranks=2, rank=1, first=1)
    elements = Elements(16, 16, 16)
    assert buffers.num_places(elements) == 3
    sources = [buffers.place(elements, i, in_place=False)[0] for i in range(4)]
    assert [address(source) - address(sources[0]) for source in sources] == [0, 64, 128, 0]
    source, result = buffers.place(elements, 2, in_place=True)
    assert source is result
    assert len(result) == 16
    assert buffers.num_places(Elements(0, 0, 0)) == 1
    assert [len(part) for part in buffers.place(Elements(0, 0, 0), 5, in_place=False)] == [0, 0]


@pytest.mark.parametrize(
    ("collective", "block"), [("all_gather", 0), ("reduce_scatter", 1), ("gather", 0), ("scatter", 1)]
)
def test_in_place_a_block_lies_in_the_whole_at_its_rank(collective: str, block: int) -> None:
    elements = data_of(collective, 3, 2).elements(96)
    buffers = buffers_of(collective, 96, num_ranks=3, rank=2)
    places = buffers.place(elements, 0, in_place=True)
    assert [len(part) for part in places] == [elements.source, elements.result]
    assert address(places[block]) - address(places[1 - block]) == 2 * elements.count * 4
    apart = buffers.place(elements, 0, in_place=False)
    assert [len(part) for part in apart] == [elements.source, elements.result]


@pytest.mark.parametrize("collective", ["alltoall", "sendrecv"])
def test_what_cannot_be_in_place_has_two_buffers_in_either_half(collective: str) -> None:
    elements = data_of(collective, 3, 2).elements(96)
    buffers = buffers_of(collective, 96, num_ranks=3, rank=2)
    halves = [[address(part) for part in buffers.place(elements, 0, in_place)] for in_place in (False, True)]
    assert halves[0] == halves[1]
    assert halves[0][0] != halves[0][1]
