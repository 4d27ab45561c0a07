"""PARAM's COMMS-RES lines."""

from __future__ import annotations

import pytest
from logs_tables_support import only, read_text, side, sizes, skipped, texts

from ringtree.logs.param_comms import NOT_READ

TABLE = """
\tCOMMS-RES                          total-size (B)  nElementsPerRank      Time(us):p50         p75         p95\
         Min         Max    AlgBW(GB/s) BusBW(GB/s) TotalTime(us):p50
\tCOMMS-RES-all_reduce-float32          1024               256              45.1        46.0        47.5        44.0\
        48.0          0.023       0.040                 0.0
\tCOMMS-RES-all_reduce-float32          2048               512              45.2        46.1        47.6        44.1\
        48.1          0.045       0.079                 0.0
\tCOMMS-RES-all_gather-float32          2048               512              45.3        46.1        47.6        44.1\
        48.1          0.045       0.039                 0.0
"""


def test_collectives() -> None:
    reduce, gather = read_text(TABLE).tables
    assert (reduce.collective, gather.collective) == ("all_reduce", "all_gather")
    assert sizes(reduce) == [1024, 2048]
    assert texts(reduce, "time") == ["45.1", "45.2"]
    assert texts(reduce, "algbw") == ["0.023", "0.045"]
    assert texts(reduce, "busbw") == ["0.040", "0.079"]
    assert texts(reduce, "p95") == ["47.5", "47.6"]
    assert [(row.count, row.dtype) for row in reduce.rows] == [(256, "float32"), (512, "float32")]
    time = side(gather.rows[0]).time
    assert time is not None
    assert time.value == pytest.approx(45.3e-6)


def test_three_columns_behind_a_rank() -> None:
    table = only(
        read_text(
            """
            0: 	COMMS-RES            size (B)   AlgBW(GB/s)  BusBW(GB/s)
            0: 	COMMS-RES-all_reduce-float32        1073741824         40.250      75.469
            """
        )
    )
    assert sizes(table) == [1 << 30]
    assert (texts(table, "algbw"), texts(table, "busbw")) == (["40.250"], ["75.469"])


def test_pairs() -> None:
    table = only(
        read_text(
            "\tCOMMS-RES        size (B) pingLatency(us):p50       p75       p95  pingPongLatency(us):p50       p75\n"
            "\tCOMMS-RES-pt2pt-float32           1024        10.1      10.2      10.3                  20.1      20.2\n"
        )
    )
    assert table.collective == "send_recv"
    assert texts(table, "time") == ["10.1"]
    assert texts(table, "pingPongLatency p75") == ["20.2"]


def test_lines_that_do_not_fit_are_counted() -> None:
    imported = read_text("\tCOMMS-RES-all_reduce-float32   1024   45.1\n\tCOMMS-RES-QUANT-all_reduce-float32 1 2 3\n")
    assert skipped(imported) == {NOT_READ: 2}
