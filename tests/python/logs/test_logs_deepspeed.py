"""DeepSpeed's communication benchmark and log."""

from __future__ import annotations

import pytest
from logs_tables_support import inferred, only, read_text, side, sizes, skipped, texts

from ringtree.logs.deepspeed import NO_ROW
from ringtree.results import SizeMeans

RULE = "-" * 100


def test_the_benchmark() -> None:
    table = only(
        read_text(
            f"""
            ---- Performance of all_reduce on 16 devices {"-" * 57}
            Size (Bytes)         Description               Duration             Throughput (Gbps)    BusBW (Gbps)
            {RULE}
            128.0 B              32x4                      43.270 us            0.047                0.044
            1.0 GB               268435456x4               12.5 ms              1374.390             1288.490
            """
        )
    )
    assert (table.collective, table.num_ranks) == ("all_reduce", 16)
    assert sizes(table) == [128, 1 << 30]
    assert [row.count for row in table.rows] == [32, 1 << 28]
    assert texts(table, "time") == ["43.270", "12.5"]
    assert [one.value for row in table.rows if (one := side(row).time)] == [
        pytest.approx(43.27e-6),
        pytest.approx(0.0125),
    ]
    assert texts(table, "tput") == ["0.047", "1374.390"]
    busbw = side(table.rows[1]).busbw
    assert busbw is not None
    assert busbw.value == pytest.approx(1288.49e9 / 8)
    assert side(table.rows[0]).algbw is None
    assert inferred(table)["tput"] == "2 x size / time"


def test_raw_numbers_in_gigabytes_behind_a_host() -> None:
    table = only(
        read_text(
            f"""
            > node0: ---- Performance of all_gather on 4 devices {"-" * 57}
            > node0: Size (Bytes)        Description             Duration (us)        Throughput (GBps)   BusBW (GBps)
            > node0: {RULE}
            > node0: 4194304              1048576x4                 200.000              83.886               62.915
            """
        )
    )
    assert (table.collective, sizes(table), texts(table, "time")) == ("all_gather", [4194304], ["200.000"])
    assert side(table.rows[0]).busbw == ("62.915", 1e9)
    assert table.size_means is SizeMeans.ONE_BLOCK


def test_a_description_that_is_not_the_size_is_not_believed() -> None:
    text = f"---- Performance of all_reduce on 4 devices {'-' * 57}\n2.0 KB  32x4  43.270 us  0.047  0.044\n"
    assert sizes(only(read_text(text))) == [2048]


def test_the_summary() -> None:
    broadcast, scatter = read_text(
        "Comm. Op            Message Size        Count               Total Latency(ms)   Avg Latency(ms)     "
        "tput_avg (Gbps)     busbw_avg (Gbps)\n"
        "broadcast | [Caller Func: _broadcast_model]\n"
        "                    0B        2      0.19         0.10         0.00         0.00\n"
        "                    12.5 MB   1      4000.25      4000.25      0.03         0.02\n"
        "reduce_scatter_tensor\n"
        "                    64.0 MB             40                  80.50               2.00                2147.48"
        "             2013.27\n"
        "done\n"
    ).tables
    assert (broadcast.collective, scatter.collective) == ("broadcast", "reduce_scatter")
    assert sizes(broadcast) == [0, 13107200]
    assert texts(broadcast, "time") == ["0.10", "4000.25"]
    assert texts(broadcast, "Count") == ["2", "1"]
    assert texts(scatter, "tput") == ["2147.48"]
    assert texts(scatter, "busbw") == ["2013.27"]
    assert inferred(scatter)["tput"] == "ranks x size / time"


def test_single_calls() -> None:
    line = (
        "[2022-06-26 01:39:55,722] [INFO] [logging.py:69:log_dist] [Rank 0] rank=0 "
        "| comm op: all_reduce | time (ms): {} "
        "| msg size: 6.0 MB | algbw (Gbps): 1200.50  | busbw (Gbps): 1125.25\n"
    )
    table = only(read_text(line.format("0.08") + "loss 1.5\n" + line.format("0.09")))
    assert texts(table, "time") == ["0.08", "0.09"]
    assert texts(table, "algbw") == ["1200.50", "1200.50"]
    assert inferred(table)["algbw"] == "2 x size / time"
    assert sizes(table) == [6 << 20] * 2


def test_an_end_before_the_first_row() -> None:
    imported = read_text(f"---- Performance of all_reduce on 4 devices {'-' * 57}\nWARNING: Ran out of GPU memory.\n")
    assert skipped(imported)[NO_ROW] == 1
