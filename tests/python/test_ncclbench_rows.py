"""Sizes, elements, order and places in memory of a bench.

For: ringtree.ncclbench.rows and buffers. Not for: what is written there (test_ncclbench_data.py).
"""

from __future__ import annotations

from itertools import islice

import pytest
from ncclbench_support import address, options_of

from ringtree.ncclbench.buffers import Buffers
from ringtree.ncclbench.rows import Elements, elements_of, rows, sizes, warm_up_sizes


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


@pytest.mark.parametrize(
    ("collective", "size", "item", "num_ranks", "expected"),
    [
        ("all_reduce", 1024, 4, 3, Elements(256, 256, 256)),
        ("broadcast", 10, 4, 3, Elements(2, 2, 2)),
        # Blocks are multiples of 16 bytes, so small sizes are empty.
        ("all_gather", 1024, 4, 4, Elements(64, 256, 64)),
        ("all_gather", 8, 4, 2, Elements(0, 0, 0)),
        ("all_gather", 1000, 4, 3, Elements(80, 240, 80)),
        ("reduce_scatter", 1024, 8, 3, Elements(126, 42, 42)),
        ("reduce_scatter", 64, 1, 3, Elements(48, 16, 16)),
        ("gather", 1000, 4, 3, Elements(80, 240, 80)),
        ("scatter", 1000, 4, 3, Elements(240, 80, 80)),
        ("alltoall", 1000, 4, 3, Elements(240, 240, 80)),
        ("alltoall", 16, 4, 2, Elements(0, 0, 0)),
        ("sendrecv", 1000, 4, 3, Elements(250, 250, 250)),
    ],
)
def test_a_size_means_elements(collective: str, size: int, item: int, num_ranks: int, expected: Elements) -> None:
    assert elements_of(collective, size, item, num_ranks) == expected


def test_rows_show_the_larger_buffer_and_go_by_type_op_and_root() -> None:
    options = options_of(collective="reduce", datatype="all", op="all", root="all", minbytes="1K", maxbytes="1K")
    table = [(row.combination.dtype, row.combination.op, row.combination.root) for row in rows(options)]
    assert table[:3] == [("int8", "sum", 0), ("int8", "sum", 1), ("int8", "prod", 0)]
    assert len(table) == 9 * 6 * 2
    (row,) = rows(options_of(collective="all_gather", minbytes="1000", maxbytes="1000", ngpus=3))
    assert (row.size_bytes, row.elements.count) == (960, 80)


def test_cycles_repeat_all_sizes_for_ever_if_asked() -> None:
    options = options_of(minbytes="8", maxbytes="16", stepfactor=2, run_cycles=2)
    assert [row.size_bytes for row in rows(options)] == [8, 16, 8, 16]
    endless = rows(options.model_copy(update={"num_cycles": 0}))
    assert [row.size_bytes for row in islice(endless, 5)] == [8, 16, 8, 16, 8]


def test_iterations_go_through_the_buffers_and_start_again() -> None:
    options = options_of(minbytes="64", maxbytes="200", unalign=1)
    buffers = Buffers(options, "float", rank=1)
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
    options = options_of(collective=collective, minbytes="96", maxbytes="96", ngpus=3)
    elements = elements_of(collective, 96, 4, 3)
    places = Buffers(options, "float", rank=2).place(elements, 0, in_place=True)
    assert [len(part) for part in places] == [elements.source, elements.result]
    assert address(places[block]) - address(places[1 - block]) == 2 * elements.count * 4
    apart = Buffers(options, "float", rank=2).place(elements, 0, in_place=False)
    assert [len(part) for part in apart] == [elements.source, elements.result]


@pytest.mark.parametrize("collective", ["alltoall", "sendrecv"])
def test_what_cannot_be_in_place_has_two_buffers_in_either_half(collective: str) -> None:
    options = options_of(collective=collective, minbytes="96", maxbytes="96", ngpus=3)
    elements = elements_of(collective, 96, 4, 3)
    buffers = Buffers(options, "float", rank=2)
    halves = [[address(part) for part in buffers.place(elements, 0, in_place)] for in_place in (False, True)]
    assert halves[0] == halves[1]
    assert halves[0][0] != halves[0][1]
