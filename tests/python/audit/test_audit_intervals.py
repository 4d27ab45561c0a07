"""Intervals of printed numbers: what they can have been, and what follows from several.

For: ringtree.audit.intervals and factors. Not for: checks.
"""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ringtree.audit.factors import MAX_RANKS, explain_factor, formulas, ranks_of_factor
from ringtree.audit.intervals import Interval, most_common, total, whole_numbers
from ringtree.logs import Printed
from ringtree.stats.bandwidth import bus_factor


def test_a_printed_number_was_half_a_unit_more_or_less() -> None:
    found = Interval.of(Printed("13.99", 1e9))
    assert found is not None
    assert found.low == pytest.approx(13.985e9)
    assert found.high == pytest.approx(13.995e9)


@pytest.mark.parametrize(("text", "low", "high"), [("1e+06", 5e5, 1.5e6), ("0.00", 0.0, 0.005), ("12", 11.5, 12.5)])
def test_each_way_of_printing_has_its_digits(text: str, low: float, high: float) -> None:
    found = Interval.of(Printed(text))
    assert found is not None
    assert (found.low, found.high) == (pytest.approx(low), pytest.approx(high))


@pytest.mark.parametrize("printed", [None, Printed("nan"), Printed("inf"), Printed("-3.5")])
def test_what_is_no_measurement_has_no_interval(printed: Printed | None) -> None:
    assert Interval.of(printed) is None


@given(st.floats(1e-6, 1e9), st.floats(1e-6, 1e9), st.integers(0, 6), st.integers(0, 6))
def test_a_quotient_of_printed_numbers_holds_the_true_one(one: float, other: float, first: int, second: int) -> None:
    above, below = (Interval.of(Printed(f"{one:.{first}f}")), Interval.of(Printed(f"{other:.{second}f}")))
    assert above is not None
    assert below is not None
    assert one / other in above.over(below)


def test_division_by_what_can_be_nothing_has_no_bound() -> None:
    assert Interval(1.0, 2.0).over(Interval(0.0, 1.0)) == Interval(1.0, math.inf)


@given(st.lists(st.tuples(st.floats(0, 100), st.floats(0, 10)), min_size=1, max_size=30))
def test_the_most_common_place_is_where_most_overlap(pairs: list[tuple[float, float]]) -> None:
    intervals = [Interval(low, low + width) for low, width in pairs]
    place, members = most_common(intervals)
    depth = max(sum(one.low in other for other in intervals) for one in intervals)
    assert len(members) == depth
    assert place.low <= place.high
    assert all(intervals[index].meets(place) for index in members)


def test_nothing_in_common_of_nothing() -> None:
    with pytest.raises(ValueError, match="no intervals"):
        most_common([])


def test_sums_and_whole_numbers() -> None:
    assert total([Interval(1, 2), Interval(3, 5)]) == Interval(4, 7)
    assert list(whole_numbers(Interval(1.5, 4.2), 100)) == [2, 3, 4]
    assert list(whole_numbers(Interval(98.5, math.inf), 100)) == [99, 100]


@given(st.sampled_from(["all_reduce", "all_gather", "reduce_scatter", "all_to_all"]), st.integers(2, 20_000))
def test_the_ranks_of_a_factor_hold_the_true_number(collective: str, num_ranks: int) -> None:
    factor = bus_factor(collective, num_ranks)
    assert num_ranks in ranks_of_factor(collective, Interval.exactly(factor))
    printed = Interval.of(Printed(f"{factor:.4f}"))
    assert printed is not None
    assert num_ranks in ranks_of_factor(collective, printed)


@pytest.mark.parametrize(
    ("collective", "low", "high", "ranks"),
    [
        ("all_reduce", 1.98436, 1.98438, range(128, 129)),
        ("all_reduce", 0.997, 0.9975, range(0)),  # all-reduce begins at 1
        ("all_reduce", 2.001, 2.002, range(0)),
        ("all_gather", 0.49, 0.51, range(2, 3)),
        ("all_gather", 0.2, 0.3, range(0)),
        ("broadcast", 0.99, 1.01, range(2, MAX_RANKS + 1)),
        ("broadcast", 1.1, 1.2, range(0)),
    ],
)
def test_factors_and_their_ranks(collective: str, low: float, high: float, ranks: range) -> None:
    found = ranks_of_factor(collective, Interval(low, high))
    assert (list(found[:3]), len(found)) == (list(ranks[:3]), len(ranks))


@pytest.mark.parametrize(
    ("factor", "name"),
    [
        (2.0, "2·size/time"),
        (1.75, "busbw of all_reduce"),
        (7.0, "(n-1)·size/time, n = 8"),
        (8.0 * 1.0, "n·size/time, n = 8"),
        (1e9 / 2**30, "size/time, in GiB/s where GB/s is written"),
        (1e3, "size/time, a thousand times that"),
        (0.25, "elements/time, of 4 bytes each"),
    ],
)
def test_formulas_have_names(factor: float, name: str) -> None:
    told = explain_factor(Interval.exactly(factor), formulas(8, "all_reduce", 4))
    assert told is not None
    assert name in told.words


def test_an_unknown_factor_has_none() -> None:
    assert explain_factor(Interval(1.37, 1.38), formulas(8, "all_reduce", 4)) is None
