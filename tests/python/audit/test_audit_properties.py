"""True arithmetic is never accused, and a figure that was changed by more than its digits always is.

For: the rules that compare printed figures, over sizes, times, ranks and ways of printing. Not for: noise, limits.
"""

from __future__ import annotations

import math
from collections.abc import Callable

from audit_support import COLUMNS, GIGABYTE, average, codes, column, make_table, side, usual_time, with_sides
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from ringtree.logs import IN_PLACE, OUT_OF_PLACE, Printed, Row, Side, Table
from ringtree.logs.nccltests.conclude import FORMAT as NCCL_TESTS

ARITHMETIC = {
    "algbw-holds-other",
    "busbw-holds-other",
    "throughput-holds-other",
    "rank-count-differs",
    "factor-varies",
    "factor-impossible",
    "figures-do-not-fit",
    "counts-disagree",
    "average-differs",
    "average-of-more-rows",
}
COLLECTIVES = ["all_reduce", "all_gather", "reduce_scatter", "all_to_all", "broadcast", "reduce", "send_recv"]


def fixed(decimals: int) -> Callable[[float, int], str]:
    return lambda value, _width: f"{value:.{decimals}f}"


def scientific(decimals: int) -> Callable[[float, int], str]:
    return lambda value, _width: f"{value:.{decimals}e}"


def whole(value: float, _width: int) -> str:
    return repr(value)


printing = st.one_of(st.just(column), st.integers(0, 6).map(fixed), st.integers(0, 6).map(scientific), st.just(whole))
rows = st.lists(st.tuples(st.integers(0, 34), st.floats(1e-7, 10.0), st.floats(1e-7, 10.0)), min_size=1, max_size=25)


def printed_table(
    collective: str, num_ranks: int, measured: list[tuple[int, float, float]], text: Callable[[float, int], str]
) -> Table:
    """Returns a table with the times that were drawn, printed in one way."""
    found = []
    for line, (power, outer, inner) in enumerate(measured, 9):
        size_bytes = num_ranks * 4 * (1 << power)
        sides = (
            side(collective, num_ranks, size_bytes, outer, text=text),
            side(collective, num_ranks, size_bytes, inner, IN_PLACE, text=text),
        )
        count = size_bytes // 4 // (num_ranks if collective in ("all_gather", "reduce_scatter", "all_to_all") else 1)
        op = "sum" if "reduce" in collective else "none"
        found.append(
            Row(line, size_bytes, sides, count, "float", op, 0 if collective in ("broadcast", "reduce") else -1)
        )
    table = Table(NCCL_TESTS, 5, collective=collective, num_ranks=num_ranks, rows=found, columns=dict(COLUMNS))
    table.average_busbw = average(table)
    table.settings = {"minBytes": str(found[0].size_bytes), "maxBytes": str(max(row.size_bytes or 0 for row in found))}
    table.complete = True
    return table


@settings(max_examples=300, deadline=None)
@given(st.sampled_from(COLLECTIVES), st.integers(2, 5000), rows, printing)
def test_true_arithmetic_is_never_accused(
    collective: str, num_ranks: int, measured: list[tuple[int, float, float]], text: Callable[[float, int], str]
) -> None:
    assert not codes(printed_table(collective, num_ranks, measured, text)) & ARITHMETIC


@settings(max_examples=200, deadline=None)
@given(st.sampled_from(COLLECTIVES), st.integers(2, 5000), rows, printing)
def test_nor_is_it_where_collective_and_ranks_are_not_stated(
    collective: str, num_ranks: int, measured: list[tuple[int, float, float]], text: Callable[[float, int], str]
) -> None:
    table = printed_table(collective, num_ranks, measured, text)
    table.collective, table.num_ranks, table.average_busbw = None, None, None
    assert not codes(table) & ARITHMETIC


@settings(max_examples=200, deadline=None)
@given(st.integers(2, 64), st.integers(0, 20), st.floats(0.5, 2.0), st.sampled_from(["time", "algbw", "busbw"]))
def test_a_changed_figure_is_always_found(num_ranks: int, index: int, factor: float, field: str) -> None:
    assume(abs(factor - 1) > 0.02)
    table = make_table(num_ranks=num_ranks)
    changed = table.rows[index]
    # Two decimals say nothing of rates of some MB/s.
    assume(all(one.algbw is not None and float(one.algbw.text) > 5 for one in changed.sides))

    def change(_row: Row, one: Side) -> Side:
        old = getattr(one, field)
        if one.place != OUT_OF_PLACE:
            return one
        return one._replace(**{field: Printed(column(float(old.text) * factor, 8), old.unit)})

    with_sides(table, change, lambda row: row is changed)
    assert codes(table) & {"figures-do-not-fit", "factor-varies"}


@settings(max_examples=100, deadline=None)
@given(st.integers(2, 3000), st.integers(2, 3000))
def test_another_number_of_ranks_is_found_as_soon_as_the_digits_tell(stated: int, true: int) -> None:
    table = make_table(num_ranks=true)
    table.num_ranks = stated
    difference = abs(2 * (stated - 1) / stated - 2 * (true - 1) / true)
    found = codes(table) & {"rank-count-differs", "busbw-holds-other", "factor-impossible"}
    if difference > 1e-3:
        assert found
    if stated == true:
        assert not found


@settings(max_examples=60, deadline=None)
@given(st.sampled_from([0.5, 2.0, 8.0, 1 / 8, 7.0, 1e9 / 2**30, 1e3, 1e-3]))
def test_a_column_of_another_formula_is_named(factor: float) -> None:
    table = make_table(time=lambda size: usual_time(size) / 50)

    def change(row: Row, one: Side) -> Side:
        size_bytes = row.size_bytes or 0
        rate = size_bytes / (usual_time(size_bytes) / 50 * (1 if one.place == OUT_OF_PLACE else 0.99))
        return one._replace(algbw=Printed(f"{rate / GIGABYTE * factor:.6g}", GIGABYTE))

    found = codes(with_sides(table, change))
    assert "algbw-holds-other" in found
    assert "figures-do-not-fit" not in found


def test_times_of_the_cpu_beside_rates_are_left_alone() -> None:
    """nccl-tests -C prints the time of the CPU, and rates that belong to another time."""
    table = with_sides(make_table(), lambda _row, one: one._replace(time=Printed("4.32", 1e-6)))
    table.columns["time"] = "cputime"
    assert not codes(table) & ARITHMETIC


def test_infinite_and_missing_figures_are_no_reason_to_stumble() -> None:
    nothing = Side(OUT_OF_PLACE, Printed("0.00", 1e-6), Printed("inf", 1e9), Printed("nan", 1e9), None)
    table = Table(NCCL_TESTS, 1, rows=[Row(1, 0, (nothing,)), Row(2, None, (nothing, Side(IN_PLACE))), Row(3, 8, ())])
    assert not codes(table) & ARITHMETIC
    assert math.isnan(float(nothing.busbw.text if nothing.busbw is not None else "0"))
