"""Figures from answers: averages over ranks, bandwidths, wrong elements, summaries of iterations.

For: ringtree.bench.figures. Not for: text or JSON.
"""

from __future__ import annotations

import math

import pytest
from ncclbench_support import all_rows, options_of, rows_of, side

from ringtree.bench.figures import average, describe, make_side, summarise

SMALL = {"minbytes": "1M", "maxbytes": "1M"}


@pytest.mark.parametrize(("how", "expected"), [(0, 3.0), (1, 2.5), (2, 1.0), (3, 4.0)])
def test_whose_time_counts(how: int, expected: float) -> None:
    assert average([3.0, 1.0, 2.0, 4.0], how) == expected


@pytest.mark.parametrize(
    ("collective", "factor"),
    [
        ("all_reduce", 1.5),
        ("all_gather", 0.75),
        ("reduce_scatter", 0.75),
        ("broadcast", 1),
        ("reduce", 1),
        ("alltoall", 0.75),
        ("gather", 0.75),
        ("scatter", 0.75),
        ("sendrecv", 1),
    ],
)
def test_bandwidths(collective: str, factor: float) -> None:
    options = options_of(collective=collective, ngpus=4, **SMALL)
    made = make_side(options, next(all_rows(options)), [side(1e-3) for rank in range(4)])
    assert made.algbw == pytest.approx((1 << 20) / 1e-3)
    assert made.busbw == pytest.approx(factor * made.algbw)


def test_a_row_of_no_bytes_has_no_bandwidth() -> None:
    options = options_of(collective="all_gather", minbytes="8", maxbytes="8")
    row = next(all_rows(options))
    assert row.size_bytes == 0
    assert make_side(options, row, [side(), side()]).busbw == 0


def test_wrong_elements_are_added_over_ranks() -> None:
    options = options_of(**SMALL)
    row = next(all_rows(options))
    assert make_side(options, row, [side(num_wrong=2), side(num_wrong=3)]).num_wrong == 5
    assert make_side(options, row, [side(num_wrong=None), side(num_wrong=None)]).num_wrong is None


def test_iterations_are_the_slowest_ranks_of_each_process_and_then_the_slowest_processes() -> None:
    options = options_of(ngpus=2, nthreads=2, per_iter_timing=1, per_iter_skip=1, iters=4, **SMALL)
    times = [[9.0, 1, 2, 3], [1.0, 2, 1, 1], [2.0, 1, 1, 5], [3.0, 1, 1, 1]]
    made = make_side(options, next(all_rows(options)), [side(times=times[rank]) for rank in range(4)]).iterations
    assert made is not None
    assert made.by_process == [[9, 2, 2, 3], [3, 1, 1, 5]]
    assert made.times == [9, 2, 2, 5]
    assert (made.min, made.max, made.average, made.p50, made.p95, made.p99) == (2, 5, 3, 2, 5, 5)
    assert made.deviation == pytest.approx(math.sqrt(2))
    assert made.variation == pytest.approx(math.sqrt(2) / 3)


def test_percentiles_are_nearest_ranks() -> None:
    options = options_of(ngpus=1, per_iter_timing=1, iters=100, **SMALL)
    times = [float(i) for i in range(100, 0, -1)]
    made = make_side(options, next(all_rows(options)), [side(times=times)]).iterations
    assert made is not None
    assert (made.p50, made.p95, made.p99) == (51, 95, 99)


def test_what_was_executed_in_a_word() -> None:
    assert describe({"backend": "engine", "algorithm": "ring", "protocol": "ll", "sequence": 3}) == "ring/ll"
    assert describe({"backend": "send/recv", "algorithm": "ring"}) == "ring"
    assert describe({"backend": "gloo"}) == ""


def test_the_end_counts_halves_with_wrong_elements_and_averages_all() -> None:
    options = options_of(minbytes="1M", maxbytes="2M", stepfactor=2)
    table = rows_of(options, lambda rank, half: side(1e-3, num_wrong=7 if half == 2 and rank else 0))
    end = summarise(table, None)
    assert (end.num_failed, end.num_sides) == (1, 4)
    assert end.busbw == pytest.approx(1.5 * (1 << 20) / 1e-3)
    assert end.is_fast_enough
    assert summarise(table, 1.1 * end.busbw).is_fast_enough, "a tenth is granted"
    assert not summarise(table, 1.2 * end.busbw).is_fast_enough
    assert summarise([], None).busbw == 0
